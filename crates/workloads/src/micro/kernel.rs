//! Text of kernels that measure themselves.

use std::fmt::Write as _;

/// How a module begins.
#[must_use]
pub fn header(version: &str, target: &str) -> String {
    format!(".version {version}\n.target {target}\n.address_size 64\n")
}

/// A kernel that runs its body `rounds` times between two clock readings.
///
/// It does so twice and keeps the readings of the second time, when instructions are in their caches. Parameters are
/// `out`, where each warp's pair of readings goes; `at`, memory; `rounds`; and two numbers `p` and `q`, which are registers
/// `%p` and `%q`. Registers `%thread`, `%lane`, `%warp`, `%cta` and `%at` hold what their names say, `%loaded` a word of
/// memory (zero, but the assembler cannot know).
#[derive(Clone, Debug, Default)]
pub struct Timed<'a> {
    /// The entry's name.
    pub name: String,
    /// Directives between parameters and body, such as a cluster's shape.
    pub directives: &'a str,
    /// Declarations of registers and shared memory.
    pub declarations: String,
    /// What comes once, before everything.
    pub setup: String,
    /// What comes before each of the two times, untimed.
    pub before: String,
    /// What is measured.
    pub body: String,
    /// What comes after the rounds and is measured, once.
    pub drain: String,
    /// What comes at the very end.
    pub finish: String,
    /// A register of 32 bits that the body's results have gone to, so that nothing of it is idle.
    pub sink: &'a str,
}

impl Timed<'_> {
    /// The kernel's text.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { name, directives, declarations, setup, before, body, drain, finish, sink } = self;
        let mut text = String::new();
        write!(
            text,
            "
.visible .entry {name}(.param .u64 out, .param .u64 at, .param .u32 rounds, .param .u32 p, .param .u32 q)
{directives}{{
    .reg .pred %again, %pass, %kept, %leads;
    .reg .b32 %thread, %lane, %warp, %warps, %cta, %left, %passes, %rounds, %p, %q, %loaded, %sunk;
    .reg .b64 %out, %at, %start, %end, %wide;
{declarations}
    ld.param.u64 %out, [out];
    ld.param.u64 %at, [at];
    ld.param.u32 %rounds, [rounds];
    ld.param.u32 %p, [p];
    ld.param.u32 %q, [q];
    mov.u32 %thread, %tid.x;
    and.b32 %lane, %thread, 31;
    shr.u32 %warp, %thread, 5;
    mov.u32 %cta, %ctaid.x;
    mul.wide.u32 %wide, %thread, 4;
    add.u64 %wide, %wide, %at;
    ld.global.u32 %loaded, [%wide];
{setup}
    mov.u32 %passes, 2;
pass:
    .pragma \"nounroll\";
{before}
    bar.sync 0;
    mov.u32 %left, %rounds;
    mov.u64 %start, %clock64;
again:
    .pragma \"nounroll\";
{body}
    sub.u32 %left, %left, 1;
    setp.ne.u32 %again, %left, 0;
    @%again bra again;
{drain}
    mov.b32 %sunk, {sink};
    setp.eq.u32 %kept, %sunk, 0x7fc12345;
    @%kept bra keep;
kept:
    mov.u64 %end, %clock64;
    bar.sync 0;
    sub.u32 %passes, %passes, 1;
    setp.ne.u32 %pass, %passes, 0;
    @%pass bra pass;
{finish}
    setp.ne.u32 %leads, %lane, 0;
    @%leads ret;
    mov.u32 %warps, %ntid.x;
    add.u32 %warps, %warps, 31;
    shr.u32 %warps, %warps, 5;
    mad.lo.u32 %warp, %cta, %warps, %warp;
    mul.wide.u32 %wide, %warp, 16;
    add.u64 %out, %out, %wide;
    st.global.u64 [%out], %start;
    st.global.u64 [%out+8], %end;
    ret;
keep:
    st.global.u32 [%out], %sunk;
    bra kept;
}}
"
        )
        .expect("a string takes all");
        text.lines().filter(|line| !line.is_empty()).fold(String::new(), |text, line| text + line + "\n")
    }
}

/// Lines of a body, `times` over; `line` gives the lines of one of them.
pub fn repeated(times: usize, line: impl Fn(usize) -> String) -> String {
    (0..times).map(line).fold(String::new(), |text, line| text + "    " + line.trim() + "\n")
}
