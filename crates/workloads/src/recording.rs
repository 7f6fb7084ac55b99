//! What a program does to a device, written down: its buffers, its launches and host phases, and what it writes between
//! them.

use crate::{Arg, Device, DeviceError, DevicePtr, Shape};

/// A buffer or variable of the program, and what it held when the first launch began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedBuffer {
    /// Its name; names may repeat.
    pub name: String,
    /// Where it lies on the device that was recorded.
    pub ptr: DevicePtr,
    /// Its size in bytes; of a variable, what the program wrote of it.
    pub bytes: u64,
    /// It is a variable of the module.
    pub variable: bool,
    /// Its contents may depend on the order in which threads run.
    pub unordered: bool,
    /// What it held, up to the last byte that was written; zeros follow.
    pub contents: Vec<u8>,
}

/// A place in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Index of the buffer.
    pub buffer: usize,
    /// Bytes from its beginning.
    pub byte_offset: u64,
}

/// An argument, independent of where the device put its buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecordedArg {
    /// The address of a place in a buffer.
    Address(Spot),
    /// Any other value.
    Scalar(Arg),
}

/// A step of the program from the first launch or host phase on.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The host wrote bytes.
    Write {
        /// From here on.
        to: Spot,
        /// What it wrote.
        bytes: Vec<u8>,
    },
    /// The host set bytes to one value.
    Fill {
        /// From here on.
        to: Spot,
        /// How many.
        bytes: u64,
        /// To what.
        value: u8,
    },
    /// A launch.
    Launch(RecordedLaunch),
    /// A host phase.
    Phase(RecordedPhase),
}

/// A launch as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedLaunch {
    /// The kernel.
    pub kernel: String,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a CTA.
    pub dynamic_shared: u32,
    /// The arguments.
    pub args: Vec<RecordedArg>,
}

/// A host phase as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedPhase {
    /// The kernel.
    pub kernel: String,
    /// Threads, each a CTA of one.
    pub threads: u32,
    /// The arguments.
    pub args: Vec<RecordedArg>,
}

/// A device that does what another does and writes it down.
pub struct Recording<'a> {
    device: &'a mut dyn Device,
    buffers: Vec<RecordedBuffer>,
    steps: Vec<Step>,
    /// Only the first launch is a step.
    inputs_only: bool,
}

impl<'a> Recording<'a> {
    /// Nothing written down so far. Variables of `device` are zero unless the program writes them.
    pub fn new(device: &'a mut dyn Device) -> Self {
        Self { device, buffers: vec![], steps: vec![], inputs_only: false }
    }

    /// The same, but nothing is written down once the first launch has begun: enough for
    /// [`Recording::inputs_hash`] and [`Recording::footprint_bytes`].
    pub fn inputs_only(device: &'a mut dyn Device) -> Self {
        Self { inputs_only: true, ..Self::new(device) }
    }

    /// Buffers and variables, in the order in which the program named them.
    #[must_use]
    pub fn buffers(&self) -> &[RecordedBuffer] {
        &self.buffers
    }

    /// Launches, host phases, and the host's writes after the first of them began.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Bytes of all buffers, variables not counted.
    #[must_use]
    pub fn footprint_bytes(&self) -> u64 {
        self.buffers.iter().filter(|buffer| !buffer.variable).map(|buffer| buffer.bytes).sum()
    }

    /// A hash of every buffer's name and contents as the first launch or host phase finds them, and of that. What comes
    /// later may depend on results; this does not.
    #[must_use]
    pub fn inputs_hash(&self) -> u64 {
        let mut hash = InputsHash::new();
        for buffer in self.buffers.iter().filter(|buffer| !buffer.contents.is_empty()) {
            hash.add(buffer.name.as_bytes());
            let written = buffer.contents.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            hash.add(&buffer.contents[..written]);
        }
        let starts = |step: &&Step| matches!(step, Step::Launch(_) | Step::Phase(_));
        match self.steps.iter().find(starts) {
            Some(Step::Launch(RecordedLaunch { kernel, grid, block, dynamic_shared, args })) => {
                hash.add(kernel.as_bytes());
                for n in grid.iter().chain(block).chain([dynamic_shared]) {
                    hash.add(&n.to_le_bytes());
                }
                hash.add_args(args);
            }
            Some(Step::Phase(RecordedPhase { kernel, threads, args })) => {
                hash.add(kernel.as_bytes());
                hash.add(&threads.to_le_bytes());
                hash.add_args(args);
            }
            _ => {}
        }
        hash.0
    }

    /// The place that an address is in. Buffers lie apart, so at most one holds it.
    #[must_use]
    pub fn spot(&self, ptr: DevicePtr) -> Option<Spot> {
        let holds = |buffer: &RecordedBuffer| (buffer.ptr.0..=buffer.ptr.0 + buffer.bytes).contains(&ptr.0);
        let buffer = self.buffers.iter().rposition(holds)?;
        Some(Spot { buffer, byte_offset: ptr.0 - self.buffers[buffer].ptr.0 })
    }

    fn launched(&self) -> bool {
        !self.steps.is_empty()
    }

    fn recorded(&self, args: &[Arg]) -> Vec<RecordedArg> {
        let recorded = |arg: &Arg| match *arg {
            Arg::Ptr(ptr) => self.spot(ptr).map_or(RecordedArg::Scalar(*arg), RecordedArg::Address),
            scalar => RecordedArg::Scalar(scalar),
        };
        args.iter().map(recorded).collect()
    }

    /// The bytes of a buffer before the first launch, as far as a write of `bytes` bytes there reaches.
    fn initial(&mut self, to: Spot, bytes: usize) -> &mut [u8] {
        let buffer = &mut self.buffers[to.buffer];
        let start = usize::try_from(to.byte_offset).expect("a written place fits the host");
        let end = start + bytes;
        if buffer.contents.len() < end {
            buffer.contents.resize(end, 0);
        }
        &mut buffer.contents[start..end]
    }

    fn step(&mut self, step: Step) {
        if !(self.inputs_only && self.launched()) {
            self.steps.push(step);
        }
    }

    /// Where a write of `bytes` bytes begins.
    fn written(&mut self, to: DevicePtr, bytes: u64) -> Spot {
        let spot = self.spot(to).expect("the device accepted the write, so it lies in a buffer");
        let buffer = &mut self.buffers[spot.buffer];
        if buffer.variable {
            buffer.bytes = buffer.bytes.max(spot.byte_offset + bytes);
        }
        spot
    }
}

/// A hash of whole inputs, by words of eight bytes: FNV's start and prime, and a rotation so that high bits count. It is
/// not FNV-1a, which takes a byte at a time.
struct InputsHash(u64);

impl InputsHash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
        self.0 = (self.0 ^ bytes.len() as u64).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn add_args(&mut self, args: &[RecordedArg]) {
        for arg in args {
            match arg {
                RecordedArg::Address(spot) => self.add(&spot.byte_offset.to_le_bytes()),
                RecordedArg::Scalar(arg) => self.add(&arg.to_bytes().0),
            }
        }
    }
}

impl Device for Recording<'_> {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let ptr = self.device.alloc(name, bytes)?;
        let (name, contents) = (name.to_owned(), vec![]);
        self.buffers.push(RecordedBuffer { name, ptr, bytes, variable: false, unordered: false, contents });
        Ok(ptr)
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        self.device.upload(to, data)?;
        if data.is_empty() {
            return Ok(());
        }
        let to = self.written(to, data.len() as u64);
        if self.launched() {
            self.step(Step::Write { to, bytes: data.to_vec() });
        } else {
            self.initial(to, data.len()).copy_from_slice(data);
        }
        Ok(())
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        self.device.download(from, data)
    }

    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.device.fill(to, value, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let to = self.written(to, bytes);
        if self.launched() {
            self.step(Step::Fill { to, bytes, value });
        } else if value != 0 || self.buffers[to.buffer].contents.len() as u64 > to.byte_offset {
            self.initial(to, usize::try_from(bytes).expect("a buffer fits the host")).fill(value);
        }
        Ok(())
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        let ptr = self.device.variable(name)?;
        if !self.buffers.iter().any(|buffer| buffer.variable && buffer.name == name) {
            let (name, contents) = (name.to_owned(), vec![]);
            self.buffers.push(RecordedBuffer {
                name,
                ptr,
                bytes: 0,
                variable: true,
                unordered: false,
                contents,
            });
        }
        Ok(ptr)
    }

    fn unordered(&mut self, ptr: DevicePtr) {
        self.device.unordered(ptr);
        let spot = self.spot(ptr).expect("the program allocated it");
        self.buffers[spot.buffer].unordered = true;
    }

    fn launch(&mut self, kernel: &str, shape: Shape, args: &[Arg]) -> Result<(), DeviceError> {
        let Shape { grid, block, dynamic_shared, cluster } = shape;
        if cluster.is_some() {
            let reason =
                "a launch file names no clusters, expected the kernel to (.reqnctapercluster)".into();
            return Err(DeviceError::BadLaunch { kernel: kernel.to_owned(), reason });
        }
        let (name, recorded) = (kernel.to_owned(), self.recorded(args));
        let launch = RecordedLaunch { kernel: name, grid, block, dynamic_shared, args: recorded };
        self.step(Step::Launch(launch));
        self.device.launch(kernel, shape, args)
    }

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        let (name, recorded) = (kernel.to_owned(), self.recorded(args));
        self.step(Step::Phase(RecordedPhase { kernel: name, threads, args: recorded }));
        self.device.on_cpu(kernel, threads, args)
    }
}
