//! Latency of loads by footprint: one thread follows pointers through so much memory.
//!
//! The pointers lie `stride` bytes apart and are followed in a random order or one after the other; either way the walk comes
//! to each before it comes to one again. Walks through more memory than a cache holds see what is behind it, and
//! walks through more pages than a translation cache holds see the tables.
//!
//! Who read the memory before matters: an L2 of two halves keeps a line near to who asked for it, so memory that other SMs
//! have read is further away.

use std::sync::Arc;

use super::benchmark::{Argument, Benchmark, Buffer, CLOCKS, Reading, Text};
use super::kernel::header;
use super::series::{Series, Shape, quantity};
use super::{Scale, Target};

/// Loads of a round.
const UNROLLED: u32 = 16;
/// Rounds that are timed.
const ROUNDS: u32 = 128;

/// Memory that a walk goes through.
pub(super) struct Space {
    name: &'static str,
    /// The load, from `[%at]` to `%at`.
    load: &'static str,
    kind: Kind,
    /// Largest footprint.
    most: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Global,
    /// Filled from global memory by the kernel itself.
    Shared,
    Local,
    /// A variable of the module, filled by a store to its global address.
    Constant,
}

/// Global memory through the L1D.
pub(super) const THROUGH: &Space = &SPACES[0];
/// Global memory past the L1D.
pub(super) const PAST: &Space = &SPACES[2];

const SPACES: &[Space] = &[
    Space { name: "global", load: "ld.global.u64", kind: Kind::Global, most: 4 << 30 },
    Space { name: "global-ca", load: "ld.global.ca.u64", kind: Kind::Global, most: 512 << 10 },
    Space { name: "global-cg", load: "ld.global.cg.u64", kind: Kind::Global, most: 4 << 30 },
    Space { name: "global-nc", load: "ld.global.nc.u64", kind: Kind::Global, most: 256 << 10 },
    Space { name: "shared", load: "ld.shared.u32", kind: Kind::Shared, most: 32 << 10 },
    Space { name: "local", load: "ld.local.u32", kind: Kind::Local, most: 16 << 10 },
    Space { name: "constant", load: "ld.const.u64", kind: Kind::Constant, most: 64 << 10 },
];

/// Spaces that behave as others do on what is modelled.
const TWICE: [&str; 2] = ["global-ca", "global-nc"];

/// Bytes of the arrays in shared and local memory.
const SHARED_BYTES: u64 = 32 << 10;
const LOCAL_BYTES: u64 = 16 << 10;
const CONSTANT_BYTES: u64 = 64 << 10;

/// A factor that makes `i -> factor * i + 1` one cycle modulo any number whose prime factors are 2, 3, 5 and 7 (Hull and
/// Dobell, 1962: one less than the factor is a multiple of each of them, and of 4).
pub(super) const FACTOR: u64 = 1 + 420 * 0x9e37_79b1;

/// No prime factor is larger than 7.
fn is_one_cycle(count: u64) -> bool {
    let left = [2, 3, 5, 7].into_iter().fold(count, |mut left, prime| {
        while left > 1 && left % prime == 0 {
            left /= prime;
        }
        left
    });
    left == 1
}

/// Walks through constant memory, whose variable a kernel writes: that a GPU allows this is not said anywhere.
pub(super) fn constant(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = text();
    let of_constants = SPACES.iter().filter(|space| space.kind == Kind::Constant);
    of_constants
        .flat_map(|space| {
            footprints(space, scale, target)
                .into_iter()
                .map(|bytes| Walk::new(space, bytes, 64).benchmark(&text))
        })
        .collect()
}

/// The kernels of every walk.
pub(super) fn text() -> Arc<Text> {
    Arc::new(Text { name: "chase".into(), ptx: ptx() })
}

/// Every other walk.
pub(super) fn global(scale: Scale, target: Target) -> Vec<Benchmark> {
    let text = text();
    let mut found = vec![];
    // What the others tell suffices where time counts.
    let told = |space: &&Space| {
        space.kind != Kind::Constant && (scale == Scale::Full || !TWICE.contains(&space.name))
    };
    for space in SPACES.iter().filter(told) {
        let stride: u64 = if space.kind == Kind::Global { 128 } else { 64 };
        found.extend(
            footprints(space, scale, target)
                .into_iter()
                .map(|bytes| Walk::new(space, bytes, stride).benchmark(&text)),
        );
    }
    if scale == Scale::Small {
        // The L2 still holds some of the largest footprint. The full set sweeps elsewhere.
        // Then with more pages than a first level of TLBs has.
        let walks = [(THROUGH, 256 << 10), (PAST, 256 << 10), (THROUGH, 64 << 20)];
        let walks = walks.map(|(space, bytes)| Walk::new(space, bytes, 128).swept_past(target.l2_bytes));
        found.extend(walks.iter().map(|walk| walk.benchmark(&text)));
    }
    // By stride, in order: how long a line and a sector are, and whether anything is fetched ahead.
    let strides: &[u64] = match scale {
        Scale::Small => &[8, 32, 128],
        Scale::Full => &[8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    };
    for stride in strides {
        for (space, bytes) in [(THROUGH, 16 << 10), (THROUGH, 1 << 20), (PAST, 1 << 20)] {
            found.push(Walk::new(space, bytes, *stride).ascending().benchmark(&text));
        }
        if scale == Scale::Full {
            found.push(Walk::new(PAST, 1 << 30, *stride).ascending().benchmark(&text));
        }
    }
    found
}

/// Powers of two and what lies between.
fn footprints(space: &Space, scale: Scale, target: Target) -> Vec<u64> {
    let (most, parts): (u64, &[u64]) = match scale {
        // Enough that the L2 holds little of it.
        Scale::Small if space.kind == Kind::Global => {
            (space.most.min((4 * target.l2_bytes).next_power_of_two()), &[8, 12])
        }
        Scale::Small => (space.most, &[8]),
        Scale::Full => (space.most, &[8, 10, 12, 14]),
    };
    let least = if scale == Scale::Small { 12 } else { 10 };
    (least..=32)
        .flat_map(|power| parts.iter().map(move |part| (1u64 << power) / 8 * part))
        .filter(|bytes| *bytes <= most)
        .collect()
}

fn ptx() -> String {
    let mut text = header("7.0", "sm_70");
    text += &format!("\n.const .align 8 .b8 table[{CONSTANT_BYTES}];\n");
    text += CHAIN;
    // The same with addresses in constant memory, which only the module knows.
    text += &CHAIN
        .replace(".entry chain(", ".entry chain_table(")
        .replace("ld.param.u64 %base, [base];", "mov.u64 %base, table;");
    text += TOUCH;
    for space in SPACES {
        text += &kernel(space);
    }
    text
}

/// Writes the pointers: `at + stride * i` holds the address or, where `base` is zero, the offset of the next one.
pub(super) const CHAIN: &str = "
.visible .entry chain(.param .u64 at, .param .u64 base, .param .u32 count, .param .u64 stride, .param .u64 factor)
{
    .reg .pred %done;
    .reg .b32 %i, %n, %t, %step, %count;
    .reg .b64 %at, %base, %stride, %factor, %from, %to, %modulus;
    ld.param.u64 %at, [at];
    ld.param.u64 %base, [base];
    ld.param.u32 %count, [count];
    ld.param.u64 %stride, [stride];
    ld.param.u64 %factor, [factor];
    cvt.u64.u32 %modulus, %count;
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %t, %tid.x;
    mov.u32 %step, %nctaid.x;
    mul.lo.u32 %step, %step, %n;
    mad.lo.u32 %i, %i, %n, %t;
again:
    setp.ge.u32 %done, %i, %count;
    @%done ret;
    cvt.u64.u32 %from, %i;
    mad.lo.u64 %to, %from, %factor, 1;
    rem.u64 %to, %to, %modulus;
    mad.lo.u64 %to, %to, %stride, %base;
    mad.lo.u64 %from, %from, %stride, %at;
    st.global.u64 [%from], %to;
    add.u32 %i, %i, %step;
    bra again;
}
";

/// Reads a word of each sector, so that the L2 holds what it can.
pub(super) const TOUCH: &str = "
.visible .entry touch(.param .u64 at, .param .u64 bytes, .param .u64 out)
{
    .reg .pred %done;
    .reg .b32 %i, %n, %t, %step, %word, %sum;
    .reg .b64 %at, %bytes, %out, %from, %offset, %stride;
    ld.param.u64 %at, [at];
    ld.param.u64 %bytes, [bytes];
    ld.param.u64 %out, [out];
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %t, %tid.x;
    mov.u32 %step, %nctaid.x;
    mul.lo.u32 %step, %step, %n;
    mad.lo.u32 %i, %i, %n, %t;
    mul.wide.u32 %offset, %i, 32;
    mul.wide.u32 %stride, %step, 32;
    mov.u32 %sum, 0;
again:
    setp.ge.u64 %done, %offset, %bytes;
    @%done bra end;
    add.u64 %from, %at, %offset;
    ld.global.cg.u32 %word, [%from];
    xor.b32 %sum, %sum, %word;
    add.u64 %offset, %offset, %stride;
    bra again;
end:
    setp.ne.u32 %done, %sum, 0x7fc12345;
    @%done ret;
    st.global.u32 [%out], %sum;
    ret;
}
";

/// Follows `warm` rounds of pointers, then `rounds` of them between two clock readings.
fn kernel(space: &Space) -> String {
    let Space { name, load, kind, .. } = space;
    let name = name.replace('-', "_");
    let (declarations, setup, register) = match kind {
        Kind::Global => (String::new(), OWN.into(), "%at"),
        Kind::Shared => {
            (format!("    .shared .align 8 .b8 space[{SHARED_BYTES}];\n"), filled("shared"), "%next")
        }
        Kind::Local => (format!("    .local .align 8 .b8 space[{LOCAL_BYTES}];\n"), filled("local"), "%next"),
        Kind::Constant => (String::new(), "    mov.u64 %at, table;\n".into(), "%at"),
    };
    // Pointers in narrow spaces are offsets, of 32 bits where an address is.
    let walk = format!("    {load} {register}, [{register}];\n").repeat(UNROLLED as usize);
    let parameter = if *kind == Kind::Global { ", .param .u64 own" } else { "" };
    format!(
        "
.visible .entry walk_{name}(.param .u64 out, .param .u64 at, .param .u32 warm, .param .u32 rounds, .param .u32 count, .param .u32 stride{parameter})
{{
    .reg .pred %p;
    .reg .b32 %warm, %rounds, %count, %stride, %i, %first, %next, %word, %to;
    .reg .b64 %out, %at, %from, %start, %end;
{declarations}    ld.param.u64 %out, [out];
    ld.param.u64 %at, [at];
    ld.param.u32 %warm, [warm];
    ld.param.u32 %rounds, [rounds];
    ld.param.u32 %count, [count];
    ld.param.u32 %stride, [stride];
{setup}    setp.eq.u32 %p, %warm, 0;
    @%p bra cold;
warming:
    .pragma \"nounroll\";
{walk}    sub.u32 %warm, %warm, 1;
    setp.ne.u32 %p, %warm, 0;
    @%p bra warming;
cold:
    mov.u64 %start, %clock64;
again:
    .pragma \"nounroll\";
{walk}    sub.u32 %rounds, %rounds, 1;
    setp.ne.u32 %p, %rounds, 0;
    @%p bra again;
    setp.eq.{comparison} %p, {register}, 1;
    @%p bra end;
    mov.u64 %end, %clock64;
    st.global.u64 [%out], %start;
    st.global.u64 [%out+8], %end;
end:
    ret;
}}
",
        comparison = if register == "%at" { "u64" } else { "u32" }
    )
}

/// The CTA's threads read `own` bytes, a word of each sector, twice; then all but the first are done.
const OWN: &str = "    .reg .b64 %own, %read, %apart;
    ld.param.u64 %own, [own];
    add.u64 %own, %own, %at;
    mov.u32 %i, %tid.x;
    mov.u32 %to, %ntid.x;
    mul.wide.u32 %apart, %to, 32;
    mov.u32 %first, 2;
    mov.u32 %next, 0;
over:
    mul.wide.u32 %read, %i, 32;
    add.u64 %read, %read, %at;
    setp.ge.u64 %p, %read, %own;
    @%p bra through;
reading:
    ld.global.cg.u32 %word, [%read];
    xor.b32 %next, %next, %word;
    add.u64 %read, %read, %apart;
    setp.lt.u64 %p, %read, %own;
    @%p bra reading;
through:
    sub.u32 %first, %first, 1;
    setp.ne.u32 %p, %first, 0;
    @%p bra over;
    setp.ne.u32 %p, %next, 0x7fc12345;
    @%p bra read;
    st.global.u32 [%out], %next;
read:
    bar.sync 0;
    setp.ne.u32 %p, %i, 0;
    @%p bra end;
";

/// Copies the offsets from global memory and makes addresses of them.
fn filled(space: &str) -> String {
    format!(
        "    mov.u32 %first, space;
    mov.u32 %i, 0;
    mov.u32 %next, %first;
fill:
    ld.global.u32 %word, [%at];
    add.u32 %word, %word, %first;
    st.{space}.u32 [%next], %word;
    cvt.u64.u32 %from, %stride;
    add.u64 %at, %at, %from;
    add.u32 %next, %next, %stride;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %count;
    @%p bra fill;
    mov.u32 %next, %first;
"
    )
}

/// The buffer that pointers lie in.
const CHAIN_BUFFER: &str = "chain";
const TABLE: &str = "table";
/// What is read in order that nothing of the pointers stays in a cache.
const SWEPT: &str = "swept";
/// Bytes of it: more than any GPU's L2 has.
const SWEPT_BYTES: u64 = 512 << 20;

/// Who read the pointers before the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// The walk itself, where they are few; else every SM.
    Anyone,
    /// The SM that walks.
    Own,
    /// Whoever did has read so much else since that no cache holds them.
    Swept,
}

/// A walk.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    space: &'a Space,
    bytes: u64,
    stride: u64,
    random: bool,
    before: Before,
    shared: u32,
    /// Most pointers that the walk itself goes through before it is timed.
    few: u64,
    /// Bytes that are read so that nothing of the pointers stays in a cache.
    sweep: u64,
}

impl<'a> Walk<'a> {
    /// In random order through so many bytes, one pointer every `stride`.
    pub const fn new(space: &'a Space, bytes: u64, stride: u64) -> Self {
        Self {
            space,
            bytes,
            stride,
            random: true,
            before: Before::Anyone,
            shared: 0,
            few: 16_384,
            sweep: SWEPT_BYTES,
        }
    }

    pub const fn ascending(self) -> Self {
        Self { random: false, ..self }
    }

    /// The SM that walks has read all of it, twice.
    pub const fn own(self) -> Self {
        Self { before: Before::Own, ..self }
    }

    /// No cache holds any of it.
    pub const fn swept(self) -> Self {
        Self { before: Before::Swept, ..self }
    }

    /// No cache holds any of it, in a GPU with so large an L2.
    pub const fn swept_past(self, l2_bytes: u64) -> Self {
        Self { before: Before::Swept, sweep: 4 * l2_bytes, ..self }
    }

    /// The CTA has so much dynamic shared memory beside.
    pub const fn beside(self, shared: u32) -> Self {
        Self { shared, ..self }
    }

    /// The walk itself goes through as many as these before it is timed.
    pub const fn few(self, few: u64) -> Self {
        Self { few, ..self }
    }

    fn name(&self) -> String {
        let order = if self.random { "random" } else { "ascending" };
        let before = match self.before {
            Before::Anyone => "",
            Before::Own => "-own",
            Before::Swept => "-swept",
        };
        let shared = if self.shared == 0 { String::new() } else { format!("-beside-{}", self.shared) };
        format!("{}-{order}-{}-{}{before}{shared}", self.space.name, self.stride, self.bytes)
    }

    pub fn benchmark(&self, text: &Arc<Text>) -> Benchmark {
        let Self { space, bytes, stride, .. } = *self;
        let count = bytes / stride;
        let (order, factor) = if self.random { ("random", FACTOR) } else { ("ascending", 1) };
        assert!(!self.random || is_one_cycle(count), "{count} pointers are no single cycle");
        let factor = factor % count.max(2);
        let name = self.name();
        let mut series =
            Series::new(if space.kind == Kind::Constant { "constant" } else { "latency" }, &name, text);
        let narrow = |number: u64| u32::try_from(number).expect("at most 2^32 pointers");
        let spread = |threads: u64| Shape::new(narrow(threads.div_ceil(256).clamp(1, 1024)), 256);
        let (kernel, buffer) = match space.kind {
            Kind::Constant => {
                ("chain_table", Buffer { variable: true, ..Buffer::zeros(TABLE, CONSTANT_BYTES) })
            }
            _ => ("chain", Buffer::zeros(CHAIN_BUFFER, bytes.max(4096))),
        };
        let at = Argument::Address(buffer.name, 0);
        series.buffer(buffer);
        // In shared and local memory pointers are offsets, to which the kernel adds where its array begins.
        let base = if space.kind == Kind::Global { at } else { Argument::U64(0) };
        let numbers = [Argument::U32(narrow(count)), Argument::U64(stride), Argument::U64(factor)];
        series.launch(kernel, spread(count), 1, [at, base].into_iter().chain(numbers).collect());
        let touch = |series: &mut Series, buffer, bytes: u64| {
            let arguments =
                vec![Argument::Address(buffer, 0), Argument::U64(bytes), Argument::Address(CLOCKS, 0)];
            series.launch("touch", spread(bytes / 32), 1, arguments);
        };
        let few = count <= self.few;
        let (warm, own) = match self.before {
            // A walk through few pointers has been at each of them before it is timed.
            Before::Anyone if few => (narrow(count).div_ceil(UNROLLED), 0),
            Before::Anyone => {
                if space.kind == Kind::Global {
                    touch(&mut series, CHAIN_BUFFER, bytes);
                }
                (4, 0)
            }
            Before::Own => (4, bytes),
            Before::Swept => {
                series.buffer(Buffer::zeros(SWEPT, self.sweep));
                touch(&mut series, SWEPT, self.sweep);
                (0, 0)
            }
        };
        let kernel = format!("walk_{}", space.name.replace('-', "_"));
        let mut arguments = vec![at];
        arguments.extend([warm, ROUNDS, narrow(count), narrow(stride)].map(Argument::U32));
        if space.kind == Kind::Global {
            arguments.push(Argument::U64(own));
        }
        let threads = if own > 0 { 1024 } else { 1 };
        let shape = Shape { shared: self.shared, ..Shape::new(1, threads) };
        let span = series.clocked(&kernel, shape, (1, 1), arguments);
        let (shared, before) = (self.shared, self.before.name());
        let mut parameters: Vec<(_, &dyn std::fmt::Display)> =
            vec![("space", &space.name), ("footprint", &bytes), ("stride", &stride), ("order", &order)];
        if self.before != Before::Anyone {
            parameters.push(("read_before_by", &before));
        }
        if shared > 0 {
            parameters.push(("shared_bytes", &shared));
        }
        let quantity = quantity("load latency", "cycles", Reading::CyclesPerWork);
        series.figure(&name, &parameters, quantity, f64::from(ROUNDS * UNROLLED), None, span);
        series.done()
    }
}

impl Before {
    const fn name(self) -> &'static str {
        match self {
            Self::Anyone => "anyone",
            Self::Own => "its SM",
            Self::Swept => "none",
        }
    }
}
