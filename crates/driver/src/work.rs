//! What a stream does or a node of a graph holds: one operation, which runs at once or when its graph is launched.

use std::collections::BTreeMap;
use std::io::Write;

use strata_abi::driver::Cuboid;
use strata_workloads::Shape;

use crate::api::{copy, handles, launch, set};
use crate::client::{Bytes, HostFunction};
use crate::objects::{Event, Function, Stream};
use crate::state::{self, State};
use crate::status::Answer;
use crate::table::Handle;

/// One operation.
#[derive(Clone, Debug)]
pub enum Work {
    /// A launch of a kernel.
    Kernel(Launch),
    /// A copy.
    Copy(Cuboid),
    /// A fill of memory.
    Fill(Fill),
    /// A call of a client's function with data at an address.
    Host(HostFunction, u64),
    /// All nodes of a graph that belongs to the node.
    Graph(Handle<crate::graph::Graph>),
    /// Nothing.
    Empty,
    /// A wait for an event, which is complete: everything runs in order.
    Wait(Handle<Event>),
    /// A record of an event.
    Record(Handle<Event>),
    /// An allocation, whose address has been known since the node was made.
    Allocate {
        /// Address of the memory.
        address: u64,
        /// Size in bytes.
        bytes: u64,
    },
    /// The end of such an allocation.
    Free(u64),
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub function: Handle<Function>,
    /// Grid, block and dynamic shared memory.
    pub shape: Shape,
    /// The parameter block.
    pub block: Vec<u8>,
    /// Launch attributes, by number.
    pub attributes: Attributes,
}

/// Launch attributes, by number; each value has 64 bytes.
pub type Attributes = BTreeMap<u32, [u8; 64]>;

/// A fill of rows of memory.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Address of the first row.
    pub address: u64,
    /// Distance between rows in bytes.
    pub pitch: u64,
    /// Value of an element; the lower bytes count.
    pub value: u32,
    /// Size of an element: 1, 2 or 4 bytes.
    pub element: u32,
    /// Elements in a row.
    pub width: u64,
    /// Number of rows.
    pub rows: u64,
}

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
    make: impl FnOnce(&mut State, Handle<crate::objects::Context>) -> Answer<Work>,
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
pub fn synchronous(make: impl FnOnce(&mut State, Handle<crate::objects::Context>) -> Answer<Work>) -> Answer {
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
            Work::Fill(fill) => set::run(self, fill)?,
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
        let event = self.events.get_mut(event)?;
        (event.recorded, event.captured) = (Some(now), None);
        Ok(())
    }
}
