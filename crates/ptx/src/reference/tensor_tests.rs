//! Matrix instructions, copies and barriers in shared memory, and the wide accesses, as kernels.

use half::{bf16, f16};

use super::testing::Session;

const HEAD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";
const REGISTERS: &str = ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b128 %q<4>; \
                         .reg .f32 %f<32>; .reg .f64 %d<32>;\n";

/// A kernel `k` with these parameters of 64 bits.
fn kernel(params: &[&str], body: &str) -> Session {
    let list: Vec<String> = params.iter().map(|name| format!(".param .u64 {name}")).collect();
    let loads: String =
        params.iter().enumerate().map(|(n, name)| format!("ld.param.u64 %rd{n}, [{name}];\n")).collect();
    Session::new(&format!(
        "{HEAD}.visible .entry k({}) {{\n{REGISTERS}{loads}{body}\nret;\n}}\n",
        list.join(", ")
    ))
}

/// A type of matrix elements in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    F16,
    Bf16,
    Tf32,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
    F32,
    S32,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::F16 => "f16",
            Kind::Bf16 => "bf16",
            Kind::Tf32 => "tf32",
            Kind::F64 => "f64",
            Kind::S8 => "s8",
            Kind::U8 => "u8",
            Kind::S4 => "s4",
            Kind::U4 => "u4",
            Kind::B1 => "b1",
            Kind::F32 => "f32",
            Kind::S32 => "s32",
        }
    }

    fn bits(self) -> usize {
        match self {
            Kind::F64 => 64,
            Kind::Tf32 | Kind::F32 | Kind::S32 => 32,
            Kind::F16 | Kind::Bf16 => 16,
            Kind::S8 | Kind::U8 => 8,
            Kind::S4 | Kind::U4 => 4,
            Kind::B1 => 1,
        }
    }

    /// A number of the type for a place.
    fn number(self, place: usize) -> i64 {
        let number = ((place * 2_654_435_761) >> 9) as i64;
        match self {
            Kind::B1 => number & 1,
            Kind::U4 | Kind::U8 => number & 15,
            _ => (number & 15) - 8,
        }
    }

    fn encode(self, number: i64) -> u64 {
        match self {
            Kind::F16 => f16::from_f64(number as f64).to_bits().into(),
            Kind::Bf16 => bf16::from_f64(number as f64).to_bits().into(),
            Kind::Tf32 | Kind::F32 => (number as f32).to_bits().into(),
            Kind::F64 => (number as f64).to_bits(),
            _ => number as u64 & (u64::MAX >> (64 - self.bits())),
        }
    }

    /// The registers of eight 32-bit, or of double, that a fragment needs by the ISA's table for `wmma`.
    fn list(self, first: usize, count: usize) -> String {
        let letter = match self {
            Kind::F32 => 'f',
            Kind::F64 => 'd',
            _ => 'r',
        };
        let names: Vec<String> = (first..first + count).map(|n| format!("%{letter}{n}")).collect();
        format!("{{{}}}", names.join(", "))
    }
}

/// A matrix in memory: `lines` lines of `length` elements, `stride` elements apart.
struct Matrix {
    kind: Kind,
    by_rows: bool,
    rows: usize,
    columns: usize,
    stride: usize,
}

impl Matrix {
    fn place(&self, row: usize, column: usize) -> usize {
        if self.by_rows { row * self.stride + column } else { column * self.stride + row }
    }

    fn words(&self) -> usize {
        let lines = if self.by_rows { self.rows } else { self.columns };
        (lines * self.stride * self.kind.bits()).div_ceil(32)
    }

    fn write(&self, words: &mut [u32], row: usize, column: usize, value: u64) {
        let bits = self.kind.bits();
        let at = self.place(row, column) * bits;
        words[at / 32] |= (value << (at % 32)) as u32;
        if bits == 64 {
            words[at / 32 + 1] |= (value >> 32) as u32;
        }
    }

    fn read(&self, words: &[u32], row: usize, column: usize) -> u64 {
        let bits = self.kind.bits();
        let at = self.place(row, column) * bits;
        if bits == 64 {
            return u64::from(words[at / 32 + 1]) << 32 | u64::from(words[at / 32]);
        }
        u64::from(words[at / 32]) >> (at % 32) & (u64::MAX >> (64 - bits))
    }

    fn layout(&self) -> &'static str {
        if self.by_rows { "row" } else { "col" }
    }
}

/// One `wmma` of a shape: fragments in registers as many as the ISA says, A and B by rows or not, C, D likewise.
struct Case {
    shape: (usize, usize, usize),
    kinds: (Kind, Kind, Kind),
    /// Registers of A, B, and of C and D.
    registers: (usize, usize, usize),
    layouts: [bool; 4],
    /// Whether strides are given, in registers, and longer than lines.
    strided: bool,
}

fn check(case: &Case) {
    let (m, n, k) = case.shape;
    let (a_kind, b_kind, c_kind) = case.kinds;
    let stride = |by_rows: bool, rows: usize, columns: usize, kind: Kind| {
        let line = if by_rows { columns } else { rows };
        // A multiple of 16 bytes.
        if case.strided { line + 128 / kind.bits() * 3 } else { line }
    };
    let matrix = |kind: Kind, by_rows: bool, rows: usize, columns: usize| Matrix {
        kind,
        by_rows,
        rows,
        columns,
        stride: stride(by_rows, rows, columns, kind),
    };
    let [a_rows, b_rows, c_rows, d_rows] = case.layouts;
    let a = matrix(a_kind, a_rows, m, k);
    let b = matrix(b_kind, b_rows, k, n);
    let c = matrix(c_kind, c_rows, m, n);
    let d = matrix(c_kind, d_rows, m, n);
    let name = format!("m{m}n{n}k{k}");
    let given = |matrix: &Matrix, register: usize| match case.strided {
        true => (format!("mov.u32 %r{register}, {};\n", matrix.stride), format!(", %r{register}")),
        false => (String::new(), String::new()),
    };
    let (set_a, by_a) = given(&a, 60);
    let (set_b, by_b) = given(&b, 61);
    let (set_c, by_c) = given(&c, 62);
    let (set_d, by_d) = given(&d, 63);
    let (own_a, own_b, own_c) = case.registers;
    let (list_a, list_b) = (a_kind.list(0, own_a), b_kind.list(8, own_b));
    let list_c = c_kind.list(16, own_c);
    let types = match (a_kind, c_kind) {
        (Kind::F16, _) => format!("{0}.{0}", c_kind.word()),
        _ => format!("{0}.{1}.{2}.{0}", c_kind.word(), a_kind.word(), b_kind.word()),
    };
    let bits = if a_kind == Kind::B1 { ".xor.popc" } else { "" };
    let body = format!(
        "{set_a}{set_b}{set_c}{set_d}\
         wmma.load.a.sync.aligned.{}.{name}.global.{} {list_a}, [%rd0]{by_a};\n\
         wmma.load.b.sync.aligned.{}.{name}.{} {list_b}, [%rd1]{by_b};\n\
         wmma.load.c.sync.aligned.{}.{name}.global.{} {list_c}, [%rd2]{by_c};\n\
         wmma.mma{bits}.sync.aligned.{}.{}.{name}.{types} {list_c}, {list_a}, {list_b}, {list_c};\n\
         wmma.store.d.sync.aligned.{}.{name}.global.{} [%rd3], {list_c}{by_d};\n",
        a.layout(),
        a_kind.word(),
        b.layout(),
        b_kind.word(),
        c.layout(),
        c_kind.word(),
        a.layout(),
        b.layout(),
        d.layout(),
        c_kind.word(),
    );
    let mut session = kernel(&["a", "b", "c", "d"], &body);
    let fill = |matrix: &Matrix, seed: usize| {
        let mut words = vec![0; matrix.words()];
        for (row, column) in (0..matrix.rows).flat_map(|row| (0..matrix.columns).map(move |c| (row, c))) {
            let number = matrix.kind.number(row * matrix.columns + column + seed);
            matrix.write(&mut words, row, column, matrix.kind.encode(number));
        }
        words
    };
    let buffers =
        [session.buffer(&fill(&a, 1)), session.buffer(&fill(&b, 5000)), session.buffer(&fill(&c, 90))];
    let out = session.buffer(&vec![0; d.words()]);
    let arguments = [buffers[0], buffers[1], buffers[2], out];
    session.launch("k", 1, 32, &arguments).unwrap_or_else(|fault| panic!("{body}: {fault}"));
    let found = session.words(out, d.words());
    for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let product = |at: usize| {
            let (left, right) = (a_kind.number(row * k + at + 1), b_kind.number(at * n + column + 5000));
            if a_kind == Kind::B1 { left ^ right } else { left * right }
        };
        let wanted = c_kind.number(row * n + column + 90) + (0..k).map(product).sum::<i64>();
        assert_eq!(d.read(&found, row, column), c_kind.encode(wanted), "D[{row}][{column}] of\n{body}");
    }
}

#[test]
fn wmma_in_every_shape_type_and_layout() {
    let large = [(16, 16, 16), (32, 8, 16), (8, 32, 16)];
    for layouts in 0..16u32 {
        let layouts = [0, 1, 2, 3].map(|bit| layouts >> bit & 1 == 0);
        let strided = layouts[0] != layouts[2];
        let [a_rows, b_rows, ..] = layouts;
        for shape in large {
            let (m, n, _) = shape;
            for sums in [(Kind::F32, 8), (Kind::F16, 4)] {
                let kinds = (Kind::F16, Kind::F16, sums.0);
                check(&Case { shape, kinds, registers: (8, 8, sums.1), layouts, strided });
            }
            let kinds = (Kind::Bf16, Kind::Bf16, Kind::F32);
            check(&Case { shape, kinds, registers: (m / 4, n / 4, 8), layouts, strided });
            for kinds in [(Kind::S8, Kind::S8, Kind::S32), (Kind::U8, Kind::U8, Kind::S32)] {
                check(&Case { shape, kinds, registers: (m / 8, n / 8, 8), layouts, strided });
            }
        }
        let kinds = (Kind::Tf32, Kind::Tf32, Kind::F32);
        check(&Case { shape: (16, 16, 8), kinds, registers: (4, 4, 8), layouts, strided });
        let kinds = (Kind::F64, Kind::F64, Kind::F64);
        check(&Case { shape: (8, 8, 4), kinds, registers: (1, 1, 2), layouts, strided });
        if a_rows && !b_rows {
            for kinds in [(Kind::S4, Kind::S4, Kind::S32), (Kind::U4, Kind::U4, Kind::S32)] {
                check(&Case { shape: (8, 8, 32), kinds, registers: (1, 1, 2), layouts, strided });
            }
            let kinds = (Kind::B1, Kind::B1, Kind::S32);
            check(&Case { shape: (8, 8, 128), kinds, registers: (1, 1, 2), layouts, strided });
        }
    }
}

#[test]
fn every_register_of_a_half_fragment_holds_an_element() {
    // Twice A, by hand on all eight registers, doubles the product whichever of them count.
    let body = |scale: &str| {
        format!(
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}}, [%rd0];\n\
             wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}}, [%rd1];\n\
             {scale}\
             mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
             wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {{%f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15}}, \
             {{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}}, {{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}}, \
             {{%f0, %f1, %f2, %f3, %f0, %f1, %f2, %f3}};\n\
             wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd2], {{%f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15}};\n"
        )
    };
    let run = |scale: &str| {
        let mut session = kernel(&["a", "b", "d"], &body(scale));
        let halves = |seed: usize| -> Vec<u32> {
            let half = |n: usize| Kind::F16.encode(Kind::F16.number(n + seed)) as u32;
            (0..128).map(|n| half(2 * n + 1) << 16 | half(2 * n)).collect()
        };
        let (a, b, d) = (session.buffer(&halves(3)), session.buffer(&halves(77)), session.buffer(&[0; 256]));
        session.launch("k", 1, 32, &[a, b, d]).unwrap();
        session.words(d, 256).into_iter().map(f32::from_bits).collect::<Vec<f32>>()
    };
    let double: String = (0..8).map(|n| format!("add.f16x2 %r{n}, %r{n}, %r{n};\n")).collect();
    let (once, twice) = (run(""), run(&double));
    assert!(once.iter().any(|value| *value != 0.0));
    assert_eq!(twice, once.iter().map(|value| 2.0 * value).collect::<Vec<f32>>());
}

#[test]
fn products_of_doubles_with_sixteen_rows() {
    for depth in [4usize, 8, 16] {
        let registers = |letter: char, first: usize, count: usize| {
            let names: Vec<String> = (first..first + count).map(|n| format!("%{letter}{n}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        // Fragments are read as they are stored: by lane, its elements one after the other.
        let load = |from: usize, first: usize, count: usize| -> String {
            let lines =
                (0..count).map(|n| format!("ld.global.f64 %d{}, [%rd{}+{}];\n", first + n, 10 + from, 8 * n));
            format!(
                "mov.u32 %r0, %laneid; mul.wide.u32 %rd9, %r0, {}; add.u64 %rd{}, %rd{from}, %rd9;\n{}",
                8 * count,
                10 + from,
                lines.collect::<String>()
            )
        };
        let (own_a, own_b) = (depth / 2, depth / 4);
        let body = format!(
            "{}{}{}mma.sync.aligned.m16n8k{depth}.row.col.f64.f64.f64.f64 {}, {}, {}, {};\n{}",
            load(0, 0, own_a),
            load(1, 8, own_b),
            load(2, 12, 4),
            // D lies where A was.
            registers('d', 0, 4),
            registers('d', 0, own_a),
            registers('d', 8, own_b),
            registers('d', 12, 4),
            (0..4).map(|n| format!("st.global.f64 [%rd12+{}], %d{n};\n", 8 * n)).collect::<String>(),
        );
        let mut session = kernel(&["a", "b", "c"], &body);
        let words = |count: usize, value: &dyn Fn(usize, usize) -> i64| -> Vec<u32> {
            let number = |lane: usize, i: usize| (value(lane, i) as f64).to_bits();
            let all = (0..32).flat_map(|lane| (0..count).map(move |i| (lane, i)));
            all.flat_map(|(lane, i)| [number(lane, i) as u32, (number(lane, i) >> 32) as u32]).collect()
        };
        let left = |row: usize, k: usize| Kind::F64.number(row * depth + k);
        let right = |k: usize, column: usize| Kind::F64.number(700 + k * 8 + column);
        let old = |row: usize, column: usize| (row * 8 + column) as i64;
        // PTX ISA: element i of A is in row group + 8 (i mod 2), column place + 4 (i / 2).
        let a = words(own_a, &|lane, i| left(lane / 4 + 8 * (i % 2), lane % 4 + 4 * (i / 2)));
        let b = words(own_b, &|lane, i| right(lane % 4 + 4 * i, lane / 4));
        let c = words(4, &|lane, i| old(lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2));
        let (a, b, c) = (session.buffer(&a), session.buffer(&b), session.buffer(&c));
        session.launch("k", 1, 32, &[a, b, c]).unwrap();
        let wanted = words(4, &|lane, i| {
            let (row, column) = (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
            old(row, column) + (0..depth).map(|k| left(row, k) * right(k, column)).sum::<i64>()
        });
        assert_eq!(session.words(c, 256), wanted, "k {depth}");
    }
}

#[test]
fn copies_fill_up_with_zeros() {
    // Lane n copies 8 bytes of which n % 10 are there; then 4 bytes unless n is odd.
    let body = "
        .shared .align 16 .b8 s[512];
        mov.u32 %r0, %laneid; mov.u32 %r1, s; shl.b32 %r2, %r0, 3; add.u32 %r3, %r1, %r2;
        mov.u32 %r4, -1; st.shared.v2.u32 [%r3], {%r4, %r4}; shl.b32 %r5, %r0, 2; add.u32 %r6, %r1, %r5;
        st.shared.u32 [%r6+256], %r4;
        cvt.u64.u32 %rd3, %r2; add.u64 %rd4, %rd0, %rd3; rem.u32 %r7, %r0, 10;
        cp.async.ca.shared.global [%r3], [%rd4], 8, %r7;
        and.b32 %r8, %r0, 1; setp.eq.u32 %p0, %r8, 1;
        mul.wide.u32 %rd5, %r0, 4; add.u64 %rd6, %rd0, %rd5; @%p0 mov.u64 %rd6, 3;
        cp.async.ca.shared.global [%r6+256], [%rd6], 4, %p0;
        cp.async.commit_group; cp.async.wait_group 0;
        ld.shared.v2.u32 {%r9, %r10}, [%r3]; ld.shared.u32 %r11, [%r6+256];
        mul.wide.u32 %rd7, %r0, 12; add.u64 %rd8, %rd1, %rd7;
        st.global.u32 [%rd8], %r9; st.global.u32 [%rd8+4], %r10; st.global.u32 [%rd8+8], %r11;";
    let mut session = kernel(&["in", "out"], body);
    let bytes: Vec<u8> = (0..256u32).map(|n| (n * 7 + 1) as u8).collect();
    let words: Vec<u32> =
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    let (input, out) = (session.buffer(&words), session.buffer(&[0; 96]));
    session.launch("k", 1, 32, &[input, out]).unwrap();
    let found = session.words(out, 96);
    for lane in 0..32 {
        let mut wanted = [0u8; 8];
        let kept = (lane % 10).min(8);
        wanted[..kept].copy_from_slice(&bytes[8 * lane..8 * lane + kept]);
        let low = u32::from_le_bytes(wanted[..4].try_into().expect("four bytes"));
        let high = u32::from_le_bytes(wanted[4..].try_into().expect("four bytes"));
        let third = if lane % 2 == 1 { 0 } else { words[lane] };
        assert_eq!(found[3 * lane..3 * lane + 3], [low, high, third], "lane {lane}");
    }
}

#[test]
fn barriers_in_shared_memory() {
    // One thread; each test's answer becomes a bit.
    let body = "
        .shared .align 8 .b64 bar;
        mov.u32 %r0, 0; mov.u32 %r1, bar;
        mbarrier.init.shared.b64 [%r1], 3;
        mbarrier.arrive.shared.b64 %rd1, [%r1];
        mbarrier.test_wait.shared.b64 %p0, [%r1], %rd1; selp.u32 %r2, 1, 0, %p0; or.b32 %r0, %r0, %r2;
        mbarrier.arrive_drop.shared.b64 %rd2, [%r1];
        mbarrier.pending_count.b64 %r3, %rd2;
        mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r1], 64;
        mbarrier.test_wait.parity.shared.b64 %p0, [%r1], 0; selp.u32 %r2, 2, 0, %p0; or.b32 %r0, %r0, %r2;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 64;
        mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], 0, 1000; selp.u32 %r2, 4, 0, %p0; or.b32 %r0, %r0, %r2;
        mbarrier.test_wait.shared.b64 %p0, [%r1], %rd2; selp.u32 %r2, 8, 0, %p0; or.b32 %r0, %r0, %r2;
        mbarrier.test_wait.parity.shared.b64 %p0, [%r1], 1; selp.u32 %r2, 16, 0, %p0; or.b32 %r0, %r0, %r2;
        mov.u64 %rd4, bar; cvta.shared.u64 %rd3, %rd4;
        mbarrier.arrive.noComplete.b64 %rd5, [%rd3], 1;
        cp.async.mbarrier.arrive.b64 [%rd3];
        mbarrier.arrive.b64 %rd6, [%rd3];
        mbarrier.pending_count.b64 %r4, %rd6;
        mbarrier.test_wait.b64 %p0, [%rd3], %rd6; selp.u32 %r2, 32, 0, %p0; or.b32 %r0, %r0, %r2;
        mbarrier.inval.shared.b64 [%r1];
        ld.shared.u64 %rd7, [%r1]; cvt.u32.u64 %r5, %rd7;
        st.global.v4.u32 [%rd0], {%r0, %r3, %r4, %r5};";
    let mut session = kernel(&["out"], body);
    let out = session.buffer(&[0; 4]);
    session.launch("k", 1, 1, &[out]).unwrap();
    // Phase 0 of three: an arrival, a drop (before it two pend), an arrival that expects bytes. Phase 1 of two.
    assert_eq!(session.words(out, 4), [4 | 8 | 32, 2, 1, 0]);
}

#[test]
fn wide_accesses_and_vectors_of_atomics() {
    let body = "
        mov.u32 %r0, %laneid; mul.wide.u32 %rd2, %r0, 16; add.u64 %rd3, %rd0, %rd2; add.u64 %rd4, %rd1, %rd2;
        ld.global.b128 %q0, [%rd3]; mov.b128 {%rd5, %rd6}, %q0; mov.b128 %q1, {%rd6, %rd5}; st.global.b128 [%rd4], %q1;
        mov.f32 %f0, 0f3f800000; mov.f32 %f1, 0f40000000;
        atom.global.add.v2.f32 {%f1, %f0}, [%rd1+512], {%f0, %f1};
        red.global.add.v2.f32 [%rd1+512], {%f0, %f1};
        mov.b16 %h0, 5; mov.b16 %h1, 9;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 atom.global.cas.b16 %h2, [%rd1+522], %h0, %h1;
        @%p0 atom.global.cas.b16 %h3, [%rd1+522], %h1, %h0;
        @%p0 st.global.u16 [%rd1+524], %h3;";
    let mut session = kernel(&["in", "out"], body);
    let input: Vec<u32> = (0..128).map(|n| n * 3 + 1).collect();
    let mut start = vec![0u32; 136];
    start[130] = 5 << 16 | 0x77;
    let (a, out) = (session.buffer(&input), session.buffer(&start));
    session.launch("k", 1, 32, &[a, out]).unwrap();
    let found = session.words(out, 136);
    for lane in 0..32 {
        let [p, q, r, s] = [0, 1, 2, 3].map(|n| input[4 * lane + n]);
        assert_eq!(found[4 * lane..4 * lane + 4], [r, s, p, q]);
    }
    // Lane n gets 2^... of the sums before it back: n and 2 n; both are added again.
    let count: f32 = (0..32).map(|n| n as f32).sum();
    assert_eq!(f32::from_bits(found[128]), 32.0 + 2.0 * count, "the second element's old values are added");
    assert_eq!(f32::from_bits(found[129]), 64.0 + count, "the first element's old values are added");
    assert_eq!(found[130], 5 << 16 | 0x77, "5 became 9 and 5 again; its neighbour stays");
    assert_eq!(found[131] & 0xffff, 9);
}

#[test]
fn packed_conversions_saturate() {
    let body = "
        mov.u32 %r0, -40000; mov.u32 %r1, 70000; mov.u32 %r2, 0x12345678; mov.u32 %r9, -3;
        cvt.pack.sat.s16.s32 %r3, %r0, %r1; cvt.pack.sat.u16.s32 %r4, %r0, %r1;
        cvt.pack.sat.s8.s32.b32 %r5, %r0, %r1, %r2; cvt.pack.sat.u4.s32.b32 %r6, %r1, %r0, %r2;
        cvt.pack.sat.s2.s32.b32 %r7, %r9, %r1, %r2;
        st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6}; st.global.u32 [%rd0+16], %r7;";
    let mut session = kernel(&["out"], body);
    let out = session.buffer(&[0; 5]);
    session.launch("k", 1, 1, &[out]).unwrap();
    assert_eq!(
        session.words(out, 5),
        [0x8000_7fff, 0x0000_ffff, 0x5678_807f, 0x3456_78f0, 0x2345_6780 | 0b1001]
    );
}

#[test]
fn faults_of_operations_in_shared_memory() {
    let fault = |body: &str| {
        let mut session = kernel(&["out"], body);
        let out = session.buffer(&[0; 64]);
        session.launch("k", 1, 32, &[out]).unwrap_err().to_string()
    };
    let global = fault("ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%rd0];");
    assert!(global.contains("where shared memory must be"), "{global}");
    let barrier = fault("mbarrier.init.b64 [%rd0], 1;");
    assert!(barrier.contains("where shared memory must be"), "{barrier}");
    let crooked = fault(
        ".shared .align 16 .b8 s[256]; mov.u32 %r0, s; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0+8];",
    );
    assert!(crooked.contains("not a multiple of 16"), "{crooked}");
    let beyond =
        fault(".shared .align 16 .b8 s[16]; mov.u32 %r0, s; cp.async.ca.shared.global [%r0+16], [%rd0], 16;");
    assert!(beyond.contains("holds no memory"), "{beyond}");
    let source =
        fault(".shared .align 16 .b8 s[16]; mov.u32 %r0, s; cp.async.ca.shared.global [%r0], [%rd0+256], 4;");
    assert!(source.contains("holds no memory"), "{source}");
}
