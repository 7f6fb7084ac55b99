//! What an output holds: at a glance, and as text.

use std::fmt;
use std::io::{self, Write};

use crate::Output;
use crate::element::{Element, with_element};

/// Elements shown at either end; twice as many and one are shown in full.
const SHOWN: usize = 4;

/// A summary of an output's contents. Elements are as Rust writes them: `-0.5`, `1e-41`, `NaN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// The output's name.
    pub name: String,
    /// The type of its elements, as a launch file calls it.
    pub element: &'static str,
    /// Number of elements.
    pub count: usize,
    /// The first elements; all when there are few.
    pub first: Vec<String>,
    /// The last elements, unless all are among the first.
    pub last: Vec<String>,
    /// The least element that is a number, and the greatest; `None` when none is.
    pub range: Option<(String, String)>,
    /// Elements that are not a number.
    pub nans: usize,
}

impl Output {
    /// A summary of the contents.
    #[must_use]
    pub fn glance(&self) -> Glance {
        with_element!(self.element, T => self.glance_as::<T>())
    }

    /// Writes one element a line.
    ///
    /// # Errors
    /// What the writer fails with.
    pub fn write_text(&self, to: &mut dyn Write) -> io::Result<()> {
        with_element!(self.element, T => {
            self.bytes.chunks_exact(T::BYTES).try_for_each(|bytes| writeln!(to, "{:?}", T::get(bytes)))
        })
    }

    fn glance_as<T: Element>(&self) -> Glance {
        let count = self.bytes.len() / T::BYTES;
        let element = |index: usize| T::get(&self.bytes[index * T::BYTES..]);
        let texts =
            |range: std::ops::Range<usize>| range.map(|index| format!("{:?}", element(index))).collect();
        let (first, last) = if count <= 2 * SHOWN + 1 { (count, count) } else { (SHOWN, count - SHOWN) };
        let mut nans = 0;
        let mut range: Option<(T, T)> = None;
        for value in (0..count).map(element) {
            if value.partial_cmp(&value).is_none() {
                nans += 1;
                continue;
            }
            let (least, greatest) = range.get_or_insert((value, value));
            if value < *least {
                *least = value;
            }
            if value > *greatest {
                *greatest = value;
            }
        }
        Glance {
            name: self.name.clone(),
            element: T::NAME,
            count,
            first: texts(0..first),
            last: texts(last..count),
            range: range.map(|(least, greatest)| (format!("{least:?}"), format!("{greatest:?}"))),
            nans,
        }
    }
}

impl fmt::Display for Glance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, element, count, first, last, range, nans } = self;
        write!(f, "{name}: {count} {element}: {}", first.join(", "))?;
        if !last.is_empty() {
            write!(f, ", ..., {}", last.join(", "))?;
        }
        if let Some((least, greatest)) = range {
            write!(f, "; {least} to {greatest}")?;
        }
        if *nans > 0 {
            write!(f, "; {nans} NaN")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::to_bytes;
    use crate::{DevicePtr, Expected};

    fn output<T: Element>(values: &[T]) -> Output {
        let bytes = to_bytes(values);
        Output { name: "x".into(), ptr: DevicePtr(0), element: T::NAME, bytes, expected: Expected::Anything }
    }

    #[test]
    fn ends_range_and_nans_are_seen() {
        let glance = |output: Output| output.glance().to_string();
        assert_eq!(glance(output(&[5_u64])), "x: 1 u64: 5; 5 to 5");
        assert_eq!(
            glance(output(&[i64::MAX, -3, 2])),
            "x: 3 i64: 9223372036854775807, -3, 2; -3 to 9223372036854775807"
        );
        let mut values: Vec<f32> = (0..100).map(|n| n as f32 / 2.0).collect();
        values[1] = f32::NAN;
        values[50] = f32::NEG_INFINITY;
        assert_eq!(
            glance(output(&values)),
            "x: 100 f32: 0.0, NaN, 1.0, 1.5, ..., 48.0, 48.5, 49.0, 49.5; -inf to 49.5; 1 NaN"
        );
        assert_eq!(glance(output(&values[..9])).matches(", ").count(), 8, "all of nine");
        assert_eq!(glance(output(&[f64::NAN])), "x: 1 f64: NaN; 1 NaN");
    }

    #[test]
    fn text_has_one_element_a_line_and_reads_back() {
        let values = [0.1_f32, -0.0, 1e-41, f32::INFINITY];
        let mut text = Vec::new();
        output(&values).write_text(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "0.1\n-0.0\n1e-41\ninf\n");
        assert!(text.lines().zip(values).all(|(line, value)| line.parse() == Ok(value)));
    }
}
