//! Formatting, against what C prints.

use crate::exec::print::{Argument, format};

fn wide(bits: u64) -> Argument {
    Argument { bits, wide: true }
}

fn narrow(bits: u32) -> Argument {
    Argument { bits: bits.into(), wide: false }
}

fn float(value: f64) -> Argument {
    wide(value.to_bits())
}

#[test]
fn directives() {
    let table: [(&str, &[Argument], &str); 32] = [
        ("plain 100%%\n", &[], "plain 100%\n"),
        ("%d %i", &[narrow(u32::MAX), narrow(7)], "-1 7"),
        ("%u", &[narrow(u32::MAX)], "4294967295"),
        ("%ld %lld", &[wide(u64::MAX), wide(5)], "-1 5"),
        ("%llu", &[wide(u64::MAX)], "18446744073709551615"),
        ("%d", &[wide(0xffff_ffff_0000_0001)], "1"),
        ("%hhd", &[narrow(0x1ff)], "-1"),
        ("[%5d|%-5d|%05d|%+d]", &[narrow(42), narrow(42), narrow(42), narrow(42)], "[   42|42   |00042|+42]"),
        ("[%5d|%05d]", &[narrow(-3i32 as u32), narrow(-3i32 as u32)], "[   -3|-0003]"),
        ("%.3d %08.3d", &[narrow(7), narrow(7)], "007      007"),
        ("%x %X %#x %08x", &[narrow(255), narrow(255), narrow(255), narrow(255)], "ff FF 0xff 000000ff"),
        ("%#010x", &[narrow(255)], "0x000000ff"),
        ("%o", &[narrow(8)], "10"),
        ("%c%c", &[narrow(65), narrow(66)], "AB"),
        ("%s|%6s|%-6s|%.2s", &[wide(1), wide(1), wide(1), wide(1)], "text|  text|text  |te"),
        ("%p", &[wide(0x1234)], "0x1234"),
        ("%f", &[float(1.5)], "1.500000"),
        ("%.0f %.1f", &[float(2.5), float(0.25)], "2 0.2"),
        ("%8.3f|%-8.3f|%08.3f", &[float(-1.5), float(-1.5), float(-1.5)], "  -1.500|-1.500  |-001.500"),
        ("%e", &[float(12345.678)], "1.234568e+04"),
        ("%.2E", &[float(0.000_123)], "1.23E-04"),
        ("%e", &[float(0.0)], "0.000000e+00"),
        ("%g %g", &[float(0.0001), float(0.00001)], "0.0001 1e-05"),
        ("%g %g", &[float(100_000.0), float(1_000_000.0)], "100000 1e+06"),
        ("%g", &[float(0.1)], "0.1"),
        ("%.3g", &[float(1234.5)], "1.23e+03"),
        ("%f %F", &[float(f64::INFINITY), float(f64::NAN)], "inf NAN"),
        ("[%6f|%-6f]", &[float(f64::NEG_INFINITY), float(f64::NAN)], "[  -inf|nan   ]"),
        (
            "%*d|%-*d|%.*f",
            &[narrow(4), narrow(1), narrow(3), narrow(2), narrow(1), float(0.55)],
            "   1|2  |0.6",
        ),
        ("%a", &[float(1.5)], "0x1.8p+0"),
        ("%d", &[], "0"),
        ("%y%", &[], "%y"),
    ];
    for (template, arguments, wanted) in table {
        assert_eq!(format(template, arguments, |_| "text".into()), wanted, "{template:?}");
    }
}

#[test]
fn a_huge_width_is_cut() {
    assert!(format("%999999999999d", &[narrow(1)], |_| String::new()).len() <= 4096);
}
