//! What a microbenchmark is: a program, and the figures that are read from one run of it.

use std::sync::Arc;

/// PTX that several benchmarks share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its name, a file's without the extension.
    pub name: String,
    /// The text.
    pub ptx: String,
}

/// A program of launches, and what is read from it.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// What it belongs to, as `latency`.
    pub family: &'static str,
    /// Its name within the family.
    pub name: String,
    /// The kernels.
    pub text: Arc<Text>,
    /// Memory beside the clocks'.
    pub buffers: Vec<Buffer>,
    /// In order.
    pub launches: Vec<Launch>,
    /// What one run of the launches tells.
    pub figures: Vec<Figure>,
    /// How many pairs of clock readings the launches write.
    pub pairs: u64,
}

/// Memory that holds zeros when the first launch begins.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name; arguments go by it.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
    /// It is the module's variable of this name.
    pub variable: bool,
}

impl Buffer {
    /// Memory of zeros.
    #[must_use]
    pub const fn zeros(name: &'static str, bytes: u64) -> Self {
        Self { name, bytes, variable: false }
    }
}

/// The buffer that every benchmark has beside its own: pairs of clock readings.
pub const CLOCKS: &str = "clocks";

/// One launch, or the same one several times in a row.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The entry.
    pub kernel: String,
    /// CTAs.
    pub grid: u32,
    /// Threads of a CTA.
    pub block: u32,
    /// Bytes of dynamic shared memory of a CTA.
    pub shared: u32,
    /// How often it comes.
    pub repeat: u32,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// An address: a buffer's, and so many bytes on.
    Address(&'static str, u64),
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
}

/// A number that is read from a run.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Which case it is of, unique within the family.
    pub case: String,
    /// The case's parameters.
    pub parameters: Vec<(&'static str, String)>,
    /// What the number is.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// How it is read.
    pub reading: Reading,
    /// How much work the longer span has more than the shorter one, in what the unit counts.
    pub work: f64,
    /// The span that is taken away: it has the same fixed costs.
    pub short: Option<Span>,
    /// The span that counts.
    pub long: Span,
}

/// How a figure comes from spans and work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Clock cycles for each unit of work.
    CyclesPerWork,
    /// Work for each clock cycle.
    WorkPerCycle,
    /// Nanoseconds of the launch for each unit of work.
    TimePerWork,
    /// Work for each nanosecond of the launch.
    WorkPerTime,
    /// Clock cycles for each microsecond of the launch.
    CyclesPerTime,
    /// Clock cycles of one pair of readings for each unit of work: so many percent of the pairs have no more.
    Quantile(u32),
}

impl Reading {
    /// As tables call it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::CyclesPerWork => "cycles-per-work".into(),
            Self::WorkPerCycle => "work-per-cycle".into(),
            Self::TimePerWork => "time-per-work".into(),
            Self::WorkPerTime => "work-per-time".into(),
            Self::CyclesPerTime => "cycles-per-time".into(),
            Self::Quantile(percent) => format!("cycles-quantile-{percent}"),
        }
    }
}

/// A launch, and the clock readings that it wrote: a beginning and an end for each warp that measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The launch's place among the benchmark's.
    pub launch: usize,
    /// The first pair.
    pub pair: u64,
    /// How many; none where only the launch's time counts.
    pub pairs: u64,
}
