//! "Did you mean": the known names that a misspelt one resembles.

/// Least likeness of a name that is suggested.
const ALIKE: f64 = 0.8;

/// Most names that are suggested.
const MOST: usize = 3;

/// How much two names resemble each other, from 0 to 1; capitals do not count.
pub fn likeness(found: &str, known: &str) -> f64 {
    strsim::jaro_winkler(&found.to_ascii_lowercase(), &known.to_ascii_lowercase())
}

/// ` (did you mean ...?)` with the known names that resemble `found`, the most similar first; empty if none does.
pub fn did_you_mean<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut alike: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (likeness(found, known), known))
        .filter(|(likeness, _)| *likeness > ALIKE)
        .collect();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0));
    alike.dedup_by(|one, other| one.1 == other.1);
    let names: Vec<String> = alike.iter().take(MOST).map(|(_, name)| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(" (did you mean {}?)", names.join(", ")) }
}

/// Adds the suggestion to serde's message about an unknown field or variant: "unknown field `a`, expected one of
/// `b`, `c`".
pub(super) fn hint(message: &str) -> String {
    let added = || {
        let (what, found, known) = unknown(message)?;
        let hint = did_you_mean(found, known.split('`').skip(1).step_by(2));
        Some(format!("unknown {what} `{found}`{hint}, expected {known}"))
    };
    added().unwrap_or_else(|| message.to_owned())
}

/// Kind, name and known names of such a message.
fn unknown(message: &str) -> Option<(&str, &str, &str)> {
    let (what, rest) = message.strip_prefix("unknown ")?.split_once(" `")?;
    let (found, known) = rest.split_once("`, expected ")?;
    Some((what, found, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_comes_first() {
        assert_eq!(did_you_mean("Way", ["sets", "ways", "ports"]), " (did you mean `ways`?)");
        assert_eq!(did_you_mean("gem", ["sgemm", "bfs", "gemm"]), " (did you mean `gemm`, `sgemm`?)");
        assert_eq!(did_you_mean("zzz", ["gemm"]), "");
    }

    #[test]
    fn messages_of_unknown_fields_get_a_hint() {
        for (message, hinted) in [
            (
                "unknown field `way`, expected one of `sets`, `ways`, `x`",
                "unknown field `way` (did you mean `ways`?), expected one of `sets`, `ways`, `x`",
            ),
            ("unknown variant `y`, expected `a` or `b`", "unknown variant `y`, expected `a` or `b`"),
            ("missing field `way`", "missing field `way`"),
        ] {
            assert_eq!(hint(message), hinted);
        }
    }
}
