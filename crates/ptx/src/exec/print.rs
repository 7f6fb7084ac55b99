//! `printf` on the device: formatting of what a lane prints.

use std::fmt::Write;

/// One directive of a format: `%` flags, width, precision, conversion (length modifiers are skipped, the
/// argument's own width counts).
#[derive(Clone, Copy, Debug, Default)]
struct Directive {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// `h` or `hh`: bits that count.
    narrow: Option<u32>,
    /// `l`, `ll`, `z`, `t`, `j`.
    long: bool,
    conversion: char,
}

/// An argument as the caller's buffer holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its bits; 32-bit arguments zero-extended.
    pub bits: u64,
    /// Whether it was passed as 64 bits.
    pub wide: bool,
}

/// Formats as C's printf does. `read_string` fetches the text behind a `%s` pointer. A missing argument reads
/// as zero; an unknown conversion is printed as it stands.
pub fn format(template: &str, arguments: &[Argument], mut read_string: impl FnMut(u64) -> String) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut arguments = arguments.iter().copied();
    let mut rest = template.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut next = || arguments.next().unwrap_or(Argument { bits: 0, wide: false });
        let Some(directive) = parse(&mut rest, &mut next) else { continue };
        let text = match directive.conversion {
            '%' => {
                out.push('%');
                continue;
            }
            's' => {
                let text = read_string(next().bits);
                let kept = directive.precision.unwrap_or(usize::MAX);
                text.chars().take(kept).collect()
            }
            'c' => char::from(next().bits as u8).to_string(),
            'd' | 'i' => signed(&directive, next()),
            'u' | 'o' | 'x' | 'X' => unsigned(&directive, next()),
            'p' => format!("{:#x}", next().bits),
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => float(&directive, next()),
            other => {
                out.push('%');
                out.push(other);
                continue;
            }
        };
        pad(&mut out, &directive, &text);
    }
    out
}

/// A width or precision beyond this is a mistake of the program, not a wish for so much output.
const LONGEST: i64 = 4096;

fn parse(rest: &mut std::str::Chars<'_>, next: &mut impl FnMut() -> Argument) -> Option<Directive> {
    let mut directive = Directive::default();
    let mut c = rest.next()?;
    loop {
        match c {
            '-' => directive.left = true,
            '+' => directive.plus = true,
            ' ' => directive.space = true,
            '#' => directive.alternate = true,
            '0' => directive.zero = true,
            _ => break,
        }
        c = rest.next()?;
    }
    let width = number(&mut c, rest, next)?;
    directive.left |= width < 0;
    directive.width = width.unsigned_abs() as usize;
    if c == '.' {
        c = rest.next()?;
        // A negative precision, possible by `*` only, counts as none.
        directive.precision = usize::try_from(number(&mut c, rest, next)?).ok();
    }
    while matches!(c, 'h' | 'l' | 'z' | 't' | 'j' | 'L' | 'q') {
        match c {
            'h' => directive.narrow = Some(directive.narrow.map_or(16, |_| 8)),
            _ => directive.long = true,
        }
        c = rest.next()?;
    }
    directive.conversion = c;
    Some(directive)
}

/// A width or precision that begins at `c`: digits or `*`; zero when there is neither. Leaves in `c` what
/// follows; none when the format ends.
fn number(c: &mut char, rest: &mut std::str::Chars<'_>, next: &mut impl FnMut() -> Argument) -> Option<i64> {
    if *c == '*' {
        *c = rest.next()?;
        return Some(i64::from(next().bits as i32).clamp(-LONGEST, LONGEST));
    }
    let mut value = 0;
    while let Some(digit) = c.to_digit(10) {
        value = (value * 10 + i64::from(digit)).min(LONGEST);
        *c = rest.next()?;
    }
    Some(value)
}

/// The argument's bits at the width its directive and its passing give it, and that width.
fn integer(directive: &Directive, argument: Argument) -> (u64, u32) {
    let bits = match (directive.narrow, directive.long && argument.wide) {
        (Some(bits), _) => bits,
        (None, true) => 64,
        (None, false) => 32,
    };
    (argument.bits & (u64::MAX >> (64 - bits)), bits)
}

fn with_precision(directive: &Directive, digits: String) -> String {
    match directive.precision {
        Some(0) if digits == "0" => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    }
}

fn sign_of(directive: &Directive, negative: bool) -> &'static str {
    match (negative, directive.plus, directive.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn signed(directive: &Directive, argument: Argument) -> String {
    let (bits, width) = integer(directive, argument);
    let value = (bits << (64 - width)) as i64 >> (64 - width);
    let digits = with_precision(directive, value.unsigned_abs().to_string());
    format!("{}{digits}", sign_of(directive, value < 0))
}

fn unsigned(directive: &Directive, argument: Argument) -> String {
    let (value, _) = integer(directive, argument);
    let prefix = |text: &'static str| if directive.alternate && value != 0 { text } else { "" };
    match directive.conversion {
        'x' => format!("{}{}", prefix("0x"), with_precision(directive, format!("{value:x}"))),
        'X' => format!("{}{}", prefix("0X"), with_precision(directive, format!("{value:X}"))),
        'o' => format!("{}{}", prefix("0"), with_precision(directive, format!("{value:o}"))),
        _ => with_precision(directive, value.to_string()),
    }
}

fn float(directive: &Directive, argument: Argument) -> String {
    let value = f64::from_bits(argument.bits);
    let magnitude = value.abs();
    let precision = directive.precision.unwrap_or(6);
    let digits = match directive.conversion.to_ascii_lowercase() {
        _ if value.is_nan() => "nan".to_string(),
        _ if magnitude.is_infinite() => "inf".to_string(),
        'e' => exponential(magnitude, precision),
        'g' => general(magnitude, precision.max(1), directive.alternate),
        'a' => hexadecimal(magnitude),
        _ => format!("{magnitude:.precision$}"),
    };
    let text = format!("{}{digits}", sign_of(directive, value.is_sign_negative() && !value.is_nan()));
    if directive.conversion.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
}

/// C's `%e`: at least two digits of exponent.
fn exponential(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').expect("Rust writes an exponent");
    let exponent: i32 = exponent.parse().expect("Rust writes a decimal exponent");
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// C's `%g`: the shorter notation, trailing zeros dropped.
fn general(magnitude: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponential(magnitude, precision - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("written above");
    let decimal: i32 = exponent.parse().expect("written above");
    let trim = |digits: &str| {
        if keep_zeros || !digits.contains('.') {
            return digits.to_string();
        }
        digits.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if decimal < -4 || decimal >= precision as i32 {
        return format!("{}e{exponent}", trim(mantissa));
    }
    let places = (precision as i32 - 1 - decimal) as usize;
    trim(&format!("{magnitude:.places$}"))
}

/// C's `%a` with as many digits as the value has.
fn hexadecimal(magnitude: f64) -> String {
    let bits = magnitude.to_bits();
    let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let exponent = if biased == 0 { if fraction == 0 { 0 } else { -1022 } } else { biased - 1023 };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{}{point}{digits}p{exponent:+}", u8::from(biased != 0))
}

fn pad(out: &mut String, directive: &Directive, text: &str) {
    let missing = directive.width.saturating_sub(text.chars().count());
    let is_number = !matches!(directive.conversion, 's' | 'c' | 'p');
    let is_integer = matches!(directive.conversion, 'd' | 'i' | 'u' | 'x' | 'X' | 'o');
    let is_finite = is_integer || !text.ends_with(['n', 'f', 'N', 'F']);
    let written = if directive.left {
        write!(out, "{text}{:missing$}", "")
    } else if directive.zero && is_number && is_finite && !(is_integer && directive.precision.is_some()) {
        // Zeros go between the sign or prefix and the digits.
        let sign = text.find(|c: char| c.is_ascii_hexdigit()).unwrap_or(0);
        let prefix =
            sign + if text[sign..].starts_with(['0']) && text[sign..].contains(['x', 'X']) { 2 } else { 0 };
        let (sign, digits) = text.split_at(prefix);
        write!(out, "{sign}{:0>missing$}{digits}", "")
    } else {
        write!(out, "{:missing$}{text}", "")
    };
    written.expect("writing to a String cannot fail");
}
