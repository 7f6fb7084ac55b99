//! docs/ptx.md: what is executed of PTX and what is refused, kept true.
//!
//! `forms.txt` holds the forms, family by family. A form is an instruction whose opcode may have alternatives:
//! `(.a,.b)` is one of them, `[.a]` one or none. Every instruction that it stands for is parsed and lowered; one
//! behind `!` must be refused as unsupported. The page is written from the same lines: `UPDATE_EXPECT=1` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use strata_ptx::front::{lower, parse_module};

/// Most instructions that one form may stand for: a slip of the pen must not take minutes.
const MOST_EXPANSIONS: usize = 2000;

/// A line of the file.
struct Form<'a> {
    /// Opcode and modifiers, with alternatives.
    words: &'a str,
    operands: &'a str,
    refused: bool,
}

impl Form<'_> {
    fn opcode(&self) -> &str {
        self.words.split(['.', '(', '[']).next().expect("a split has a first part")
    }

    /// The opcodes and modifiers that the form stands for.
    fn expansions(&self) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut rest = self.words;
        while !rest.is_empty() {
            let end = rest.find(['(', '[']).unwrap_or(rest.len());
            all.iter_mut().for_each(|text| text.push_str(&rest[..end]));
            rest = &rest[end..];
            if rest.is_empty() {
                break;
            }
            let close = rest.find([')', ']']).expect("an alternative is closed");
            let mut choices: Vec<&str> = rest[1..close].split(',').collect();
            if rest.starts_with('[') {
                choices.push("");
            }
            all =
                choices.iter().flat_map(|choice| all.iter().map(move |text| text.clone() + choice)).collect();
            assert!(all.len() <= MOST_EXPANSIONS, "{} stands for too much", self.words);
            rest = &rest[close + 1..];
        }
        all
    }
}

/// The families of the file in its order.
fn families(data: &str) -> Vec<(&str, Vec<Form<'_>>)> {
    let mut families: Vec<(&str, Vec<Form<'_>>)> = Vec::new();
    for line in data.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            families.push((name, Vec::new()));
            continue;
        }
        let (line, refused) = match line.strip_prefix("! ") {
            Some(line) => (line, true),
            None => (line, false),
        };
        let (words, operands) = line.split_once(' ').unwrap_or((line, ""));
        families.last_mut().expect("a family comes first").1.push(Form { words, operands, refused });
    }
    families
}

/// What is wrong with an instruction in a kernel that has registers of all kinds: nothing, that it is not
/// executed, or something else.
fn verdict(instruction: &str) -> Result<(), (bool, String)> {
    let text = format!(
        ".version 8.8\n.target sm_100\n.address_size 64\n\
         .global .align 16 .b8 g[64]; .const .b32 c[4]; .global .texref t; .global .surfref s2;\n\
         .func (.param .b32 r) f(.param .b32 a) {{ ret; }}\n\
         .visible .entry k(.param .u64 p, .param .u32 n) {{\n\
         .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b128 %q<4>;\n\
         .reg .f32 %f<8>; .reg .f64 %d<8>; .shared .align 16 .b8 s[64]; .local .align 16 .b8 l[64];\n\
         {instruction};\n\
         L: ret; }}\n"
    );
    match parse_module("form.ptx", &text).and_then(|module| lower(&module, None)) {
        Ok(_) => Ok(()),
        Err(diagnostics) => Err((diagnostics.only_unsupported(), diagnostics.to_string())),
    }
}

/// Opcodes between quotes in a piece of source.
fn quoted(source: &str) -> BTreeSet<&str> {
    let words = source.split('"').skip(1).step_by(2);
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

fn page(families: &[(&str, Vec<Form<'_>>)], altogether: &BTreeSet<&str>) -> String {
    let mut page = String::from(
        "# PTX\n\n\
         The PTX that Strata executes, by family, and the PTX that it refuses by name and place. A test parses and \
         lowers every form below and writes this page (`crates/ptx/tests/forms.rs`). `(.a,.b)` stands for one of \
         the words, `[.a]` for one or none. The PTX ISA defines what a type means for an operand. The target does \
         not change what is executed.\n",
    );
    for (name, forms) in families {
        let mut rows: BTreeMap<&str, [Vec<String>; 2]> = BTreeMap::new();
        let mut order = Vec::new();
        for form in forms {
            if !order.contains(&form.opcode()) {
                order.push(form.opcode());
            }
            let cell = format!("`{}`", form.words);
            rows.entry(form.opcode()).or_default()[usize::from(form.refused)].push(cell);
        }
        write!(page, "\n## {name}\n\n| opcode | executed | refused |\n|---|---|---|\n").expect("a string");
        for opcode in order {
            let [executed, refused] = rows[opcode].clone().map(|cells| cells.join("<br>"));
            writeln!(page, "| `{opcode}` | {executed} | {refused} |").expect("a string");
        }
    }
    let list: Vec<String> = altogether.iter().map(|opcode| format!("`{opcode}`")).collect();
    write!(page, "\n## Refused altogether\n\n{}.\n", list.join(", ")).expect("a string");
    page
}

#[test]
fn the_page_says_what_is_executed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = std::fs::read_to_string(root.join("tests/forms.txt")).expect("the forms lie beside the test");
    let families = families(&data);
    let mut wrong = Vec::new();
    for form in families.iter().flat_map(|(_, forms)| forms) {
        for words in form.expansions() {
            let instruction = format!("{words} {}", form.operands);
            match (verdict(&instruction), form.refused) {
                (Ok(()), false) | (Err((true, _)), true) => {}
                (Ok(()), true) => wrong.push(format!("{instruction}: accepted")),
                (Err((_, why)), _) => wrong.push(format!("{instruction}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} instructions:\n{}", wrong.len(), wrong.join("\n"));

    // Every opcode that the front end knows is on the page, and no other.
    let source = include_str!("../src/front/lower/dispatch.rs");
    let (_, source) = source.split_once("const REFUSED").expect("the list of the refused opcodes");
    let (refused, source) = source.split_once("];").expect("its end");
    let (_, source) = source.split_once("match opcode {").expect("the families");
    let (executed, _) = source.split_once("_ if REFUSED").expect("their end");
    let refused = quoted(refused);
    let executed: BTreeSet<&str> = executed
        .lines()
        .filter_map(|line| line.split("=>").next())
        .map(|arm| arm.split(" if ").next().unwrap_or(arm))
        .flat_map(quoted)
        .collect();
    let shown: BTreeSet<&str> =
        families.iter().flat_map(|(_, forms)| forms).filter(|form| !form.refused).map(Form::opcode).collect();
    assert_eq!(shown, executed, "opcodes in forms.txt and in dispatch.rs");
    for opcode in &refused {
        let verdict = verdict(opcode);
        assert!(matches!(verdict, Err((true, _))), "`{opcode}` is refused by name: {verdict:?}");
    }

    let path = root.join("../../docs/ptx.md");
    let page = page(&families, &refused);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return std::fs::write(path, page).expect("the page can be written");
    }
    assert!(
        std::fs::read_to_string(path).is_ok_and(|old| old == page),
        "docs/ptx.md is out of date: UPDATE_EXPECT=1 cargo test -p strata-ptx --test forms writes it"
    );
}
