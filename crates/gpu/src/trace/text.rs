//! The instructions of a kernel, by name and by text.

use strata_ptx::program::Kernel;

use super::file::{Text, TraceFile};

/// Names and texts of a kernel's instructions.
pub struct Instructions<'a> {
    kernel: &'a Kernel,
    lines: Vec<&'a str>,
    /// By instruction: the numbers of its name and its text, once a file has them.
    numbers: Vec<Option<(Text, Text)>>,
}

impl<'a> Instructions<'a> {
    /// Of a kernel of the module with this text.
    pub fn new(kernel: &'a Kernel, ptx: &'a str) -> Instructions<'a> {
        Instructions { kernel, lines: ptx.lines().collect(), numbers: vec![None; kernel.code.len()] }
    }

    /// The numbers of an instruction's name and text in a file, always the same one.
    pub fn numbers(&mut self, file: &mut TraceFile, pc: u32) -> (Text, Text) {
        if let Some(numbers) = self.numbers[pc as usize] {
            return numbers;
        }
        let numbers = (file.name(self.name(pc)), file.text(&self.text(pc)));
        self.numbers[pc as usize] = Some(numbers);
        numbers
    }

    /// An instruction's mnemonic, with its types: `ld.global.f32`.
    fn name(&self, pc: u32) -> &str {
        mnemonic(self.line(pc).1)
    }

    /// Its line and what stands there.
    fn text(&self, pc: u32) -> String {
        match self.line(pc) {
            (number, "") => number,
            (number, line) => {
                let words: Vec<&str> = line.split_whitespace().collect();
                format!("{number}: {}", words.join(" "))
            }
        }
    }

    fn line(&self, pc: u32) -> (String, &str) {
        match self.kernel.source(self.kernel.code[pc as usize].line) {
            // What is linked in has a text of its own, which is not at hand.
            (Some(text), line) => (format!("{text}:{line}"), ""),
            (None, line) => {
                let text = (line as usize).checked_sub(1).and_then(|index| self.lines.get(index));
                (line.to_string(), text.map_or("", |text| text.trim()))
            }
        }
    }
}

/// The mnemonic of a line of PTX, behind labels and a guard.
fn mnemonic(line: &str) -> &str {
    let mut words = line.split_whitespace().skip_while(|word| word.ends_with(':') || *word == "{");
    let first = words.next().unwrap_or_default();
    let word = if first.starts_with('@') { words.next().unwrap_or_default() } else { first };
    let word = word.trim_end_matches(';');
    if word.is_empty() { "instruction" } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mnemonic_stands_behind_labels_and_a_guard() {
        for (line, expected) in [
            ("ld.global.f32 %f1, [%rd4];", "ld.global.f32"),
            ("@!%p1 bra $L__BB0_2;", "bra"),
            ("$L__BB0_2: add.s32 %r1, %r1, 1;", "add.s32"),
            ("ret;", "ret"),
            ("{ .reg .b32 t;", ".reg"),
            ("", "instruction"),
        ] {
            assert_eq!(mnemonic(line), expected, "{line}");
        }
    }
}
