//! Texts that are to be linked, as bytes that stand in the place of machine code: the texts in order, and what they are linked with.
//!
//! A first line gives the register limit, and a line before each text its length and its name. A NUL ends it all.

/// Start of an image; the most registers of a thread follow, or 0.
const LINKED: &str = "// linked texts; registers a thread at most: ";
/// Start of a text; its length in bytes, a space and its name follow.
const TEXT: &str = "// text: ";

/// Name and text of each of several PTX texts.
pub type Texts = Vec<(String, String)>;

/// Encodes texts, each with its name, and the most registers of a thread.
pub fn image(texts: &[(String, String)], registers: Option<u32>) -> Vec<u8> {
    let mut all = format!("{LINKED}{}\n", registers.unwrap_or(0));
    for (name, text) in texts {
        all += &format!("{TEXT}{} {}\n{text}\n", text.len(), name.replace('\n', " "));
    }
    all.push('\0');
    all.into_bytes()
}

/// Whether a text is an image of several.
pub fn is_image(text: &str) -> bool {
    text.starts_with(LINKED)
}

/// Decodes an image, without the NUL that ends it. Nothing where it is none.
pub fn texts(image: &str) -> Option<(Texts, Option<u32>)> {
    let (registers, mut rest) = image.strip_prefix(LINKED)?.split_once('\n')?;
    let registers = Some(registers.parse().ok()?).filter(|most| *most > 0);
    let mut texts = Vec::new();
    while let Some(text) = rest.strip_prefix(TEXT) {
        let (head, text) = text.split_once('\n')?;
        let (bytes, name) = head.split_once(' ')?;
        let (text, after) = text.split_at_checked(bytes.parse().ok()?)?;
        texts.push((name.to_owned(), text.to_owned()));
        rest = after.strip_prefix('\n')?;
    }
    (rest.is_empty() && !texts.is_empty()).then_some((texts, registers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_were_written() {
        let of = vec![("a.ptx".to_owned(), "one\n// text: 3 x\n".to_owned()), ("b c".into(), String::new())];
        for registers in [None, Some(38)] {
            let bytes = image(&of, registers);
            let text = str::from_utf8(&bytes).unwrap().trim_end_matches('\0');
            assert!(is_image(text));
            assert_eq!(texts(text), Some((of.clone(), registers)));
        }
        for wrong in
            ["", "0", "0\n", "0\n// text: 9 a\nshort\n", "x\n// text: 0 a\n\n", "0\n// text: 0 a\n\nmore"]
        {
            assert_eq!(texts(&format!("{LINKED}{wrong}")), None, "{wrong:?}");
        }
        assert_eq!(texts(".version 8.0"), None);
    }
}
