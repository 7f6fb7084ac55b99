//! Operations of streams and of graphs: they are done at once, or when their graph is launched.

pub mod copy;
pub mod fill;
pub mod launch;

use std::io::Write;

use crate::api::handles;
use crate::client::{Bytes, HostFunction};
use crate::graph::parts::Work;
use crate::objects::{Context, Event, Stream};
use crate::state::{self, State};
use crate::status::Answer;
use crate::table::Handle;

/// What remains of an operation when the driver's lock is released.
#[derive(Debug, Default)]
#[must_use]
pub struct After {
    printed: String,
    call: Option<(HostFunction, u64)>,
}

impl After {
    /// After a launch that printed a text.
    pub fn printed(printed: String) -> After {
        After { printed, call: None }
    }

    /// Prints what a kernel printed and calls the client's function, which may call the driver.
    pub fn finish(self) -> Answer {
        if !self.printed.is_empty() {
            // Ignore write errors: nobody is listening.
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(self.printed.as_bytes()).and_then(|()| out.flush());
        }
        self.call.map_or(Ok(()), |(function, data)| function.call(Bytes::at(data)))
    }
}

/// Does an operation in a stream: at once, or, where the stream is captured, when the graph is launched.
pub fn submit(
    stream: Handle<Stream>,
    make: impl FnOnce(&mut State, Handle<Context>) -> Answer<Work>,
) -> Answer {
    let after = state::with_current(|state, context| {
        let captured = state.captured(stream)?;
        let work = make(state, context)?;
        match captured {
            Some(capture) => state.capture(capture, stream, work).map(|_| After::default()),
            None => state.perform(&work),
        }
    })?;
    after.finish()
}

/// Does an operation whose function waits for its end, and so cannot be captured.
pub fn synchronous(make: impl FnOnce(&mut State, Handle<Context>) -> Answer<Work>) -> Answer {
    let after = state::with_current(|state, context| {
        state.must_not_capture(Handle::NULL)?;
        let work = make(state, context)?;
        state.perform(&work)
    })?;
    after.finish()
}

impl State {
    /// Does one operation. The nodes of a graph are operations of their own, which the caller takes one by one.
    pub fn perform(&mut self, work: &Work) -> Answer<After> {
        match work {
            Work::Kernel(launch) => return launch::run(self, launch).map(After::printed),
            Work::Copy(what) => copy::run(self, what)?,
            Work::Fill(fill) => fill::run(self, fill)?,
            Work::Host(function, data) => {
                return Ok(After { printed: String::new(), call: Some((*function, *data)) });
            }
            Work::Graph(_) | Work::Empty => {}
            Work::Wait(event) => handles::check_event(self, *event)?,
            Work::Record(event) => self.record(*event)?,
            Work::Allocate { address, .. } => self.begin_use(*address)?,
            Work::Free(address) => self.end_use(*address)?,
        }
        Ok(After::default())
    }

    /// Records an event now.
    pub fn record(&mut self, event: Handle<Event>) -> Answer {
        let now = self.card()?.backend().cycles();
        self.events.get_mut(event)?.recorded = Some(now);
        self.captured_events.remove(&event);
        Ok(())
    }
}
