//! The forms of PTX in `forms.txt`: instructions whose opcodes have alternatives, family by family.

/// Most instructions that one form may stand for: a slip of the pen must not take minutes.
const MOST_EXPANSIONS: usize = 2000;

/// A line of the file.
pub struct Form<'a> {
    /// Opcode and modifiers, with alternatives.
    pub words: &'a str,
    /// The operands of each instruction.
    pub operands: &'a str,
    /// Whether it is refused.
    pub refused: bool,
    /// Names of the oracles that say what it computes; none when it is refused.
    pub oracles: Vec<&'a str>,
}

impl Form<'_> {
    /// Its first word.
    pub fn opcode(&self) -> &str {
        self.words.split(['.', '(', '[']).next().expect("a split has a first part")
    }

    /// The opcodes and modifiers that the form stands for.
    pub fn expansions(&self) -> Vec<String> {
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
pub fn families(data: &str) -> Vec<(&str, Vec<Form<'_>>)> {
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
        let (line, oracles) = line.split_once(" @ ").unwrap_or((line, ""));
        let oracles = oracles.split_whitespace().collect();
        let (words, operands) = line.split_once(' ').unwrap_or((line, ""));
        families.last_mut().expect("a family comes first").1.push(Form { words, operands, refused, oracles });
    }
    families
}

/// A kernel with registers of all kinds around an instruction.
pub fn kernel(instruction: &str) -> String {
    format!(
        ".version 8.8\n.target sm_100\n.address_size 64\n\
         .global .align 16 .b8 g[64]; .const .b32 c[4]; .global .texref t; .global .surfref s2;\n\
         .func (.param .b32 r) f(.param .b32 a) {{ ret; }}\n\
         .visible .entry k(.param .u64 p, .param .u32 n) {{\n\
         .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b128 %q<4>;\n\
         .reg .f32 %f<8>; .reg .f64 %d<8>; .shared .align 16 .b8 s[64]; .local .align 16 .b8 l[64];\n\
         {instruction};\n\
         L: ret; }}\n"
    )
}
