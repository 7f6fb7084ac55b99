//! Parsing loses nothing: what is parsed, printed and parsed again is lowered to the same code. Over every text of the
//! project and every form that it executes.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use strata_ptx::front::ast::{
    Base, CallHint, DeclSpace, DeclType, Function, Init, Instruction, Item, Linkage, Module, Name, Operand,
    OperandKind, Statement, Value, Variable,
};
use strata_ptx::front::{LoweredModule, lower, parse_module};
use strata_ptx::ir::Opaque;

/// Prints a module as a text.
struct Printer<'a> {
    module: &'a Module,
    out: String,
}

impl<'a> Printer<'a> {
    fn print(module: &'a Module) -> String {
        let mut printer = Printer { module, out: String::new() };
        printer.put(&format!(
            ".version {}\n.target {}\n.address_size {}\n",
            module.version, module.target, module.address_size
        ));
        for item in &module.items {
            match item {
                Item::Variable(variable) => {
                    printer.variable(variable);
                    printer.put(";\n");
                }
                Item::Function(function) => printer.function(function),
                Item::Alias { name, aliasee, .. } => {
                    let text = format!(".alias {}, {};\n", printer.text(*name), printer.text(*aliasee));
                    printer.put(&text);
                }
            }
        }
        printer.out
    }

    fn text(&self, name: Name) -> &'a str {
        self.module.names.text(name)
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn linkage(&mut self, linkage: Linkage) {
        self.put(match linkage {
            Linkage::Internal => "",
            Linkage::Visible => ".visible ",
            Linkage::Extern => ".extern ",
            Linkage::Weak => ".weak ",
            Linkage::Common => ".common ",
        });
    }

    fn variable(&mut self, variable: &Variable) {
        self.linkage(variable.linkage);
        self.put(match variable.space {
            DeclSpace::Reg => ".reg ",
            DeclSpace::Global | DeclSpace::Opaque => ".global ",
            DeclSpace::Shared => ".shared ",
            DeclSpace::Local => ".local ",
            DeclSpace::Const => ".const ",
            DeclSpace::Param => ".param ",
        });
        if let Some(align) = variable.align {
            write!(self.out, ".align {align} ").expect("a string takes all");
        }
        if variable.vector > 1 {
            write!(self.out, ".v{} ", variable.vector).expect("a string takes all");
        }
        match variable.ty {
            DeclType::Scalar(ty) => {
                write!(self.out, ".{}", format!("{ty:?}").to_lowercase()).expect("a string takes all");
            }
            DeclType::Opaque(Opaque::Texture) => self.put(".texref"),
            DeclType::Opaque(Opaque::Sampler) => self.put(".samplerref"),
            DeclType::Opaque(Opaque::Surface) => self.put(".surfref"),
        }
        self.put(" ");
        self.put(self.text(variable.name));
        if let Some(range) = variable.range {
            write!(self.out, "<{range}>").expect("a string takes all");
        }
        for dim in &variable.dims {
            match dim {
                Some(dim) => write!(self.out, "[{dim}]").expect("a string takes all"),
                None => self.put("[]"),
            }
        }
        if let Some(init) = &variable.init {
            self.put(" = ");
            self.init(init);
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Value(value, _) => self.value(*value),
            Init::Address { name, generic, addend, mask, .. } => {
                let name = self.text(*name);
                let mut text = if *generic { format!("generic({name})") } else { name.to_string() };
                if *addend != 0 {
                    write!(text, "{addend:+}").expect("a string takes all");
                }
                match mask {
                    Some(mask) => write!(self.out, "{mask:#x}({text})").expect("a string takes all"),
                    None => self.put(&text),
                }
            }
            Init::List(list, _) => {
                self.put("{");
                self.separated(list, Self::init);
                self.put("}");
            }
        }
    }

    fn value(&mut self, value: Value) {
        match value {
            Value::Int(bits) => write!(self.out, "{}", bits as i64),
            Value::F32(bits) => write!(self.out, "0f{bits:08x}"),
            Value::F64(bits) => write!(self.out, "0d{bits:016x}"),
        }
        .expect("a string takes all");
    }

    fn separated<T>(&mut self, list: &[T], mut print: impl FnMut(&mut Self, &T)) {
        for (n, item) in list.iter().enumerate() {
            if n > 0 {
                self.put(", ");
            }
            print(self, item);
        }
    }

    fn function(&mut self, function: &Function) {
        self.linkage(function.linkage);
        self.put(if function.entry { ".entry " } else { ".func " });
        if !function.returns.is_empty() {
            self.put("(");
            self.separated(&function.returns, Self::variable);
            self.put(") ");
        }
        self.put(self.text(function.name));
        self.put("(");
        self.separated(&function.params, Self::variable);
        self.put(")\n");
        for directive in &function.directives {
            let values: Vec<String> = directive.values.iter().map(u64::to_string).collect();
            let text = format!(".{} {}\n", self.text(directive.name), values.join(", "));
            self.put(&text);
        }
        match &function.body {
            Some(body) => self.block(body),
            None => self.put(";\n"),
        }
    }

    fn block(&mut self, body: &[Statement]) {
        self.put("{\n");
        for statement in body {
            self.statement(statement);
        }
        self.put("}\n");
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Label(name, _) => {
                self.put(self.text(*name));
                self.put(":\n");
            }
            Statement::Variable(variable) => {
                self.variable(variable);
                self.put(";\n");
            }
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::Block(body) => self.block(body),
            Statement::NoUnroll(_) => self.put(".pragma \"nounroll\";\n"),
            Statement::BranchTargets { name, labels, .. } => {
                self.put(self.text(*name));
                self.put(": .branchtargets ");
                self.separated(labels, |printer, (label, _)| printer.put(printer.text(*label)));
                self.put(";\n");
            }
            Statement::CallHint { name, hint, .. } => {
                self.put(self.text(*name));
                match hint {
                    CallHint::Prototype { returns, params } => {
                        self.put(": .callprototype (");
                        self.separated(returns, Self::variable);
                        self.put(") _ (");
                        self.separated(params, Self::variable);
                        self.put(")");
                    }
                    CallHint::Targets(targets) => {
                        self.put(": .calltargets ");
                        self.separated(targets, |printer, (name, _)| printer.put(printer.text(*name)));
                    }
                }
                self.put(";\n");
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        if let Some(guard) = instruction.guard {
            self.put(if guard.negated { "@!" } else { "@" });
            self.put(self.text(guard.name));
            self.put(" ");
        }
        self.put(self.text(instruction.opcode));
        for modifier in &instruction.modifiers {
            self.put(".");
            self.put(self.text(modifier.name));
        }
        self.put(" ");
        self.separated(&instruction.operands, |printer, operand: &Operand| printer.operand(&operand.kind));
        self.put(";\n");
    }

    fn address(&mut self, base: Base, offset: i64) {
        let text = match base {
            Base::Name(name) if offset == 0 => self.text(name).to_string(),
            Base::Name(name) => format!("{}{offset:+}", self.text(name)),
            Base::Absolute => offset.to_string(),
        };
        self.put(&text);
    }

    fn operand(&mut self, operand: &OperandKind) {
        let nested = |printer: &mut Self, operand: &Operand| printer.operand(&operand.kind);
        match operand {
            OperandKind::Name(name) => self.put(self.text(*name)),
            OperandKind::Component(name, component) => {
                let text = format!("{}.{}", self.text(*name), self.text(*component));
                self.put(&text);
            }
            OperandKind::Lane(..) => unreachable!("no text stands for it"),
            OperandKind::Not(name) => {
                self.put("!");
                self.put(self.text(*name));
            }
            OperandKind::Offset(name, addend) => {
                let text = format!("{}{addend:+}", self.text(*name));
                self.put(&text);
            }
            OperandKind::Value(value) => self.value(*value),
            OperandKind::Negated(operand) => {
                self.put("-");
                self.operand(operand);
            }
            OperandKind::Element(name, index) => {
                let text = format!("{}[{}]", self.text(*name), self.text(*index));
                self.put(&text);
            }
            OperandKind::Indexed { array, index, .. } => {
                let text = format!("{}[{index}]", self.text(*array));
                self.put(&text);
            }
            OperandKind::Sink => self.put("_"),
            OperandKind::Pair(pair) => {
                self.operand(&pair.0.kind);
                self.put("|");
                self.operand(&pair.1.kind);
            }
            OperandKind::Vector(list) => {
                self.put("{");
                self.separated(list, nested);
                self.put("}");
            }
            OperandKind::Memory { base, offset } => {
                self.put("[");
                self.address(*base, *offset);
                self.put("]");
            }
            OperandKind::Bracket(list) => {
                self.put("[");
                self.separated(list, |printer, operand| match operand.kind {
                    OperandKind::Memory { base, offset } => printer.address(base, offset),
                    _ => nested(printer, operand),
                });
                self.put("]");
            }
            OperandKind::List(list) => {
                self.put("(");
                self.separated(list, nested);
                self.put(")");
            }
        }
    }
}

/// What a module is lowered to, without lines; nothing when something in it is not executed.
fn lowered(module: &Module) -> Option<LoweredModule> {
    let mut lowered = lower(module, None).ok()?;
    for function in &mut lowered.functions {
        function.code.iter_mut().for_each(|instruction| instruction.line = 0);
        function.rolled.iter_mut().for_each(|line| *line = 0);
        function.sources.clear();
    }
    Some(lowered)
}

/// Whether the text was lowered, and so compared.
fn check(name: &str, text: &str) -> bool {
    let first = parse_module(name, text).unwrap_or_else(|error| panic!("{error}"));
    let printed = Printer::print(&first);
    let second = parse_module(name, &printed).unwrap_or_else(|error| panic!("{error} in\n{printed}"));
    assert_eq!(Printer::print(&second), printed, "{name}: the second print differs");
    let (first, second) = (lowered(&first), lowered(&second));
    assert!(first == second, "{name}: the printed text means something else:\n{printed}");
    first.is_some()
}

/// Every `.ptx` below a folder.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            found.push(path);
        }
    }
}

#[test]
fn every_text_of_the_project() {
    let mut found = Vec::new();
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/src"), &mut found);
    found.sort();
    assert!(found.len() > 40, "the suite is there: {} texts", found.len());
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a text can be read");
        assert!(check(&path.display().to_string(), &text), "{}: not lowered", path.display());
    }
}

#[test]
fn what_texts_of_compilers_seldom_have() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n\
        .extern .shared .align 16 .b8 dynamic[];\n\
        .global .align 8 .b64 table[3] = {table, generic(other)+4, -1};\n.global .align 4 .f32 other[2] = {0f3f800000, 2.5};\n\
        .const .align 1 .b8 bytes[2][3] = {{1, 2, 3}, {4, 5, 0xff}};\n\
        .func (.reg .b32 r) f(.reg .b32 a, .reg .b32 b) { @!p0 bra L; .reg .pred p0; L: sub.u32 r, a, b; ret; }\n";
    let text = text.replace(
        "@!p0 bra L; .reg .pred p0; L:",
        ".reg .pred p0; setp.eq.u32 p0, a, b; @!p0 bra L; mov.u32 a, 5; L:",
    );
    let text = format!(
        "{text}.visible .entry k(.param .u64 p, .param .align 4 .b8 s[12]) .maxntid 128, 1, 1 .minnctapersm 2 {{\n\
         .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>; .reg .v2 .f32 v; .reg .f32 %f<4>; .local .align 8 .b8 l[16];\n\
         ld.param.u64 %rd0, [p]; ld.param.u32 %r1, [s+8]; mov.u32 %r2, %tid.x; mov.u64 %rd1, other+4;\n\
         {{ .reg .b32 %r1; mov.u32 %r1, 7; add.s32 %r2, %r1, -3; }}\n\
         shfl.sync.up.b32 %r3|%p1, %r2, 1, 0, -1; mov.b64 {{%r4, _}}, %rd0; mov.f32 v.x, 0f3f800000; mov.f32 v.y, 1.5;\n\
         mov.b64 %rd2, {{v.x, v.y}}; selp.b32 %r4, 1, 2, %p1; setp.ne.and.s32 %p2, %r4, 0, !%p1;\n\
         call (%r5), f, (%r4, 3); @%p2 st.global.u32 [%rd0+-4], %r5; ld.local.u32 %r6, [l+8]; vmad.u32.u32.u32 %r7, %r6.b1, %r5, -%r4;\n\
         t: .branchtargets A, B; brx.idx %r2, t; A: exit; B: ret; }}\n"
    );
    assert!(check("seldom.ptx", &text), "the text is executed");
}

#[test]
fn every_form() {
    // Refused forms are printed and parsed too.
    let forms =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forms.txt")).expect("the forms");
    let mut compared = 0;
    for line in forms.lines().map(|line| line.trim_start_matches("! ")) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (line, _) = line.split_once(" @ ").unwrap_or((line, ""));
        let (words, operands) = line.split_once(' ').unwrap_or((line, ""));
        // The first of every choice.
        let mut plain = String::new();
        let mut rest = words;
        while let Some(open) = rest.find(['(', '[']) {
            let close = rest.find([')', ']']).expect("an alternative is closed");
            plain.push_str(&rest[..open]);
            plain.push_str(rest[open + 1..close].split(',').next().unwrap_or_default());
            rest = &rest[close + 1..];
        }
        plain.push_str(rest);
        let text = format!(
            ".version 8.8\n.target sm_100\n.address_size 64\n.global .align 16 .b8 g[64]; .const .b32 c[4];\n\
             .func (.param .b32 r) f(.param .b32 a) {{ ret; }}\n.visible .entry k(.param .u64 p, .param .u32 n) {{\n\
             .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b128 %q<4>;\n\
             .reg .f32 %f<8>; .reg .f64 %d<8>; .shared .align 16 .b8 s[64]; .local .align 16 .b8 l[64];\n\
             {plain} {operands};\nL: ret; }}\n"
        );
        compared += usize::from(check(&plain, &text));
    }
    assert!(compared > 200, "{compared} forms were compared");
}
