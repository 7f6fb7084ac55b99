//! The file: tracks, slices and counters as packets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use prost::Message;
use prost::encoding::{encode_varint, uint64};

use super::proto::{
    ChromeEventBundle, ChromeMetadata, CounterDescriptor, DebugAnnotation, EventType, Interned, InternedData,
    ProcessDescriptor, ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent,
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

impl Slice {
    /// Whether it says no more than a name and a category.
    fn is_plain(&self) -> bool {
        self.flow.is_none() && self.values.iter().all(Option::is_none)
    }
}

/// What happens to a track within a cycle, in this order.
const ENDS: u64 = 0;
const BEGINS: u64 = 1;
const COUNTS: u64 = 2;

/// The field of a packet that has its time.
const TIMESTAMP: u32 = 8;

/// Bits of an event's place among those of a cycle: what happens, how deep it lies, and which of the slices or counts it is.
const KIND: u32 = 62;
const DEPTH: u32 = 54;

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

/// Strings of the sources with their numbers. There are few of them.
#[derive(Default)]
struct Labels {
    known: Vec<&'static str>,
    new: Vec<Interned>,
}

impl Labels {
    fn number(&mut self, label: &'static str) -> u64 {
        let is_it = |known: &&str| std::ptr::eq(*known, label) || *known == label;
        if let Some(place) = self.known.iter().position(is_it) {
            return place as u64 + 1;
        }
        self.known.push(label);
        let number = self.known.len() as u64;
        self.new.push(Interned { iid: Some(number), name: Some(label.to_owned()) });
        number
    }
}

/// What packets say beside their times, where many are alike: by track, those of slices' ends (`None`) and of beginnings that say no more than a
/// name and a category.
struct Alike(Vec<Vec<Said>>);

type Said = (Option<(Text, &'static str)>, Vec<u8>);

impl Alike {
    /// The bytes of such packets of a track; none if this is the first.
    fn rest(&mut self, track: Track, what: Option<(Text, &'static str)>) -> &mut Vec<u8> {
        let of_track = &mut self.0[track.0 as usize];
        let place = of_track.iter().position(|(known, _)| *known == what).unwrap_or_else(|| {
            of_track.push((what, Vec::new()));
            of_track.len() - 1
        });
        &mut of_track[place].1
    }
}

/// The file so far.
#[derive(Default)]
pub struct TraceFile {
    bytes: Vec<u8>,
    tracks: HashMap<(u64, String), u64>,
    processes: HashMap<String, Process>,
    categories: Labels,
    names: Texts,
    values: Labels,
    /// Numbers of names that the sources have.
    labels: Vec<(&'static str, Text)>,
    texts: Texts,
    slices: Vec<Slice>,
    counts: Vec<(u64, Track, u64)>,
}

/// The one writer of a trace.
const WRITER: Option<u32> = Some(1);

impl TraceFile {
    /// Says something of the whole trace.
    pub fn metadata(&mut self, values: &[(&str, u64)]) {
        let entry = |(name, value): &(&str, u64)| ChromeMetadata {
            name: Some((*name).to_owned()),
            int_value: Some(i64::try_from(*value).unwrap_or(i64::MAX)),
        };
        let metadata = values.iter().map(entry).collect();
        let chrome_events = Some(ChromeEventBundle { metadata });
        self.write(TracePacket { chrome_events, ..TracePacket::default() });
    }

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

    /// The same, of a name that the sources have.
    pub fn label(&mut self, name: &'static str) -> Text {
        if let Some((_, known)) = self.labels.iter().find(|(known, _)| std::ptr::eq(*known, name)) {
            return *known;
        }
        let number = self.name(name);
        self.labels.push((name, number));
        number
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
        let mut events: Vec<(u64, u64)> = Vec::with_capacity(2 * slices.len() + counts.len());
        // The innermost begins last, and ends first.
        let begin = |(index, slice): (u64, &Slice)| {
            (slice.from, BEGINS << KIND | u64::from(slice.depth) << DEPTH | index)
        };
        let end = |(index, slice): (u64, &Slice)| {
            (slice.to, ENDS << KIND | u64::from(u8::MAX - slice.depth) << DEPTH | index)
        };
        // Each kind of them is nearly in order, which this sort makes use of.
        events.extend((0..).zip(&slices).map(begin));
        events.extend((0..).zip(&slices).map(end));
        events.extend((0..).zip(&counts).map(|(index, (at, _, _))| (*at, COUNTS << KIND | index)));
        events.sort_by_key(|event| *event);
        let index = |place: u64| (place & ((1 << DEPTH) - 1)) as usize;
        // Strings are numbered in the order in which events name them, and stand before all of these.
        for (_, place) in events.iter().filter(|(_, place)| place >> KIND == BEGINS) {
            let Slice { category, values, .. } = &slices[index(*place)];
            self.categories.number(category);
            for (name, _) in values.iter().flatten() {
                self.values.number(name);
            }
        }
        self.write_texts();
        // One for all, so that its lists are allocated once.
        let mut packet = TracePacket { sequence_flags: Some(2), ..TracePacket::default() };
        let mut alike = Alike(vec![Vec::new(); self.tracks.len() + 1]);
        for (at, place) in events {
            let event = packet.track_event.get_or_insert_default();
            if place >> KIND == COUNTS {
                let (_, track, value) = counts[index(place)];
                become_event(event, EventType::Counter, track);
                event.counter_value = Some(i64::try_from(value).unwrap_or(i64::MAX));
            } else {
                let (slice, begins) = (&slices[index(place)], place >> KIND == BEGINS);
                let rest = (!begins || slice.is_plain())
                    .then(|| alike.rest(slice.track, begins.then_some((slice.name, slice.category))));
                if let Some(known) = rest.as_ref().filter(|rest| !rest.is_empty()) {
                    self.write_at(at, known);
                    continue;
                }
                match begins {
                    true => self.begin(slice, event),
                    false => become_event(event, EventType::SliceEnd, slice.track),
                }
                if let Some(rest) = rest {
                    (packet.timestamp, packet.trusted_packet_sequence_id) = (None, WRITER);
                    *rest = packet.encode_to_vec();
                }
            }
            packet.timestamp = Some(at);
            self.write_packet(&mut packet);
        }
    }

    /// Writes a packet of a time that says this beside it.
    fn write_at(&mut self, at: u64, rest: &[u8]) {
        self.bytes.push(0x0a);
        encode_varint((uint64::encoded_len(TIMESTAMP, &at) + rest.len()) as u64, &mut self.bytes);
        uint64::encode(TIMESTAMP, &at, &mut self.bytes);
        self.bytes.extend_from_slice(rest);
    }

    fn begin(&mut self, slice: &Slice, event: &mut TrackEvent) {
        become_event(event, EventType::SliceBegin, slice.track);
        event.category_iids.push(self.categories.number(slice.category));
        event.name_iid = Some(slice.name.0);
        event.flow_ids.extend(slice.flow);
        for (name, value) in slice.values.into_iter().flatten() {
            let name_iid = Some(self.values.number(name));
            let of_name = DebugAnnotation { name_iid, ..DebugAnnotation::default() };
            event.debug_annotations.push(match value {
                Value::Number(number) => DebugAnnotation { uint_value: Some(number), ..of_name },
                Value::Address(address) => DebugAnnotation { pointer_value: Some(address), ..of_name },
                Value::Text(text) => DebugAnnotation { string_value_iid: Some(text.0), ..of_name },
            });
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

    fn write(&mut self, mut packet: TracePacket) {
        self.write_packet(&mut packet);
    }

    fn write_packet(&mut self, packet: &mut TracePacket) {
        packet.trusted_packet_sequence_id = WRITER;
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

/// Makes an event another one, which has nothing but a kind and a track yet.
fn become_event(event: &mut TrackEvent, kind: EventType, track: Track) {
    (event.r#type, event.track_uuid) = (Some(kind as i32), Some(track.0));
    (event.name_iid, event.counter_value) = (None, None);
    event.category_iids.clear();
    event.flow_ids.clear();
    event.debug_annotations.clear();
}
