//! Captures: what streams would do becomes a graph instead.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::api::handles;
use crate::current;
use crate::graph::parts::{Capture, Dependencies, EdgeData, Graph, Mode, Name, Node, Work};
use crate::graph::user::Gone;
use crate::objects::{Event, Stream};
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

/// Sets which captures forbid this thread's unsafe calls; returns what was set before.
pub fn exchange_mode(mode: Mode) -> Mode {
    MODE.replace(mode)
}

/// The stream that a handle names in this call. `None` for the legacy default stream, which is never captured.
pub fn name(stream: Handle<Stream>) -> Option<Name> {
    let stream = handles::named(stream);
    if stream == handles::LEGACY {
        return None;
    }
    Some(Name(stream, if stream == handles::PER_THREAD { current::thread() } else { 0 }))
}

impl State {
    /// Whether a stream may be waited for by the legacy default stream.
    fn is_blocking(&self, name: Name) -> bool {
        /// `CU_STREAM_NON_BLOCKING`.
        const NON_BLOCKING: u32 = 1;
        name.0 == handles::PER_THREAD
            || self.streams.get(name.0).is_ok_and(|stream| stream.flags & NON_BLOCKING == 0)
    }

    /// The capture that a stream is part of, valid or not.
    pub fn capture_of(&self, stream: Handle<Stream>) -> Option<u64> {
        let own = name(stream)?;
        self.captures
            .iter()
            .find(|(_, capture)| capture.streams.contains_key(&own))
            .map(|(number, _)| *number)
    }

    /// The valid captures of streams that the legacy default stream waits for.
    pub fn waited_for(&self) -> Vec<u64> {
        let is_waited_for = |capture: &Capture| capture.streams.keys().any(|name| self.is_blocking(*name));
        let valid = self.captures.iter().filter(|(_, capture)| !capture.invalid);
        valid.filter(|(_, capture)| is_waited_for(capture)).map(|(number, _)| *number).collect()
    }

    /// The capture that takes a stream's next operation. An operation of the legacy default stream would wait for
    /// captured streams, which ends their captures.
    pub fn captured(&mut self, stream: Handle<Stream>) -> Answer<Option<u64>> {
        handles::check_stream(self, stream)?;
        if name(stream).is_none() {
            let waited_for = self.waited_for();
            for number in &waited_for {
                self.invalidate(*number);
            }
            return if waited_for.is_empty() { Ok(None) } else { Err(Status::StreamCaptureImplicit) };
        }
        let Some(number) = self.capture_of(stream) else { return Ok(None) };
        if self.captures.get(&number).is_some_and(|capture| capture.invalid) {
            return Err(Status::StreamCaptureInvalidated);
        }
        Ok(Some(number))
    }

    /// Refuses a call that cannot be captured, such as one that waits for a stream, and ends the capture.
    pub fn must_not_capture(&mut self, stream: Handle<Stream>) -> Answer {
        match self.captured(stream)? {
            None => Ok(()),
            Some(number) => {
                self.invalidate(number);
                Err(Status::StreamCaptureUnsupported)
            }
        }
    }

    /// Refuses a call that may wait for all streams, and ends all captures.
    pub fn must_not_capture_any(&mut self) -> Answer {
        self.end_captures(|_| true)
    }

    /// Refuses a call that is unsafe during captures, such as an allocation, where a capture's mode forbids it.
    pub fn safe(&mut self) -> Answer {
        let (thread, own) = (std::thread::current().id(), MODE.get());
        self.end_captures(|capture| match capture.mode {
            Mode::Relaxed => false,
            _ if capture.thread == thread => own != Mode::Relaxed,
            Mode::Global => own == Mode::Global,
            Mode::ThreadLocal => false,
        })
    }

    fn end_captures(&mut self, which: impl Fn(&Capture) -> bool) -> Answer {
        let ended: Vec<u64> = self
            .captures
            .iter()
            .filter(|(_, capture)| !capture.invalid && which(capture))
            .map(|(number, _)| *number)
            .collect();
        for number in &ended {
            self.invalidate(*number);
        }
        if ended.is_empty() { Ok(()) } else { Err(Status::StreamCaptureUnsupported) }
    }

    /// Ends a capture, which its stream has yet to find out.
    pub fn invalidate(&mut self, number: u64) {
        if let Some(capture) = self.captures.get_mut(&number) {
            capture.invalid = true;
        }
    }

    /// Begins a capture, into a new graph or behind nodes of a given one.
    pub fn begin_capture(
        &mut self,
        stream: Handle<Stream>,
        mode: Mode,
        into: Option<(Handle<Graph>, Dependencies)>,
    ) -> Answer {
        handles::check_stream(self, stream)?;
        let own = name(stream).ok_or(Status::StreamCaptureUnsupported)?;
        if self.capture_of(stream).is_some() {
            return Err(Status::IllegalState);
        }
        let given = into.is_some();
        let (graph, before) = match into {
            Some(into) => into,
            None => (self.create_graph(), Dependencies::new()),
        };
        let number = self.number();
        let capture = Capture {
            graph,
            given,
            mode,
            thread: std::thread::current().id(),
            origin: own,
            invalid: false,
            streams: BTreeMap::from([(own, before)]),
            made: BTreeSet::new(),
            shown: Default::default(),
        };
        self.captures.insert(number, capture);
        Ok(())
    }

    /// Adds an operation of a captured stream to its graph.
    pub fn capture(&mut self, number: u64, stream: Handle<Stream>, work: Work) -> Answer<Handle<Node>> {
        let own = name(stream).ok_or(Status::StreamCaptureUnsupported)?;
        let capture = self.captures.get(&number).ok_or(Status::Unknown)?;
        let (graph, before) = (capture.graph, capture.streams.get(&own).cloned().unwrap_or_default());
        let node = match self.add_node(graph, &before, work) {
            Ok(node) => node,
            Err(status) => {
                self.invalidate(number);
                return Err(status);
            }
        };
        let capture = self.captures.get_mut(&number).ok_or(Status::Unknown)?;
        capture.made.insert(node);
        capture.streams.insert(own, vec![(node, EdgeData::default())]);
        Ok(node)
    }

    /// Records an event in a captured stream: whoever waits for it waits for what the stream has done so far.
    pub fn capture_record(&mut self, number: u64, stream: Handle<Stream>, event: Handle<Event>) -> Answer {
        let own = name(stream).ok_or(Status::StreamCaptureUnsupported)?;
        let capture = self.captures.get(&number).ok_or(Status::Unknown)?;
        let before = capture.streams.get(&own).cloned().unwrap_or_default();
        self.events.get_mut(event)?.recorded = None;
        self.captured_events.insert(event, (number, before));
        Ok(())
    }

    /// A stream waits for an event. An event of a capture makes the stream part of it.
    pub fn capture_wait(&mut self, stream: Handle<Stream>, event: Handle<Event>) -> Answer {
        let capturing = self.captured(stream)?;
        let recorded = self.events.get(event)?.recorded;
        let Some((number, nodes)) = self.captured_events.get(&event).cloned() else {
            // A wait for an event that was never recorded is no wait.
            return match capturing {
                Some(number) if recorded.is_some() => {
                    self.invalidate(number);
                    Err(Status::StreamCaptureIsolation)
                }
                _ => Ok(()),
            };
        };
        let Some(own) = name(stream) else { return Err(Status::StreamCaptureImplicit) };
        let Some(capture) = self.captures.get_mut(&number) else { return Err(Status::CapturedEvent) };
        if capture.invalid {
            return Err(Status::StreamCaptureInvalidated);
        }
        if let Some(other) = capturing
            && other != number
        {
            self.invalidate(number);
            self.invalidate(other);
            return Err(Status::StreamCaptureMerge);
        }
        let before = capture.streams.entry(own).or_default();
        for (node, data) in nodes {
            if !before.iter().any(|(other, _)| *other == node) {
                before.push((node, data));
            }
        }
        Ok(())
    }

    /// Ends a capture in the stream in which it began, and returns its graph.
    pub fn end_capture(&mut self, stream: Handle<Stream>) -> Answer<Result<Handle<Graph>, (Status, Gone)>> {
        handles::check_stream(self, stream)?;
        let own = name(stream).ok_or(Status::IllegalState)?;
        let number = self.capture_of(stream).ok_or(Status::IllegalState)?;
        let capture = self.captures.get(&number).ok_or(Status::Unknown)?;
        if capture.mode != Mode::Relaxed && capture.thread != std::thread::current().id() {
            return Err(Status::StreamCaptureWrongThread);
        }
        if capture.origin != own {
            self.invalidate(number);
            return Err(Status::StreamCaptureUnmatched);
        }
        let capture = self.captures.remove(&number).ok_or(Status::Unknown)?;
        let refused = if capture.invalid {
            Some(Status::StreamCaptureInvalidated)
        } else if self.is_joined(&capture)? {
            None
        } else {
            Some(Status::StreamCaptureUnjoined)
        };
        Ok(match refused {
            None => Ok(capture.graph),
            Some(status) if capture.given => Err((status, Gone::default())),
            Some(status) => Err((status, self.destroy_graph(capture.graph)?)),
        })
    }

    /// Whether the stream in which a capture began waits for everything that it has made.
    fn is_joined(&self, capture: &Capture) -> Answer<bool> {
        let graph = self.graphs.get(capture.graph)?;
        let last = capture.streams.get(&capture.origin).cloned().unwrap_or_default();
        let is_last = |node: Handle<Node>| last.iter().any(|(other, _)| *other == node);
        let waited_for: BTreeSet<_> = graph.edges.iter().map(|edge| edge.from).collect();
        let alone = capture.made.iter().filter(|node| self.nodes.has(**node) && !waited_for.contains(node));
        Ok(alone.into_iter().all(|node| is_last(*node)))
    }

    /// Forgets a stream that is destroyed. A capture that it is part of is no longer valid; one that began in it is
    /// no longer there.
    pub fn forget_captured(&mut self, stream: Handle<Stream>) -> Answer<Gone> {
        let mut gone = Gone::default();
        let Some(number) = self.capture_of(stream) else { return Ok(gone) };
        self.invalidate(number);
        let own = name(stream);
        let Some(capture) = self.captures.get_mut(&number) else { return Ok(gone) };
        if Some(capture.origin) == own {
            let Some(capture) = self.captures.remove(&number) else { return Ok(gone) };
            if !capture.given {
                gone = self.destroy_graph(capture.graph)?;
            }
        } else if let Some(own) = own {
            capture.streams.remove(&own);
        }
        Ok(gone)
    }
}
