//! The file: tracks, slices and counters as packets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use prost::Message;

use super::proto::{
    CounterDescriptor, DebugAnnotation, EventType, Interned, InternedData, ProcessDescriptor,
    ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent,
};

/// A track, by which events name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Track(u64);

/// A process: a part of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Its own track.
    pub track: Track,
    pid: i32,
}

/// The number of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text(u64);

/// A value of a slice.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A number.
    Number(u64),
    /// An address.
    Address(u64),
    /// A text.
    Text(Text),
}

/// A slice of a track, from its first core cycle on and before `to`.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Where.
    pub track: Track,
    /// How many slices it lies in.
    pub depth: u8,
    /// Its first cycle,
    pub from: u64,
    /// and the cycle after its last.
    pub to: u64,
    /// Its name.
    pub name: Text,
    /// Its kind, for queries.
    pub category: &'static str,
    /// The flow that it belongs to.
    pub flow: Option<u64>,
    /// What is said of it.
    pub values: [Option<(&'static str, Value)>; 3],
}

/// What happens to a track.
enum Event {
    Begin(usize),
    End(Track),
    Count(Track, u64),
}

/// Strings of a kind with their numbers.
#[derive(Default)]
struct Texts {
    numbers: HashMap<String, u64>,
    new: Vec<Interned>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.to_owned(), number);
        self.new.push(Interned { iid: Some(number), name: Some(text.to_owned()) });
        number
    }
}

/// The file so far.
#[derive(Default)]
pub struct TraceFile {
    bytes: Vec<u8>,
    tracks: HashMap<(u64, String), u64>,
    processes: HashMap<String, Process>,
    categories: Texts,
    names: Texts,
    values: Texts,
    texts: Texts,
    slices: Vec<Slice>,
    counts: Vec<(u64, Track, u64)>,
}

/// The one writer of a trace.
const WRITER: Option<u32> = Some(1);

impl TraceFile {
    /// The process of this name.
    pub fn process(&mut self, name: &str) -> Process {
        if let Some(process) = self.processes.get(name) {
            return *process;
        }
        let (uuid, pid) = (self.new_track(), self.processes.len() as i32 + 1);
        let process = ProcessDescriptor { pid: Some(pid), process_name: Some(name.to_owned()) };
        let descriptor =
            TrackDescriptor { process: Some(process), child_ordering: Some(3), ..TrackDescriptor::default() };
        self.describe(uuid, descriptor);
        let process = Process { track: Track(uuid), pid };
        self.processes.insert(name.to_owned(), process);
        process
    }

    /// A thread of a process: its `number`th, which is below 1000.
    pub fn thread(&mut self, process: Process, number: u32, name: &str) -> Track {
        let thread = ThreadDescriptor {
            pid: Some(process.pid),
            tid: Some(1000 * i64::from(process.pid) + i64::from(number) + 1),
            thread_name: Some(name.to_owned()),
        };
        self.track_with(
            process.track,
            name,
            TrackDescriptor { thread: Some(thread), ..TrackDescriptor::default() },
        )
    }

    /// A track below another, at a place among its like.
    pub fn track(&mut self, parent: Track, name: &str, rank: i32) -> Track {
        let descriptor = TrackDescriptor {
            name: Some(name.to_owned()),
            parent_uuid: Some(parent.0),
            sibling_order_rank: Some(rank),
            ..TrackDescriptor::default()
        };
        self.track_with(parent, name, descriptor)
    }

    /// A counter below a track.
    pub fn counter(&mut self, parent: Track, name: &str, unit: &str) -> Track {
        let descriptor = TrackDescriptor {
            name: Some(name.to_owned()),
            parent_uuid: Some(parent.0),
            sibling_order_rank: Some(-1),
            counter: Some(CounterDescriptor { unit_name: Some(unit.to_owned()) }),
            ..TrackDescriptor::default()
        };
        self.track_with(parent, name, descriptor)
    }

    fn track_with(&mut self, parent: Track, name: &str, descriptor: TrackDescriptor) -> Track {
        let next = self.tracks.len() as u64 + 1;
        match self.tracks.entry((parent.0, name.to_owned())) {
            Entry::Occupied(known) => Track(*known.get()),
            Entry::Vacant(new) => {
                new.insert(next);
                self.describe(next, descriptor);
                Track(next)
            }
        }
    }

    fn new_track(&mut self) -> u64 {
        let next = self.tracks.len() as u64 + 1;
        self.tracks.insert((0, next.to_string()), next);
        next
    }

    fn describe(&mut self, uuid: u64, descriptor: TrackDescriptor) {
        let track_descriptor = Some(TrackDescriptor { uuid: Some(uuid), ..descriptor });
        self.write(TracePacket { track_descriptor, ..TracePacket::default() });
    }

    /// The number of an event's name.
    pub fn name(&mut self, name: &str) -> Text {
        Text(self.names.number(name))
    }

    /// The number of a value's text.
    pub fn text(&mut self, text: &str) -> Text {
        Text(self.texts.number(text))
    }

    /// Adds a slice. One without any cycle is left out.
    pub fn slice(&mut self, slice: Slice) {
        if slice.from < slice.to {
            self.slices.push(slice);
        }
    }

    /// Sets a counter from a core cycle on.
    pub fn count(&mut self, track: Track, at: u64, value: u64) {
        self.counts.push((at, track, value));
    }

    /// Writes what has been added, ordered by time, over launches, too: the last results of one are written while the next begins. Of what
    /// happens in the same cycle, ends come before beginnings.
    fn write_events(&mut self) {
        let slices = std::mem::take(&mut self.slices);
        let counts = std::mem::take(&mut self.counts);
        let mut events = Vec::with_capacity(2 * slices.len() + counts.len());
        for (index, slice) in slices.iter().enumerate() {
            // The innermost ends first, and begins last.
            events.push((slice.from, 1, slice.depth, index, Event::Begin(index)));
            events.push((slice.to, 0, u8::MAX - slice.depth, index, Event::End(slice.track)));
        }
        for (index, (at, track, value)) in counts.into_iter().enumerate() {
            events.push((at, 2, 0, index, Event::Count(track, value)));
        }
        events.sort_unstable_by_key(|(at, order, depth, index, _)| (*at, *order, *depth, *index));
        let events: Vec<(u64, TrackEvent)> = events
            .into_iter()
            .map(|(at, _, _, _, event)| match event {
                Event::Begin(index) => (at, self.begin(&slices[index])),
                Event::End(track) => (at, event_of(EventType::SliceEnd, track)),
                Event::Count(track, value) => {
                    let counter_value = Some(i64::try_from(value).unwrap_or(i64::MAX));
                    (at, TrackEvent { counter_value, ..event_of(EventType::Counter, track) })
                }
            })
            .collect();
        self.write_texts();
        for (at, event) in events {
            self.write(TracePacket {
                timestamp: Some(at),
                sequence_flags: Some(2),
                track_event: Some(event),
                ..TracePacket::default()
            });
        }
    }

    fn begin(&mut self, slice: &Slice) -> TrackEvent {
        let values = slice.values.into_iter().flatten();
        TrackEvent {
            category_iids: vec![self.categories.number(slice.category)],
            name_iid: Some(slice.name.0),
            flow_ids: slice.flow.into_iter().collect(),
            debug_annotations: values
                .map(|(name, value)| {
                    let name_iid = Some(self.values.number(name));
                    let of_name = DebugAnnotation { name_iid, ..DebugAnnotation::default() };
                    match value {
                        Value::Number(number) => DebugAnnotation { uint_value: Some(number), ..of_name },
                        Value::Address(address) => {
                            DebugAnnotation { pointer_value: Some(address), ..of_name }
                        }
                        Value::Text(text) => DebugAnnotation { string_value_iid: Some(text.0), ..of_name },
                    }
                })
                .collect(),
            ..event_of(EventType::SliceBegin, slice.track)
        }
    }

    /// Writes the strings that have become known.
    fn write_texts(&mut self) {
        let interned_data = InternedData {
            event_categories: std::mem::take(&mut self.categories.new),
            event_names: std::mem::take(&mut self.names.new),
            debug_annotation_names: std::mem::take(&mut self.values.new),
            debug_annotation_string_values: std::mem::take(&mut self.texts.new),
        };
        let sequence_flags = Some(1);
        let interned_data = Some(interned_data);
        self.write(TracePacket { sequence_flags, interned_data, ..TracePacket::default() });
    }

    fn write(&mut self, packet: TracePacket) {
        let packet = TracePacket { trusted_packet_sequence_id: WRITER, ..packet };
        // Field 1 of the file, of a length that follows.
        self.bytes.push(0x0a);
        packet.encode_length_delimited(&mut self.bytes).expect("a vector has room for any packet");
    }

    /// The bytes of the file.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.write_events();
        self.bytes
    }
}

fn event_of(kind: EventType, track: Track) -> TrackEvent {
    TrackEvent { r#type: Some(kind as i32), track_uuid: Some(track.0), ..TrackEvent::default() }
}
