//! Formats numbers as text.

/// Formats a number with four significant digits.
#[must_use]
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        _ if !value.is_finite() => value.to_string(),
        0.0 => "0".into(),
        _ if magnitude >= 1e6 => format!("{value:.3e}"),
        _ if magnitude >= 1000.0 => format!("{value:.0}"),
        _ if magnitude >= 100.0 => format!("{value:.1}"),
        _ if magnitude >= 10.0 => format!("{value:.2}"),
        _ if magnitude >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1.000"),
            (-12.345, "-12.35"),
            (123.456, "123.5"),
            (4567.8, "4568"),
            (1.5e9, "1.500e9"),
            (0.00012, "1.20e-4"),
        ] {
            assert_eq!(super::number(value), expected);
        }
    }
}
