//! Bars as wide as their frame, whatever that is: of the parts of a whole, and of one share.

use maud::{Markup, html};

use super::chart::px;
use super::colour::Palette;
use crate::report::number;

/// A part of a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The place of its colour.
    pub place: usize,
    /// How much it is.
    pub value: f64,
}

/// Parts of a whole side by side, with their shares where a pointer rests.
pub fn whole(parts: &[Part<'_>], height: f64, label: &str, palette: &mut Palette) -> Markup {
    within(parts, parts.iter().map(|part| part.value).sum(), height, label, palette)
}

/// Parts of a whole as [`whole`], in a frame that stands for `most`.
pub fn within(parts: &[Part<'_>], most: f64, height: f64, label: &str, palette: &mut Palette) -> Markup {
    const WIDTH: f64 = 1000.0;
    let all: f64 = parts.iter().map(|part| part.value).sum();
    let mut left = 0.0;
    html! {
        svg.share.whole width="100%" height=(px(height)) viewBox=(format!("0 0 {} {}", px(WIDTH), px(height))) preserveAspectRatio="none"
            role="img" aria-label=(label) {
            @for part in parts.iter().filter(|_| most > 0.0) {
                @let width = WIDTH * part.value / most;
                @if width >= 0.2 {
                    rect class=(palette.part(part.place)) x=(format!("{left:.2}")) width=(format!("{width:.2}")) height=(px(height)) {
                        title { (part.name) ": " (percent(part.value, all)) }
                    }
                }
                @let () = left += width;
            }
        }
    }
}

/// The names of parts that are not 0, with their colours and shares.
pub fn legend(parts: &[Part<'_>], palette: &mut Palette) -> Markup {
    let all: f64 = parts.iter().map(|part| part.value).sum();
    html! {
        div.legend {
            @for part in parts.iter().filter(|part| part.value > 0.0) {
                span.key { i class=(palette.part(part.place)) {} (part.name) " " b { (percent(part.value, all)) } }
            }
        }
    }
}

/// A bar that is filled by a share, 0 to 1, and a text beside it.
pub fn share(share: f64, class: &str, text: &str) -> Markup {
    html! {
        span.barred { (bar(share, class)) span { (text) } }
    }
}

fn bar(share: f64, class: &str) -> Markup {
    html! {
        svg.bar width="84" height="9" viewBox="0 0 84 9" aria-hidden="true" {
            rect.ground width="84" height="9" {}
            rect class=(class) width=(format!("{:.2}", 84.0 * share.clamp(0.0, 1.0))) height="9" {}
        }
    }
}

/// A bar to the left or right of a middle line, as wide as a change is of the widest, and a text beside it.
pub fn change(change: f64, widest: f64, text: &str) -> Markup {
    const HALF: f64 = 42.0;
    let width = if widest > 0.0 { HALF * (change.abs() / widest).min(1.0) } else { 0.0 };
    let (class, left) = if change > 0.0 { ("hot", HALF) } else { ("cool", HALF - width) };
    html! {
        span.barred {
            svg.bar width="84" height="9" viewBox="0 0 84 9" aria-hidden="true" {
                rect.ground width="84" height="9" {}
                rect class=(class) x=(format!("{left:.2}")) width=(format!("{width:.2}")) height="9" {}
            }
            span { (text) }
        }
    }
}

/// A part of a whole in percent.
pub fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{} %", number_of_percent(100.0 * part / whole)) } else { "–".into() }
}

fn number_of_percent(percent: f64) -> String {
    match percent {
        0.0 => "0".into(),
        _ if percent < 0.05 => "< 0.1".into(),
        _ => format!("{percent:.1}"),
    }
}

/// Bytes in a binary unit.
pub fn bytes(count: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    if unit == 0 { format!("{count:.0} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// A rate of bytes.
pub fn rate(bytes_per_second: f64) -> String {
    format!("{} GB/s", number(bytes_per_second / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_bytes_for_readers() {
        assert_eq!([percent(1.0, 3.0), percent(1.0, 0.0), percent(0.0, 2.0)], ["33.3 %", "–", "0 %"]);
        assert_eq!(percent(1.0, 1e6), "< 0.1 %");
        assert_eq!([bytes(1023.0), bytes(1536.0)], ["1023 B", "1.5 KiB"]);
    }

    #[test]
    fn changes_lie_on_their_side_of_the_middle() {
        let less = change(-5.0, 10.0, "-5").into_string();
        assert!(less.contains("class=\"cool\" x=\"21.00\" width=\"21.00\""), "{less}");
        let more = change(10.0, 10.0, "+10").into_string();
        assert!(more.contains("class=\"hot\" x=\"42.00\" width=\"42.00\""), "{more}");
    }

    #[test]
    fn parts_fill_the_bar() {
        let part = |name, place, value| Part { name, place, value };
        let bar = whole(&[part("a", 0, 3.0), part("b", 1, 1.0)], 10.0, "all", &mut Palette::default())
            .into_string();
        assert!(
            bar.contains("x=\"0.00\" width=\"750.00\"") && bar.contains("x=\"750.00\" width=\"250.00\""),
            "{bar}"
        );
        assert!(bar.contains("<title>a: 75.0 %</title>"), "{bar}");
    }
}
