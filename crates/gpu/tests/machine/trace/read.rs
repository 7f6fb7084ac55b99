//! A trace, read.

use std::collections::HashMap;

use prost::Message;
use strata_gpu::trace::proto::{EventType, Interned, Trace, TrackDescriptor};

/// A slice with its names.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    pub track: u64,
    /// The name of its process.
    pub process: String,
    /// The name of its warp, or of its row.
    pub row: String,
    pub name: String,
    pub category: String,
    pub from: u64,
    pub to: u64,
    pub flow: Option<u64>,
}

/// What a trace says.
pub struct Read {
    /// In the order in which they begin.
    pub slices: Vec<Slice>,
    /// Names of processes, in order.
    pub processes: Vec<String>,
    /// What is said of the whole trace.
    pub metadata: Vec<(String, i64)>,
    /// In order.
    pub counters: Vec<Counter>,
}

/// A counter's track: the names of process and counter, and when it took which values.
pub type Counter = (String, String, Vec<(u64, u64)>);

/// A track: the names of its process and of itself.
type Place = (String, String);

impl Read {
    /// Checks that every event has a track and a name that were announced, that slices end on their tracks in the order of nesting, and
    /// that time does not go back.
    pub fn new(bytes: &[u8]) -> Read {
        let trace = Trace::decode(bytes).expect("a trace");
        let (mut names, mut categories) = (HashMap::new(), HashMap::new());
        let mut tracks: HashMap<u64, Place> = HashMap::new();
        let mut processes: HashMap<i32, String> = HashMap::new();
        let mut counters: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
        let mut open: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut read =
            Read { slices: Vec::new(), processes: Vec::new(), metadata: Vec::new(), counters: Vec::new() };
        let mut last = 0;
        let learn = |known: &mut HashMap<u64, String>, new: &[Interned]| {
            known.extend(new.iter().map(|one| (one.iid.unwrap(), one.name.clone().unwrap())));
        };
        for packet in trace.packet {
            assert_eq!(packet.trusted_packet_sequence_id, Some(1));
            for entry in packet.chrome_events.into_iter().flat_map(|events| events.metadata) {
                read.metadata.push((entry.name.unwrap(), entry.int_value.unwrap()));
            }
            if let Some(track) = packet.track_descriptor {
                if let Some(process) = &track.process {
                    let name = process.process_name.clone().unwrap();
                    processes.insert(process.pid.unwrap(), name.clone());
                    read.processes.push(name);
                }
                let known = tracks.insert(track.uuid.unwrap(), place(&track, &tracks, &processes));
                assert_eq!(known, None, "a track is announced once");
            }
            if let Some(data) = packet.interned_data {
                learn(&mut names, &data.event_names);
                learn(&mut categories, &data.event_categories);
            }
            let Some(event) = packet.track_event else { continue };
            let (at, track) = (packet.timestamp.unwrap(), event.track_uuid.unwrap());
            assert!(tracks.contains_key(&track), "an event has a track");
            assert!(
                last <= at,
                "time does not go back: {at} after {last} on {:?}: {event:?}",
                tracks[&track]
            );
            last = at;
            if event.r#type == Some(EventType::SliceBegin as i32) {
                open.entry(track).or_default().push(read.slices.len());
                let (process, row) = tracks[&track].clone();
                read.slices.push(Slice {
                    track,
                    process,
                    row,
                    name: names[&event.name_iid.unwrap()].clone(),
                    category: categories[&event.category_iids[0]].clone(),
                    from: at,
                    to: u64::MAX,
                    flow: event.flow_ids.first().copied(),
                });
            } else if event.r#type == Some(EventType::SliceEnd as i32) {
                let slice = open.get_mut(&track).and_then(Vec::pop).expect("what ends has begun");
                read.slices[slice].to = at;
                let inside =
                    open[&track].iter().all(|outer| read.slices[*outer].from <= read.slices[slice].from);
                assert!(inside, "slices nest");
            } else {
                counters.entry(track).or_default().push((at, event.counter_value.unwrap() as u64));
            }
        }
        assert!(open.values().all(Vec::is_empty), "every slice ends");
        let of = |(track, values)| {
            let (process, name) = tracks[&track].clone();
            (process, name, values)
        };
        read.counters = counters.into_iter().map(of).collect();
        read.counters.sort();
        read
    }

    /// The values of all counters of a name.
    pub fn values(&self, name: &str) -> Vec<u64> {
        let of_name = self.counters.iter().filter(|(_, of, _)| of == name);
        let values: Vec<u64> = of_name.flat_map(|(_, _, values)| values).map(|(_, value)| *value).collect();
        assert!(!values.is_empty(), "no counter {name}");
        values
    }

    /// Their sum.
    pub fn sum(&self, name: &str) -> u64 {
        self.values(name).iter().sum()
    }
}

/// The names of a track's process and of itself.
fn place(track: &TrackDescriptor, tracks: &HashMap<u64, Place>, processes: &HashMap<i32, String>) -> Place {
    if let Some(thread) = &track.thread {
        return (processes[&thread.pid.unwrap()].clone(), thread.thread_name.clone().unwrap());
    }
    if let Some(process) = &track.process {
        return (process.process_name.clone().unwrap(), String::new());
    }
    let (process, above) = &tracks[&track.parent_uuid.unwrap()];
    let name = track.name.clone().unwrap();
    (process.clone(), if name == "waits for" { above.clone() } else { name })
}
