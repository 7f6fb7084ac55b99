//! The messages of a trace, as Perfetto's protocol buffers number their fields; those that are written here.

/// A trace file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    /// In any order of time.
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// One entry of a file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TracePacket {
    /// What is said of the whole trace.
    #[prost(message, optional, tag = "5")]
    pub chrome_events: Option<ChromeEventBundle>,
    /// In nanoseconds, which stand for core cycles.
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    /// The writer; a trace has one.
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    /// Something that happens on a track.
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    /// Strings that later packets name by number.
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    /// 1: strings are numbered anew; 2: the packet names strings by number.
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    /// A new track.
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
}

/// What is said of the whole trace, in a message of Chrome's traces; the trace processor has it in its table `metadata`, by names that
/// begin with `cr-`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ChromeEventBundle {
    /// Names and values.
    #[prost(message, repeated, tag = "2")]
    pub metadata: Vec<ChromeMetadata>,
}

/// A name and its value.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ChromeMetadata {
    /// The name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// The value.
    #[prost(int64, optional, tag = "4")]
    pub int_value: Option<i64>,
}

/// The beginning or end of a slice, or a counter's value.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    /// What it says of a slice, beside its name.
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    /// Its category, by number.
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    pub category_iids: Vec<u64>,
    /// What happens.
    #[prost(enumeration = "EventType", optional, tag = "9")]
    pub r#type: Option<i32>,
    /// Its name, by number.
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    /// The track.
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    /// A counter's value.
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    /// Slices of a flow are joined by arrows.
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
}

/// What happens on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum EventType {
    /// Nothing.
    Unspecified = 0,
    /// A slice begins.
    SliceBegin = 1,
    /// The slice that began last ends.
    SliceEnd = 2,
    /// A moment.
    Instant = 3,
    /// A counter changes.
    Counter = 4,
}

/// A value that a slice has.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DebugAnnotation {
    /// Its name, by number.
    #[prost(uint64, optional, tag = "1")]
    pub name_iid: Option<u64>,
    /// A number,
    #[prost(uint64, optional, tag = "3")]
    pub uint_value: Option<u64>,
    /// an address,
    #[prost(uint64, optional, tag = "7")]
    pub pointer_value: Option<u64>,
    /// or a text, by number.
    #[prost(uint64, optional, tag = "17")]
    pub string_value_iid: Option<u64>,
}

/// A row of a trace.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    /// By which events name it.
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    /// Its name, unless it is that of a process or thread.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// The track of a process,
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    /// or of a thread,
    #[prost(message, optional, tag = "4")]
    pub thread: Option<ThreadDescriptor>,
    /// or one below another,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    /// which may be a counter's.
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    /// How the tracks below it are ordered; 3: by their ranks.
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    /// Its place among those that have the same parent.
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// A part of the machine.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessDescriptor {
    /// Its number.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its name.
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// A warp slot.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ThreadDescriptor {
    /// Its process.
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    /// Its number.
    #[prost(int64, optional, tag = "2")]
    pub tid: Option<i64>,
    /// Its name.
    #[prost(string, optional, tag = "5")]
    pub thread_name: Option<String>,
}

/// A counter.
#[derive(Clone, PartialEq, prost::Message)]
pub struct CounterDescriptor {
    /// What it counts.
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// Strings and their numbers.
#[derive(Clone, PartialEq, prost::Message)]
pub struct InternedData {
    /// Categories.
    #[prost(message, repeated, tag = "1")]
    pub event_categories: Vec<Interned>,
    /// Names of events.
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<Interned>,
    /// Names of values.
    #[prost(message, repeated, tag = "3")]
    pub debug_annotation_names: Vec<Interned>,
    /// Values.
    #[prost(message, repeated, tag = "29")]
    pub debug_annotation_string_values: Vec<Interned>,
}

/// A string and its number.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Interned {
    /// Its number, from 1 on.
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    /// The string.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
}
