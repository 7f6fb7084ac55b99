//! `wgmma`: matrices laid out in shared memory element by element, by the ISA's figures of core matrices and swizzles, and sums
//! computed here.

use half::{bf16, f16};

use super::testing::Session;

/// Types of elements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
    S8,
    U8,
    B1,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::F16 => "f16",
            Kind::Bf16 => "bf16",
            Kind::Tf32 => "tf32",
            Kind::E4m3 => "e4m3",
            Kind::E5m2 => "e5m2",
            Kind::S8 => "s8",
            Kind::U8 => "u8",
            Kind::B1 => "b1",
        }
    }

    fn bits(self) -> usize {
        match self {
            Kind::Tf32 => 32,
            Kind::F16 | Kind::Bf16 => 16,
            Kind::E4m3 | Kind::E5m2 | Kind::S8 | Kind::U8 => 8,
            Kind::B1 => 1,
        }
    }

    /// Elements in 32 bytes: k.
    fn depth(self) -> usize {
        256 / self.bits()
    }

    /// A number of the type for a place.
    fn number(self, place: usize) -> i64 {
        let number = ((place * 2_654_435_761) >> 9) as i64;
        match self {
            Kind::B1 => number & 1,
            Kind::U8 => number & 255,
            Kind::S8 => (number & 255) - 128,
            _ => (number & 15) - 8,
        }
    }

    fn encode(self, number: i64) -> u32 {
        // Of a float with so many bits of exponent and fraction.
        let small = |bias: i64, fraction: u32| {
            let sign = if number < 0 { 0x80 } else { 0 };
            let magnitude = number.unsigned_abs() as u32;
            if magnitude == 0 {
                return 0;
            }
            let exponent = magnitude.ilog2();
            let rest = (magnitude << fraction >> exponent) & ((1 << fraction) - 1);
            sign | ((i64::from(exponent) + bias) as u32) << fraction | rest
        };
        match self {
            Kind::F16 => f16::from_f64(number as f64).to_bits().into(),
            Kind::Bf16 => bf16::from_f64(number as f64).to_bits().into(),
            Kind::Tf32 => (number as f32).to_bits(),
            Kind::E4m3 => small(7, 3),
            Kind::E5m2 => small(15, 2),
            Kind::S8 | Kind::U8 => number as u32 & 0xff,
            Kind::B1 => number as u32,
        }
    }
}

/// How a matrix lies in shared memory.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Bytes of a swizzled line: 32, 64 or 128; 16 without a swizzle.
    line: usize,
    k_major: bool,
    /// Bytes between groups of eight lines, and the other distance of a descriptor.
    stride: usize,
    leading: usize,
    /// Where the matrix begins in its pattern, a multiple of 32 bytes along k.
    begin: usize,
}

impl Place {
    /// Byte and bit of the element (x, k), x counting rows of A or columns of B.
    fn of(&self, kind: Kind, x: usize, k: usize) -> (usize, usize) {
        let bits = kind.bits();
        // Bytes along the major dimension, the line that they are in, and what is further away.
        let (along, line, far) = if self.k_major {
            let along = self.begin + k * bits / 8;
            match self.line {
                16 => (along % 16, x % 8, x / 8 * self.stride + along / 16 * self.leading),
                _ => (along, x % 8, x / 8 * self.stride),
            }
        } else {
            let along = x * bits / 8;
            match self.line {
                16 => (along % 16, k % 8, along / 16 * self.stride + k / 8 * self.leading),
                line => (along % line, k % 8, along / line * self.leading + k / 8 * self.stride),
            }
        };
        let chunk = match self.line {
            128 => (along / 16) ^ line,
            64 => (along / 16) ^ (line / 2),
            32 => (along / 16) ^ (line / 4),
            _ => along / 16,
        };
        (far + line * self.line + chunk * 16 + along % 16, k * bits % 8)
    }

    fn descriptor(&self, base: usize) -> u64 {
        let swizzle: u64 = match self.line {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        let units = |bytes: usize| (bytes / 16) as u64;
        units(base + self.begin) | units(self.leading) << 16 | units(self.stride) << 32 | swizzle << 62
    }
}

const K_MAJORS: [Place; 5] = [
    Place { line: 128, k_major: true, stride: 1024, leading: 16, begin: 0 },
    Place { line: 128, k_major: true, stride: 2048, leading: 16, begin: 96 },
    Place { line: 64, k_major: true, stride: 512, leading: 16, begin: 32 },
    Place { line: 32, k_major: true, stride: 256, leading: 16, begin: 0 },
    Place { line: 16, k_major: true, stride: 256, leading: 128, begin: 0 },
];

const X_MAJORS: [Place; 4] = [
    Place { line: 128, k_major: false, stride: 1024, leading: 2048, begin: 0 },
    Place { line: 64, k_major: false, stride: 512, leading: 1024, begin: 0 },
    Place { line: 32, k_major: false, stride: 256, leading: 512, begin: 0 },
    Place { line: 16, k_major: false, stride: 256, leading: 128, begin: 0 },
];

/// One product.
struct Case {
    kinds: (Kind, Kind),
    sum: &'static str,
    columns: usize,
    /// In registers without one.
    a: Option<Place>,
    b: Place,
    signs: (i64, i64),
    /// What scale-d is: an immediate or a predicate.
    adds: (&'static str, bool),
    saturates: bool,
}

/// Bytes of each matrix in shared memory.
const AREA: usize = 40 << 10;

fn check(case: &Case) {
    let Case { kinds: (a_kind, b_kind), sum, columns, .. } = *case;
    let depth = a_kind.depth();
    let pieces = if sum == "f16" { columns / 4 } else { columns / 2 };
    let a_number = |row: usize, k: usize| a_kind.number(row * depth + k + 1);
    let b_number = |column: usize, k: usize| b_kind.number(column * depth + k + 70_000);
    let c_number = |row: usize, column: usize| ((row * 31 + column * 7) % 19) as i64 - 9;

    let mut shared = vec![0u8; 2 * AREA];
    let mut put = |kind: Kind, place: Place, (x, k): (usize, usize), base: usize, number: i64| {
        let (at, bit) = place.of(kind, x, k);
        let bytes = kind.encode(number) << bit;
        for n in 0..kind.bits().div_ceil(8) {
            shared[base + at + n] |= (bytes >> (8 * n)) as u8;
        }
    };
    for k in 0..depth {
        for column in 0..columns {
            put(b_kind, case.b, (column, k), AREA, b_number(column, k));
        }
        for row in 0..64 {
            if let Some(place) = case.a {
                put(a_kind, place, (row, k), 0, a_number(row, k));
            }
        }
    }
    // The registers of A: by the figures, rows l / 4 and eight further, k from 4 bytes (l % 4) on, and 16 further.
    let mut fragments = Vec::new();
    for thread in 0..128 {
        for register in 0..4 {
            let row = thread / 32 * 16 + thread % 32 / 4 + register % 2 * 8;
            let first = (thread % 4 * 32 + register / 2 * 128) / a_kind.bits();
            let each = 32 / a_kind.bits();
            let part = |n: usize| a_kind.encode(a_number(row, first + n)) << (n * a_kind.bits());
            fragments.push((0..each).map(part).fold(0, |word, part| word | part));
        }
    }
    // D: row l / 4 of the warp's 16 and eight further, columns 2 (l % 4) and the next of each eight.
    let spot = |thread: usize, element: usize| {
        let row = thread / 32 * 16 + thread % 32 / 4 + element / 2 % 2 * 8;
        (row, element / 4 * 8 + thread % 4 * 2 + element % 2)
    };
    let mut before = Vec::new();
    for thread in 0..128 {
        let number = |element: usize| {
            let (row, column) = spot(thread, element);
            c_number(row, column)
        };
        for register in 0..pieces {
            before.push(match sum {
                "f16" => {
                    Kind::F16.encode(number(2 * register)) | Kind::F16.encode(number(2 * register + 1)) << 16
                }
                "f32" => (number(register) as f32).to_bits(),
                _ => number(register) as u32,
            });
        }
    }

    let list = |letter: &str, from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|n| format!("%{letter}{n}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let is_float = !matches!(a_kind, Kind::S8 | Kind::U8 | Kind::B1);
    let mut flags = case.adds.0.to_string();
    if is_float {
        flags += &format!(", {}, {}", case.signs.0, case.signs.1);
    }
    if matches!(a_kind, Kind::F16 | Kind::Bf16) {
        if let Some(a) = case.a {
            flags += &format!(", {}", u8::from(!a.k_major));
        }
        flags += &format!(", {}", u8::from(!case.b.k_major));
    }
    let a_operand = match case.a {
        Some(_) => "%rd20".to_string(),
        None => list("a", 0, 4),
    };
    let (op, end) = match a_kind {
        Kind::B1 => ("", ".and.popc"),
        _ if case.saturates => (".satfinite", ""),
        _ => ("", ""),
    };
    let (a_word, b_word) = (a_kind.word(), b_kind.word());
    let product =
        format!("wgmma.mma_async.sync.aligned.m64n{columns}k{depth}{op}.{sum}.{a_word}.{b_word}{end}");
    let loads: String = (0..pieces).map(|n| format!("ld.global.b32 %c{n}, [%rd6+{}];\n", 4 * n)).collect();
    let stores: String = (0..pieces).map(|n| format!("st.global.b32 [%rd6+{}], %c{n};\n", 4 * n)).collect();
    let text = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 image, .param .u64 a, .param .u64 d) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b32 %a<4>; .reg .b32 %c<{pieces}>; .reg .b64 %rd<24>;\n\
         .shared .align 1024 .b8 s[{}];\n\
         ld.param.u64 %rd0, [image]; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [d];\n\
         mov.u32 %r0, %tid.x; mov.u32 %r1, s; shl.b32 %r2, %r0, 2;\n\
         L: cvt.u64.u32 %rd3, %r2; add.u64 %rd3, %rd0, %rd3; ld.global.b32 %r3, [%rd3];\n\
         add.u32 %r4, %r1, %r2; st.shared.b32 [%r4], %r3; add.u32 %r2, %r2, 512;\n\
         setp.lt.u32 %p0, %r2, {}; @%p0 bra L;\n\
         bar.sync 0; fence.proxy.async.shared::cta;\n\
         mul.wide.u32 %rd5, %r0, 16; add.u64 %rd5, %rd1, %rd5; ld.global.v4.b32 {}, [%rd5];\n\
         mul.wide.u32 %rd6, %r0, {}; add.u64 %rd6, %rd2, %rd6;\n{loads}\
         mov.b64 %rd20, {}; mov.b64 %rd21, {}; setp.eq.u32 %p1, %r1, %r1; not.pred %p2, %p1;\n\
         setmaxnreg.inc.sync.aligned.u32 240; wgmma.fence.sync.aligned;\n{product} {}, {a_operand}, %rd21, {flags};\n\
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n{stores}ret; }}\n",
        2 * AREA,
        2 * AREA,
        list("a", 0, 4),
        4 * pieces,
        case.a.map_or(0, |place| place.descriptor(0)),
        case.b.descriptor(AREA),
        list("c", 0, pieces),
    );
    let mut session = Session::new(&text);
    let words: Vec<u32> =
        shared.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect();
    let (image, a, d) = (session.buffer(&words), session.buffer(&fragments), session.buffer(&before));
    session.launch("k", 1, 128, &[image, a, d]).unwrap_or_else(|fault| panic!("{product}: {fault}"));
    let found = session.words(d, before.len());
    for thread in 0..128 {
        for element in 0..columns / 2 {
            let (row, column) = spot(thread, element);
            let sign = case.signs.0 * case.signs.1;
            let products: i64 = (0..depth).map(|k| a_number(row, k) * b_number(column, k)).sum();
            let added = if case.adds.1 { c_number(row, column) } else { 0 };
            let wanted = sign * products + added;
            let found = match sum {
                "f16" => {
                    let word = found[thread * pieces + element / 2];
                    f16::from_bits((word >> (16 * (element % 2))) as u16).to_f64() as i64
                }
                "f32" => f32::from_bits(found[thread * pieces + element]) as i64,
                _ => i64::from(found[thread * pieces + element] as i32),
            };
            assert_eq!(found, wanted, "D[{row}][{column}] of {product} with {:?}, {:?}", case.a, case.b);
        }
    }
}

const PLAIN: Case = Case {
    kinds: (Kind::F16, Kind::F16),
    sum: "f32",
    columns: 16,
    a: Some(K_MAJORS[0]),
    b: K_MAJORS[0],
    signs: (1, 1),
    adds: ("1", true),
    saturates: false,
};

#[test]
fn matrices_in_every_layout() {
    let all = || K_MAJORS.into_iter().chain(X_MAJORS);
    for b in all() {
        for kind in [Kind::F16, Kind::Bf16] {
            check(&Case { kinds: (kind, kind), columns: 136, a: None, b, ..PLAIN });
        }
    }
    for a in all() {
        check(&Case { a: Some(a), ..PLAIN });
        check(&Case { a: Some(a), b: X_MAJORS[1], columns: 64, ..PLAIN });
    }
}

#[test]
fn elements_of_every_type() {
    use Kind::{B1, E4m3, E5m2, S8, Tf32, U8};
    let floats = [(Tf32, Tf32), (E4m3, E4m3), (E4m3, E5m2), (E5m2, E4m3), (E5m2, E5m2)];
    let integers = [(S8, S8), (S8, U8), (U8, S8), (U8, U8)];
    for place in K_MAJORS {
        for a in [None, Some(place)] {
            for kinds in floats {
                check(&Case { kinds, a, b: place, columns: 24, ..PLAIN });
                let halves = kinds.0 != Tf32;
                if halves {
                    check(&Case { kinds, a, b: place, columns: 8, sum: "f16", ..PLAIN });
                }
            }
            for kinds in integers {
                for saturates in [false, true] {
                    check(&Case { kinds, a, b: place, columns: 32, sum: "s32", saturates, ..PLAIN });
                }
            }
            check(&Case { kinds: (B1, B1), a, b: place, columns: 48, sum: "s32", ..PLAIN });
        }
    }
    check(&Case { sum: "f16", columns: 96, ..PLAIN });
}

#[test]
fn signs_scales_and_the_widest() {
    for kinds in [(Kind::F16, Kind::F16), (Kind::Tf32, Kind::Tf32), (Kind::E4m3, Kind::E5m2)] {
        for signs in [(1, -1), (-1, 1), (-1, -1)] {
            check(&Case { kinds, signs, ..PLAIN });
            check(&Case { kinds, signs, a: None, adds: ("0", false), ..PLAIN });
        }
    }
    for adds in [("%p1", true), ("%p2", false), ("0", false)] {
        check(&Case { adds, ..PLAIN });
        check(&Case { kinds: (Kind::S8, Kind::S8), sum: "s32", adds, ..PLAIN });
    }
    check(&Case { columns: 256, b: X_MAJORS[0], ..PLAIN });
}
