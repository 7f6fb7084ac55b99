//! A random program as PTX.

use std::fmt::Write;

use super::program::{Phase, Program, REGS, Stmt};

/// Words of the input buffer: a power of two.
pub const INPUT_WORDS: u32 = 4096;
/// Bytes of the counters in global memory: four for each operation, then tickets and their sums.
pub const COUNTER_BYTES: u32 = TICKETS + 128;
/// Where the tickets begin.
const TICKETS: u32 = 96;
/// Width in bytes of a thread's place in each output region.
pub const REGION_WIDTHS: [u32; 9] = [1, 2, 4, 8, 4, 1, 2, 4, 16];

const ALU: &[&str] = &[
    "add.u32",
    "sub.u32",
    "mul.lo.u32",
    "mul.hi.u32",
    "mul.hi.s32",
    "and.b32",
    "or.b32",
    "xor.b32",
    "min.u32",
    "max.s32",
    "shl.b32",
    "shr.u32",
    "shr.s32",
    "add.sat.s32",
    "div.u32",
    "rem.u32",
    "min.s32",
];
const CMP: &[&str] = &["lt.u32", "ge.s32", "eq.u32", "ne.u32", "gt.u32", "le.s32"];
const COUNT: &[&str] = &["add.u32", "xor.b32", "or.b32", "max.u32", "and.b32", "min.s32"];

/// Bytes of the output buffer for a number of threads.
pub fn output_bytes(threads: u32) -> u32 {
    region_start(REGION_WIDTHS.len(), threads) + threads * u32::from(REGS) * 4
}

fn region_start(region: usize, threads: u32) -> u32 {
    // Regions follow each other without a gap, so that lines hold several of them.
    let widths: u32 = REGION_WIDTHS[..region].iter().sum();
    // Widest alignment first would need no rounding; 8 covers every width.
    widths * threads.next_multiple_of(8)
}

/// The text of a program.
pub fn text(program: &Program) -> String {
    let mut writer = Writer {
        text: String::new(),
        labels: 0,
        depth: 0,
        threads: program.block * program.grid,
        left: false,
    };
    writer.prologue();
    for phase in &program.phases {
        writer.phase(phase, program.block);
    }
    writer.epilogue();
    writer.text
}

struct Writer {
    text: String,
    labels: u32,
    depth: u32,
    threads: u32,
    /// Whether threads have left the program.
    left: bool,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn prologue(&mut self) {
        self.line(
            ".version 7.0\n.target sm_70\n.address_size 64\n\
             .func (.param .b32 out) mix(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %x<4>;\n.reg .pred %q;\n\
             ld.param.u32 %x0, [a];\nld.param.u32 %x1, [b];\nsetp.lt.u32 %q, %x0, %x1;\n@%q bra SMALL;\n\
             shl.b32 %x2, %x0, 3;\nadd.u32 %x2, %x2, %x1;\nst.param.b32 [out], %x2;\nret;\nSMALL:\n\
             xor.b32 %x3, %x0, %x1;\nst.param.b32 [out], %x3;\nret;\n}\n\
             .func (.param .b32 out) walk(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %x<5>;\n.reg .b64 %y<2>;\n\
             .reg .pred %q;\n.local .align 4 .b8 path[32];\n\
             ld.param.u32 %x0, [a];\nld.param.u32 %x1, [b];\nand.b32 %x2, %x0, 7;\nmov.u32 %x4, 0;\nSTEP:\n\
             mul.wide.u32 %y0, %x4, 4;\nmov.u64 %y1, path;\nadd.u64 %y1, %y1, %y0;\nst.local.u32 [%y1], %x1;\n\
             mad.lo.u32 %x1, %x1, 5, %x0;\nsetp.ge.u32 %q, %x4, %x2;\nadd.u32 %x4, %x4, 1;\n@!%q bra STEP;\n\
             ld.local.u32 %x3, [path];\nxor.b32 %x1, %x1, %x3;\nst.param.b32 [out], %x1;\nret;\n}\n\
             .visible .entry random(.param .u64 out, .param .u64 in, .param .u64 counters, .param .u32 shift)\n{\n\
             .reg .b32 %a<8>;\n.reg .b32 %n<9>;\n.reg .b32 %t<8>;\n.reg .b32 %z<24>;\n.reg .b16 %h<4>;\n.reg .b64 %d<12>;\n\
             .reg .f32 %f<4>;\n.reg .f64 %g<4>;\n.reg .pred %p<4>;\n\
             .shared .align 4 .b8 exchange[512];\n.shared .align 4 .b8 counts[24];\n.shared .align 4 .b8 tickets[8];\n.local .align 8 .b8 own[64];\n\
             ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nld.param.u64 %d2, [counters];\n\
             mov.u32 %n0, %tid.x;\nmov.u32 %n2, %nctaid.x;\nmov.u32 %n1, %ctaid.x;\nld.param.u32 %n3, [shift];\nadd.u32 %n1, %n1, %n3;\nrem.u32 %n1, %n1, %n2;\nmov.u32 %n2, %ntid.x;\nmad.lo.u32 %n3, %n1, %n2, %n0;\n\
             mul.wide.u32 %d3, %n3, 32;\nadd.u64 %d3, %d3, %d1;\n\
             ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%d3];\nld.global.v4.u32 {%a4, %a5, %a6, %a7}, [%d3+16];",
        );
        for word in 0..16 {
            self.line(&format!("st.local.u32 [own+{}], %a{};", 4 * word, word % 8));
        }
        self.line(
            "setp.lt.u32 %p0, %n0, 6;\nmov.u32 %t0, counts;\nmul.lo.u32 %t1, %n0, 4;\nadd.u32 %t0, %t0, %t1;\n\
             @%p0 st.shared.u32 [%t0], 0;\nsetp.lt.u32 %p0, %n0, 2;\nmov.u32 %t0, tickets;\n\
             add.u32 %t0, %t0, %t1;\n@%p0 st.shared.u32 [%t0], 0;\nmov.u32 %t0, exchange;\n\
             add.u32 %t0, %t0, %t1;\nst.shared.u32 [%t0], %a0;\nbar.sync 0;",
        );
    }

    /// `%d4` = the place of thread `%n{thread}` in a region.
    fn place(&mut self, region: u8, thread: u8) {
        let region = usize::from(region) % REGION_WIDTHS.len();
        self.line(&format!(
            "mul.wide.u32 %d4, %n{thread}, {};\nadd.u64 %d4, %d4, %d0;\nadd.u64 %d4, %d4, {};",
            REGION_WIDTHS[region],
            region_start(region, self.threads)
        ));
    }

    fn store(&mut self, region: u8, value: u8, how: usize) {
        self.place(region, 3);
        let st = [
            "st.global",
            "st",
            "st.volatile.global",
            "st.global.cg",
            "st.global.wt",
            "st.relaxed.gpu.global",
        ];
        let st = st[how % st.len()];
        let [b, c, d] = [1, 2, 3].map(|next| (value + next) % REGS);
        match REGION_WIDTHS[usize::from(region) % REGION_WIDTHS.len()] {
            1 => self.line(&format!("{st}.u8 [%d4], %a{value};")),
            2 => self.line(&format!("cvt.u16.u32 %h0, %a{value};\n{st}.u16 [%d4], %h0;")),
            4 => self.line(&format!("{st}.u32 [%d4], %a{value};")),
            8 if how.is_multiple_of(2) => {
                self.line(&format!("mov.b64 %d5, {{%a{value}, %a{b}}};\n{st}.u64 [%d4], %d5;"));
            }
            8 => self.line(&format!("{st}.v2.u32 [%d4], {{%a{value}, %a{b}}};")),
            // Strong operations on vectors are not in the instruction set.
            _ => self.line(&format!("st.global.v4.u32 [%d4], {{%a{value}, %a{b}, %a{c}, %a{d}}};")),
        }
    }

    fn load(&mut self, region: u8, thread: u8, d: u8, how: usize) {
        self.place(region, thread);
        let ld = [
            "ld.global",
            "ld",
            "ld.volatile.global",
            "ld.global.cg",
            "ld.global.cv",
            "ld.relaxed.gpu.global",
        ];
        let ld = ld[how % ld.len()];
        let next = (d + 1) % REGS;
        match REGION_WIDTHS[usize::from(region) % REGION_WIDTHS.len()] {
            1 => self.line(&format!("{ld}.s8 %a{d}, [%d4];")),
            2 => self.line(&format!("{ld}.u16 %h0, [%d4];\ncvt.s32.s16 %a{d}, %h0;")),
            4 => self.line(&format!("{ld}.u32 %a{d}, [%d4];")),
            8 => self.line(&format!("{ld}.u64 %d5, [%d4];\nshr.u64 %d6, %d5, 20;\ncvt.u32.u64 %a{d}, %d6;")),
            _ if how.is_multiple_of(2) => self.line(&format!(
                "ld.global.v4.u32 {{%a{d}, %a{next}, %t0, %t1}}, [%d4];\nsub.u32 %a{d}, %a{d}, %t1;"
            )),
            _ => self.line(&format!(
                "ld.global.v2.u64 {{%d5, %d6}}, [%d4];\nmul.hi.u64 %d5, %d5, %d6;\ncvt.u32.u64 %a{d}, %d5;"
            )),
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Alu { op, d, a, b } => self.alu(*op, *d, *a, *b),
            Stmt::Float { op, d, a, b } => {
                let op =
                    ["add.f32", "mul.rn.f32", "sub.ftz.f32", "min.f32", "div.rn.f32", "add.rz.f32"][op % 6];
                self.line(&format!(
                    "cvt.rn.f32.s32 %f0, %a{a};\ncvt.rz.f32.u32 %f1, %a{b};\n{op} %f2, %f0, %f1;\n\
                     fma.rn.f32 %f3, %f2, %f0, %f1;\ncvt.rzi.s32.f32 %t0, %f2;\nmov.b32 %t1, %f3;\n\
                     xor.b32 %a{d}, %t0, %t1;"
                ));
            }
            Stmt::Wide { op, d, a, b } => {
                self.line(&format!("mul.wide.u32 %d5, %a{a}, %a{b};\ncvt.s64.s32 %d6, %a{b};"));
                let op = ["add.s64", "sub.s64", "mul.lo.s64", "xor.b64", "max.u64", "min.s64"][op % 6];
                self.line(&format!(
                    "{op} %d5, %d5, %d6;\nmov.b64 {{%t0, %t1}}, %d5;\nadd.u32 %a{d}, %t0, %t1;"
                ));
            }
            Stmt::If { cmp, a, b, then, other } => {
                let (other_side, end) = (self.label(), self.label());
                self.compare(*cmp, *a, *b);
                self.line(&format!("@!%p1 bra L{other_side};"));
                self.block(then);
                self.line(&format!("bra L{end};\nL{other_side}:"));
                self.block(other);
                self.line(&format!("L{end}:"));
            }
            Stmt::Loop { count, body, leave, rest } => {
                let (head, end) = (self.label(), self.label());
                // The recursion is at most 4 deep: a counter for each depth.
                let counter = 4 + self.depth.min(4);
                self.line(&format!("and.b32 %n{counter}, %a{count}, 3;\nL{head}:"));
                self.line(&format!("setp.eq.u32 %p2, %n{counter}, 0;\n@%p2 bra L{end};"));
                self.line(&format!("sub.u32 %n{counter}, %n{counter}, 1;"));
                self.depth += 1;
                self.block(body);
                if let Some((register, bit)) = leave {
                    self.line(&format!(
                        "shr.u32 %t0, %a{register}, {bit};\nand.b32 %t0, %t0, 1;\nsetp.ne.u32 %p2, %t0, 0;\n\
                         @%p2 bra L{end};"
                    ));
                }
                self.block(rest);
                self.depth -= 1;
                self.line(&format!("bra L{head};\nL{end}:"));
            }
            Stmt::Guarded { cmp, a, b, d, value } => {
                self.compare(*cmp, *a, *b);
                self.line(&format!("@%p1 add.u32 %a{d}, %a{value}, 13;"));
            }
            Stmt::Store { region, value, how } => self.store(*region, *value, *how),
            Stmt::Load { region, d, how } => self.load(*region, 3, *d, *how),
            Stmt::Gather { index, d, how } => {
                self.input_place(*index);
                let next = (d + 1) % REGS;
                match how % 6 {
                    0 => self.line(&format!("ld.global.nc.u32 %a{d}, [%d5];")),
                    1 => self.line(&format!("ld.global.ca.v2.u32 {{%a{d}, %a{next}}}, [%d5];")),
                    2 => self.line(&format!("ld.global.cs.s8 %a{d}, [%d5+3];")),
                    3 => self.line(&format!("ld.global.lu.u16 %h0, [%d5+2];\ncvt.u32.u16 %a{d}, %h0;")),
                    4 => self.line(&format!("ld.f64 %g0, [%d5];\nmov.b64 {{%a{d}, %a{next}}}, %g0;")),
                    _ => self.line(&format!("ld.global.u32 %a{d}, [%d5];")),
                }
            }
            Stmt::Pressure { index, d } => {
                self.input_place(*index);
                for word in (0..24).step_by(2) {
                    self.line(&format!("ld.global.v2.u32 {{%z{word}, %z{}}}, [%d5+{}];", word + 1, 4 * word));
                }
                for word in 0..24 {
                    self.line(&format!("mad.lo.u32 %a{d}, %a{d}, %z{word}, %z{};", (word * 7 + 5) % 24));
                }
                for word in (0..24).rev() {
                    self.line(&format!("xor.b32 %a{d}, %a{d}, %z{word};\nadd.u32 %a{d}, %a{d}, 77;"));
                }
            }
            Stmt::Ticket { shared: true, how, .. } => {
                let op =
                    ["atom.shared.add.u32 %t0, [tickets], 1;", "atom.shared.inc.u32 %t0, [tickets+4], 9;"];
                self.line(op[how % 2]);
                self.line(&format!(
                    "red.global.add.u32 [%d2+{}], %t0;",
                    TICKETS + 64 + 4 * (*how as u32 % 2)
                ));
            }
            Stmt::Ticket { shared: false, index, how } => {
                // Old values of these depend on the order, their sum does not: each starts at a fixed value.
                self.line(&format!(
                    "and.b32 %t0, %a{index}, 1;\nmul.wide.u32 %d5, %t0, 32;\nadd.u64 %d5, %d5, %d2;"
                ));
                match how % 4 {
                    0 => self.line(&format!("atom.global.add.u32 %t1, [%d5+{TICKETS}], 1;")),
                    1 => self.line(&format!("atom.inc.u32 %t1, [%d5+{}], 9;", TICKETS + 4)),
                    2 => self.line(&format!(
                        "atom.global.add.u64 %d6, [%d5+{}], 0x80000001;\ncvt.u32.u64 %t1, %d6;",
                        TICKETS + 8
                    )),
                    _ => self.line(&format!("atom.global.dec.u32 %t1, [%d5+{}], 5;", TICKETS + 16)),
                }
                self.line(&format!(
                    "red.global.add.u32 [%d2+{}], %t1;",
                    TICKETS + 72 + 4 * (*how as u32 % 4)
                ));
            }
            Stmt::Count { counter, index, value } => {
                let op = counter % COUNT.len();
                self.line(&format!(
                    "and.b32 %t0, %a{index}, 3;\nmul.wide.u32 %d5, %t0, 4;\nadd.u64 %d5, %d5, %d2;\n\
                     red.global.{} [%d5+{}], %a{value};",
                    COUNT[op],
                    16 * op
                ));
            }
            Stmt::CountShared { counter, value } => {
                let op = counter % COUNT.len();
                self.line(&format!("red.shared.{} [counts+{}], %a{value};", COUNT[op], 4 * op));
            }
            Stmt::Local { store, index, value } => {
                self.line(&format!(
                    "and.b32 %t0, %a{index}, 15;\nmul.wide.u32 %d5, %t0, 4;\nmov.u64 %d6, own;\nadd.u64 %d6, %d6, %d5;"
                ));
                if *store {
                    self.line(&format!("st.local.u32 [%d6], %a{value};"));
                } else {
                    self.line(&format!("cvta.local.u64 %d7, %d6;\nld.u32 %a{value}, [%d7];"));
                }
            }
            Stmt::Double { op, d, a, b } => {
                let op = [
                    "add.f64 %g2, %g0, %g1;",
                    "mul.rn.f64 %g2, %g0, %g1;",
                    "fma.rn.f64 %g2, %g0, %g1, %g0;",
                    "div.rn.f64 %g2, %g0, %g1;",
                    "max.f64 %g2, %g0, %g1;",
                    "sqrt.rn.f64 %g2, %g1;",
                    "sub.rm.f64 %g2, %g0, %g1;",
                ][op % 7];
                self.line(&format!(
                    "cvt.rn.f64.s32 %g0, %a{a};\nmov.b32 %f0, %a{b};\ncvt.f64.f32 %g1, %f0;\n{op}\n\
                     cvt.rni.s32.f64 %t0, %g2;\ncvt.rn.f32.f64 %f1, %g2;\nmov.b32 %t1, %f1;\nadd.u32 %a{d}, %t0, %t1;"
                ));
            }
            Stmt::Narrow { op, d, a, b } => {
                let op = [
                    "add.s16 %h2, %h0, %h1;",
                    "mul.lo.u16 %h2, %h0, %h1;",
                    "sub.u16 %h2, %h0, %h1;",
                    "min.s16 %h2, %h0, %h1;",
                    "shr.s16 %h2, %h0, 3;",
                    "xor.b16 %h2, %h0, %h1;",
                    "mul.hi.s16 %h2, %h0, %h1;",
                    "max.u16 %h2, %h0, %h1;",
                ][op % 8];
                self.line(&format!(
                    "cvt.u16.u32 %h0, %a{a};\ncvt.s16.s8 %h1, %a{b};\n{op}\ncvt.s32.s16 %t0, %h2;\n\
                     mul.wide.s16 %t1, %h2, %h0;\ncvt.u32.u8 %t2, %t1;\nmad.lo.u32 %a{d}, %t0, 257, %t2;"
                ));
            }
            Stmt::Call { which, d, a, b } => self.line(&format!(
                "{{\n.param .b32 pa;\n.param .b32 pb;\n.param .b32 po;\nst.param.b32 [pa], %a{a};\n\
                 st.param.b32 [pb], %a{b};\ncall (po), {}, (pa, pb);\nld.param.b32 %a{d}, [po];\n}}",
                ["mix", "walk"][which % 2]
            )),
            Stmt::Select { cmp, d, a, b } => {
                self.compare(*cmp, *a, *b);
                self.line(&format!("selp.b32 %a{d}, %a{a}, %a{b}, %p1;"));
            }
        }
    }

    fn alu(&mut self, op: usize, d: u8, a: u8, b: u8) {
        let extra = ALU.len();
        match op % (extra + 6) {
            0..=16 => self.line(&format!("{} %a{d}, %a{a}, %a{b};", ALU[op % (extra + 6)])),
            17 => self.line(&format!("mad.lo.u32 %a{d}, %a{a}, %a{b}, %a{d};")),
            18 => self.line(&format!("popc.b32 %t0, %a{a};\nclz.b32 %t1, %a{b};\nadd.u32 %a{d}, %t0, %t1;")),
            19 => self.line(&format!("prmt.b32 %a{d}, %a{a}, %a{b}, 0x5140;")),
            20 => self.line(&format!("bfe.s32 %a{d}, %a{a}, 5, 11;\nbrev.b32 %a{d}, %a{d};")),
            21 => self.line(&format!("bfi.b32 %a{d}, %a{a}, %a{b}, 7, 9;")),
            _ => self.line(&format!("shf.l.wrap.b32 %a{d}, %a{a}, %a{b}, 9;")),
        }
    }

    fn compare(&mut self, cmp: usize, a: u8, b: u8) {
        self.line(&format!("setp.{} %p1, %a{a}, %a{b};", CMP[cmp % CMP.len()]));
    }

    fn block(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn phase(&mut self, phase: &Phase, block: u32) {
        match phase {
            Phase::Code(statements) => self.block(statements),
            Phase::ExchangeShared { value, d, distance } => {
                self.other_thread(*distance, block);
                self.line(&format!(
                    "mov.u32 %t2, exchange;\nmad.lo.u32 %t3, %n0, 4, %t2;\nmad.lo.u32 %t4, %t0, 4, %t2;\n\
                     st.shared.u32 [%t3], %a{value};\nbar.sync 0;\nld.shared.u32 %a{d}, [%t4];\nbar.sync 0;"
                ));
            }
            Phase::ExchangeGlobal { region, value, d, distance } => {
                self.store(*region, *value, 0);
                self.line("bar.sync 0;");
                self.other_thread(*distance, block);
                self.line("mad.lo.u32 %n8, %n1, %n2, %t0;");
                self.load(*region, 8, *d, 1);
                self.line("bar.sync 0;");
            }
            Phase::Shuffle { kind, d, a, lane } => {
                let kind = ["idx", "up", "down", "bfly"][kind % 4];
                let clamp = if kind == "up" { 0 } else { 31 };
                let source = match kind {
                    "idx" => format!("mov.u32 %t2, {lane};"),
                    "up" => format!("sub.u32 %t2, %t2, {lane};\nand.b32 %t2, %t2, 31;"),
                    "down" => format!("add.u32 %t2, %t2, {lane};\nand.b32 %t2, %t2, 31;"),
                    _ => format!("xor.b32 %t2, %t2, {lane};"),
                };
                // What a lane gets from one that is not active is undefined.
                self.line(&format!(
                    "activemask.b32 %t0;\nshfl.sync.{kind}.b32 %t1|%p1, %a{a}, {lane}, {clamp}, %t0;\n\
                     mov.u32 %t2, %laneid;\n{source}\nshr.u32 %t2, %t0, %t2;\nand.b32 %t2, %t2, 1;\n\
                     setp.eq.u32 %p2, %t2, 0;\nselp.b32 %t1, 7, %t1, %p2;\nselp.b32 %a{d}, %t1, 7, %p1;"
                ));
            }
            Phase::Vote { kind, d, a } => {
                self.line(&format!("activemask.b32 %t0;\nsetp.lt.s32 %p1, %a{a}, 0;"));
                match kind % 3 {
                    0 => self.line(&format!("vote.sync.ballot.b32 %a{d}, %p1, %t0;")),
                    1 => self.line(&format!("vote.sync.any.pred %p2, %p1, %t0;\nselp.b32 %a{d}, 1, 2, %p2;")),
                    _ => self.line(&format!("match.any.sync.b32 %a{d}, %a{a}, %t0;")),
                }
            }
            Phase::BarrierReduce { d, a } => {
                self.line(&format!("setp.lt.s32 %p1, %a{a}, 0;\nbar.red.popc.u32 %a{d}, 1, %p1;"))
            }
            Phase::Fence { scope } => {
                let fences =
                    ["membar.cta;", "membar.gl;", "fence.sc.gpu;", "fence.acq_rel.cta;", "membar.sys;"];
                self.line(fences[scope % fences.len()]);
            }
            // Threads that have left are not counted by a barrier that says how many it wants.
            Phase::NamedBarrier { warps, value, d } if !self.left && block >= 32 => {
                let threads = 32 * (*warps).min(block / 32);
                let end = self.label();
                self.line(&format!(
                    "setp.ge.u32 %p1, %n0, {threads};\n@%p1 bra L{end};\nmov.u32 %t2, exchange;\n\
                     mad.lo.u32 %t3, %n0, 4, %t2;\nsub.u32 %t4, {last}, %n0;\nmad.lo.u32 %t4, %t4, 4, %t2;\n\
                     st.shared.u32 [%t3], %a{value};\nbar.sync 3, {threads};\ncvt.u64.u32 %d5, %t4;\n\
                     cvta.shared.u64 %d5, %d5;\nld.u32 %a{d}, [%d5];\nL{end}:\nbar.sync 0;",
                    last = threads - 1
                ));
            }
            Phase::NamedBarrier { .. } => {}
            Phase::WarpBarrier { value, d, distance } => self.line(&format!(
                "mov.u32 %t2, exchange;\nmad.lo.u32 %t3, %n0, 4, %t2;\nxor.b32 %t4, %n0, {distance};\n\
                 min.u32 %t4, %t4, {last};\nmad.lo.u32 %t4, %t4, 4, %t2;\nactivemask.b32 %t0;\n\
                 st.shared.u32 [%t3], %a{value};\nbar.warp.sync %t0;\nld.shared.u32 %a{d}, [%t4];\n\
                 bar.warp.sync %t0;",
                last = block - 1
            )),
            Phase::Arrive { value, d } if !self.left && block >= 64 => {
                let (second, end) = (self.label(), self.label());
                self.line(&format!(
                    "mov.u32 %t2, exchange;\nmad.lo.u32 %t3, %n0, 4, %t2;\nsetp.ge.u32 %p1, %n0, 64;\n\
                     @%p1 bra L{end};\nsetp.ge.u32 %p1, %n0, 32;\n@%p1 bra L{second};\n\
                     st.volatile.shared.u32 [%t3], %a{value};\nbar.arrive 5, 64;\nbra L{end};\n\
                     L{second}:\nbar.sync 5, 64;\nld.volatile.shared.u32 %a{d}, [%t3+-128];\nL{end}:\nbar.sync 0;"
                ));
            }
            Phase::Arrive { .. } => {}
            Phase::Leave { warp, a } => {
                self.left = true;
                // A barrier first: others may read what those who leave have written.
                self.line("bar.sync 0;");
                match warp {
                    Some(warp) => {
                        self.line(&format!("shr.u32 %t0, %n0, 5;\nsetp.eq.u32 %p1, %t0, {warp};\n@%p1 ret;"))
                    }
                    None => {
                        self.line(&format!("and.b32 %t0, %a{a}, 7;\nsetp.eq.u32 %p1, %t0, 3;\n@%p1 exit;"))
                    }
                }
            }
        }
    }

    /// `%d5` = the place of a random word of the input, with at least 24 words from there on.
    fn input_place(&mut self, index: u8) {
        let mask = (INPUT_WORDS - 1) & !31;
        self.line(&format!(
            "and.b32 %t0, %a{index}, {mask};\nshr.u32 %t1, %a{index}, 20;\nand.b32 %t1, %t1, 6;\n\
             or.b32 %t0, %t0, %t1;\nmul.wide.u32 %d5, %t0, 4;\nadd.u64 %d5, %d5, %d1;"
        ));
    }

    /// `%t0` = the thread `distance` further on in the CTA.
    fn other_thread(&mut self, distance: u8, block: u32) {
        self.line(&format!("add.u32 %t0, %n0, {distance};\nrem.u32 %t0, %t0, {block};"));
    }

    fn epilogue(&mut self) {
        let start = region_start(REGION_WIDTHS.len(), self.threads);
        self.line(&format!("mul.wide.u32 %d4, %n3, 32;\nadd.u64 %d4, %d4, %d0;\nadd.u64 %d4, %d4, {start};"));
        for register in 0..REGS {
            writeln!(self.text, "st.global.u32 [%d4+{}], %a{register};", 4 * register)
                .expect("a string grows");
        }
        // What the CTAs counted in shared memory goes through the same operations into global counters.
        self.line("bar.sync 0;\nsetp.ne.u32 %p0, %n0, 0;\n@%p0 bra END;");
        for (op, name) in COUNT.iter().enumerate() {
            self.line(&format!(
                "ld.shared.u32 %t0, [counts+{}];\nred.global.{name} [%d2+{}], %t0;",
                4 * op,
                16 * op
            ));
        }
        self.line("END:\nret;\n}");
    }
}
