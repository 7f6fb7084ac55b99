//! Putting a benchmark together, launch by launch.

use std::sync::Arc;

use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Figure, Launch, Reading, Span, Text};

/// A benchmark in the making.
pub(super) struct Series(Benchmark);

/// Threads and shared memory of a launch.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub grid: u32,
    pub block: u32,
    pub shared: u32,
}

impl Shape {
    /// One CTA of so many warps.
    pub const fn warps(warps: u32) -> Self {
        Self { grid: 1, block: warps * 32, shared: 0 }
    }

    /// So many CTAs of so many threads.
    pub const fn new(grid: u32, block: u32) -> Self {
        Self { grid, block, shared: 0 }
    }
}

/// What a figure is of, and how it is read.
pub(super) struct Quantity {
    pub quantity: &'static str,
    pub unit: &'static str,
    pub reading: Reading,
}

pub(super) const fn quantity(quantity: &'static str, unit: &'static str, reading: Reading) -> Quantity {
    Quantity { quantity, unit, reading }
}

impl Series {
    pub fn new(family: &'static str, name: impl Into<String>, text: &Arc<Text>) -> Self {
        let (name, text) = (name.into(), Arc::clone(text));
        Self(Benchmark { family, name, text, buffers: vec![], launches: vec![], figures: vec![], pairs: 1 })
    }

    pub fn buffer(&mut self, buffer: Buffer) -> &mut Self {
        self.0.buffers.push(buffer);
        self
    }

    /// A launch whose time alone may count.
    pub fn launch(&mut self, kernel: &str, shape: Shape, repeat: u32, arguments: Vec<Argument>) -> Span {
        let Shape { grid, block, shared } = shape;
        self.0.launches.push(Launch { kernel: kernel.into(), grid, block, shared, repeat, arguments });
        Span { launch: self.0.launches.len() - 1, pair: 0, pairs: 0 }
    }

    /// A launch that writes `written` pairs of clock readings, of which the first `pairs` count: clocks of different SMs
    /// do not compare. The first argument is where they go.
    pub fn clocked(
        &mut self,
        kernel: &str,
        shape: Shape,
        (pairs, written): (u64, u64),
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Span {
        // The last pair is nobody's until now.
        let pair = self.0.pairs - 1;
        let first = Argument::Address(CLOCKS, pair * 16);
        let span = self.launch(kernel, shape, 1, [first].into_iter().chain(arguments).collect());
        self.0.pairs += written;
        Span { pair, pairs, ..span }
    }

    /// A launch of a [`Timed`](super::kernel::Timed) kernel; the warps of its first CTA count.
    pub fn timed(
        &mut self,
        kernel: &str,
        shape: Shape,
        at: (&'static str, u64),
        rounds: u32,
        (p, q): (u32, u32),
    ) -> Span {
        let warps = u64::from(shape.block.div_ceil(32));
        let arguments =
            [Argument::Address(at.0, at.1), Argument::U32(rounds), Argument::U32(p), Argument::U32(q)];
        self.clocked(kernel, shape, (warps, warps * u64::from(shape.grid)), arguments)
    }

    pub fn figure(
        &mut self,
        case: impl Into<String>,
        parameters: &[(&'static str, &dyn std::fmt::Display)],
        Quantity { quantity, unit, reading }: Quantity,
        work: f64,
        short: Option<Span>,
        long: Span,
    ) {
        let case = case.into();
        let parameters = parameters.iter().map(|(name, value)| (*name, value.to_string())).collect();
        self.0.figures.push(Figure { case, parameters, quantity, unit, reading, work, short, long });
    }

    pub fn done(self) -> Benchmark {
        self.0
    }
}
