//! A launch file that fits a kernel of a PTX text: its parameters with placeholders for their arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use strata_engine::config::did_you_mean;
use strata_ptx::front::ast::{
    Base, DeclSpace, DeclType, Function, Instruction, Item, Linkage, Module, Name, Operand, OperandKind,
    Statement, Variable,
};
use strata_ptx::front::parse_module;
use strata_ptx::isa::Ty;

/// Elements of a buffer whose size nobody knows.
const COUNT: usize = 4096;
/// Threads of a CTA where the kernel does not say how many it needs.
const BLOCK: [u64; 3] = [32, 1, 1];
/// Bytes of shared memory beyond what the kernel declares, where it uses such.
const DYNAMIC_SHARED: usize = 4096;

/// A launch file for one kernel of a text.
pub struct Offer {
    /// The launch file.
    pub text: String,
    /// The kernel that it launches.
    pub kernel: String,
    /// The other kernels of the text.
    pub others: Vec<String>,
}

/// Reads a PTX file.
///
/// # Errors
/// Why it cannot be read.
pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}, expected a PTX file", path.display()))
}

/// The launch file of a program `name` that launches `kernel`, or the first kernel of the text. `module` is where the
/// launch file looks for the text, `file` where it lies now.
///
/// # Errors
/// A text that is not PTX or has no such kernel, or a parameter that a launch file has no argument for.
pub fn offer(
    name: &str,
    module: &str,
    file: &Path,
    text: &str,
    kernel: Option<&str>,
) -> Result<Offer, String> {
    let file = file.display().to_string();
    let parsed = parse_module(&file, text).map_err(|error| error.to_string())?;
    let functions = parsed.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.entry && function.body.is_some() => Some(function),
        _ => None,
    });
    let kernels: Vec<&Function> = functions.collect();
    let names: Vec<&str> = kernels.iter().map(|kernel| parsed.names.text(kernel.name)).collect();
    if names.is_empty() {
        return Err(format!("{file}: found no kernel, expected an .entry with a body"));
    }
    let place = match kernel {
        None => 0,
        Some(kernel) => names.iter().position(|name| *name == kernel).ok_or_else(|| {
            let alike = did_you_mean(kernel, names.iter().copied());
            format!("{file}: found no kernel `{kernel}`{alike}, expected one of {}", names.join(", "))
        })?,
    };
    let function = kernels[place];
    let arguments: Vec<Argument> = arguments(&parsed, function)
        .map_err(|(at, reason)| format!("{file}:{}:{}: {reason}", at.place.line, at.place.column))?;
    let mut others: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let kernel = others.remove(place);
    let text = launch_file(name, module, &kernel, &parsed, function, &arguments);
    Ok(Offer { text, kernel, others })
}

/// What stands for a parameter.
struct Argument {
    name: String,
    /// The parameter's type as in the text.
    ty: String,
    kind: Kind,
}

enum Kind {
    /// The address of a buffer with elements of a launch file's type.
    Buffer(&'static str),
    /// A number of a launch file's type.
    Number(&'static str),
}

/// An argument for each parameter.
fn arguments<'a>(module: &Module, function: &'a Function) -> Result<Vec<Argument>, (&'a Variable, String)> {
    let uses = Uses::of(module, function);
    let argument = |(place, parameter): (usize, &'a Variable)| {
        let name = module.names.text(parameter.name).to_owned();
        let none = |ty: &str| {
            let reason = format!(
                "parameter `{name}` is {ty}, expected a scalar: a launch file has no argument for it"
            );
            (parameter, reason)
        };
        let DeclType::Scalar(scalar) = parameter.ty else {
            return Err(none("a texture, sampler or surface"));
        };
        let elements = parameter.dims.iter().map(|length| length.unwrap_or(0)).product::<u64>();
        let elements = elements.saturating_mul(u64::from(parameter.vector));
        let bytes = elements.saturating_mul(scalar.bytes() as u64);
        let ty = match elements {
            1 if parameter.dims.is_empty() => word(scalar),
            _ => format!("{}[{elements}]", word(scalar)),
        };
        let number = match (bytes, scalar) {
            (_, Ty::F32 | Ty::F64 | Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64) if elements == 1 => element(scalar),
            (1, _) => "u8",
            (2, _) => "u16",
            (4, _) => "u32",
            (8, _) => "u64",
            _ => return Err(none(&format!("{ty}, {bytes} bytes"))),
        };
        let is_address = bytes == 8 && !scalar.is_float() && uses.addresses.contains_key(&place);
        let kind = if is_address { Kind::Buffer(uses.addresses[&place]) } else { Kind::Number(number) };
        Ok(Argument { name, ty, kind })
    };
    function.params.iter().enumerate().map(argument).collect()
}

/// A type as PTX writes it.
fn word(ty: Ty) -> String {
    format!(".{ty:?}").to_lowercase()
}

/// The type of a launch file that is closest to a PTX type.
fn element(ty: Ty) -> &'static str {
    match ty {
        Ty::S8 => "i8",
        Ty::S16 => "i16",
        Ty::S32 => "i32",
        Ty::S64 => "i64",
        Ty::F32 => "f32",
        Ty::F64 => "f64",
        _ => match ty.bytes() {
            1 => "u8",
            2 => "u16",
            4 => "u32",
            _ => "u64",
        },
    }
}

/// Which parameters a kernel makes addresses of.
struct Uses {
    /// Type of the elements that are found there, by the parameter's place.
    addresses: BTreeMap<usize, &'static str>,
}

impl Uses {
    /// Follows parameters from register to register, in whatever order the instructions run, to where memory is
    /// accessed. Sums, differences and copies of an address are addresses; a number that is multiplied or shifted first
    /// is an index.
    fn of(module: &Module, function: &Function) -> Uses {
        let parameters: BTreeMap<Name, usize> =
            function.params.iter().enumerate().map(|(place, parameter)| (parameter.name, place)).collect();
        let mut instructions = Vec::new();
        collect(function.body.as_deref().unwrap_or_default(), &mut instructions);
        let mut held: BTreeMap<Name, BTreeSet<usize>> = BTreeMap::new();
        loop {
            let mut changed = false;
            for instruction in &instructions {
                let Some((to, from)) = instruction.operands.split_first() else { continue };
                let is_load =
                    is_of_parameters(module, instruction) && module.names.text(instruction.opcode) == "ld";
                let sources: Vec<&Operand> = match module.names.text(instruction.opcode) {
                    "ld" if is_load => from.iter().collect(),
                    "mov" | "cvta" | "add" | "sub" | "selp" | "and" | "or" => from.iter().collect(),
                    "mad" => from.last().into_iter().collect(),
                    _ => continue,
                };
                let mut found = BTreeSet::new();
                for source in sources {
                    match source.kind {
                        OperandKind::Memory { base: Base::Name(name), .. } if is_load => {
                            found.extend(parameters.get(&name))
                        }
                        OperandKind::Name(name) => found.extend(held.get(&name).into_iter().flatten()),
                        _ => {}
                    }
                }
                for register in registers(to) {
                    let known = held.entry(register).or_default();
                    let before = known.len();
                    known.extend(&found);
                    changed |= known.len() > before;
                }
            }
            if !changed {
                break;
            }
        }
        let mut addresses = BTreeMap::new();
        for instruction in &instructions {
            let modifiers = || instruction.modifiers.iter().map(|modifier| module.names.text(modifier.name));
            let opcode = module.names.text(instruction.opcode);
            // What is passed to a function is most often an address.
            let passes = opcode == "st" && is_of_parameters(module, instruction);
            let loads = opcode == "ld" && is_of_parameters(module, instruction);
            for operand in instruction.operands.iter().filter(|_| !loads) {
                let register = match operand.kind {
                    OperandKind::Memory { base: Base::Name(name), .. } if !passes => name,
                    OperandKind::Name(name) if passes || opcode == "cvta" => name,
                    _ => continue,
                };
                let ty = if opcode == "cvta" || passes { None } else { modifiers().find_map(access) };
                for place in held.get(&register).into_iter().flatten() {
                    let known = addresses.entry(*place).or_insert(None);
                    *known = known.or(ty);
                }
            }
        }
        let addresses = addresses.into_iter().map(|(place, ty)| (place, ty.unwrap_or("u32"))).collect();
        Uses { addresses }
    }
}

/// The type of elements that an instruction's modifier names.
fn access(modifier: &str) -> Option<&'static str> {
    Some(match modifier {
        "f32" => "f32",
        "f64" => "f64",
        "s8" => "i8",
        "s16" => "i16",
        "s32" => "i32",
        "s64" => "i64",
        "u8" | "b8" => "u8",
        "u16" | "b16" | "f16" | "bf16" => "u16",
        "u32" | "b32" | "f16x2" | "bf16x2" => "u32",
        "u64" | "b64" => "u64",
        _ => return None,
    })
}

fn is_of_parameters(module: &Module, instruction: &Instruction) -> bool {
    instruction.modifiers.iter().any(|modifier| module.names.text(modifier.name).starts_with("param"))
}

fn registers(operand: &Operand) -> Vec<Name> {
    match &operand.kind {
        OperandKind::Name(name) => vec![*name],
        OperandKind::Vector(parts) => parts.iter().flat_map(registers).collect(),
        _ => vec![],
    }
}

fn collect<'a>(statements: &'a [Statement], instructions: &mut Vec<&'a Instruction>) {
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => instructions.push(instruction),
            Statement::Block(inner) => collect(inner, instructions),
            _ => {}
        }
    }
}

/// Whether a text uses shared memory whose size the launch gives.
fn has_dynamic_shared(module: &Module, function: &Function) -> bool {
    let is_one =
        |variable: &Variable| variable.linkage == Linkage::Extern && variable.space == DeclSpace::Shared;
    let of_module =
        module.items.iter().any(|item| matches!(item, Item::Variable(variable) if is_one(variable)));
    let body = function.body.as_deref().unwrap_or_default();
    of_module
        || body.iter().any(|statement| matches!(statement, Statement::Variable(variable) if is_one(variable)))
}

/// Threads of a CTA: those that the kernel requires, or at most as many as it allows.
fn block(module: &Module, function: &Function) -> [u64; 3] {
    let directive = |name: &str| {
        let is_it =
            |directive: &&strata_ptx::front::ast::Directive| module.names.text(directive.name) == name;
        let values = &function.directives.iter().find(is_it)?.values;
        Some([0, 1, 2].map(|side| values.get(side).copied().unwrap_or(1).max(1)))
    };
    match (directive("reqntid"), directive("maxntid")) {
        (Some(required), _) => required,
        (None, Some([x, y, z])) if x * y * z < BLOCK[0] => [x, y, z],
        _ => BLOCK,
    }
}

fn launch_file(
    name: &str,
    module: &str,
    kernel: &str,
    parsed: &Module,
    function: &Function,
    arguments: &[Argument],
) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut text = format!(
        "# A launch of {kernel}. Counts, numbers and shapes are placeholders: replace them. What each key means:\n\
         # docs/launch-files.md.\nname = {}\nmodule = {}\n",
        quoted(name),
        quoted(module),
    );
    let mut line = |line: String| writeln!(text, "{line}").expect("a string grows");
    for Argument { name, ty, kind } in arguments {
        if let Kind::Buffer(element) = kind {
            line(format!("\n# Parameter {name} ({ty}) is an address.\n[[buffer]]\nname = {}", quoted(name)));
            line(format!("type = \"{element}\"\ncount = {COUNT}\ncontents = \"zeros\""));
        }
    }
    let [x, y, z] = block(parsed, function);
    let shape = match (y, z) {
        (1, 1) => format!("[{x}]"),
        (_, 1) => format!("[{x}, {y}]"),
        _ => format!("[{x}, {y}, {z}]"),
    };
    line(format!("\n[[launch]]\nkernel = {}\ngrid = [1]\nblock = {shape}", quoted(kernel)));
    if has_dynamic_shared(parsed, function) {
        line(format!(
            "# The text declares shared memory whose size the launch gives.\ndynamic_shared_bytes = {DYNAMIC_SHARED}"
        ));
    }
    line("arguments = [".to_owned());
    for Argument { name, ty, kind } in arguments {
        let value = match kind {
            Kind::Buffer(_) => format!("buffer = {}", quoted(name)),
            Kind::Number(number) => format!("{number} = 1"),
        };
        line(format!("    {{ {value} }}, # {name} ({ty})"));
    }
    line("]".to_owned());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

    fn offered(ptx: &str, kernel: Option<&str>) -> Result<Offer, String> {
        offer("mine", "k.ptx", Path::new("k.ptx"), &format!("{HEAD}{ptx}"), kernel)
    }

    #[test]
    fn an_address_is_a_buffer_and_an_index_a_number() {
        let ptx = ".visible .entry k(.param .u64 to, .param .u64 n, .param .f32 a, .param .u16 h)\n{\n\
            .reg .b64 %rd<6>;\n.reg .f32 %f<2>;\nld.param.u64 %rd1, [to];\nld.param.u64 %rd2, [n];\n\
            cvta.to.global.u64 %rd3, %rd1;\nshl.b64 %rd4, %rd2, 3;\nadd.s64 %rd5, %rd3, %rd4;\n\
            ld.param.f32 %f1, [a];\nst.global.f64 [%rd5], %f1;\nret;\n}\n";
        let Offer { text, kernel, others } = offered(ptx, None).unwrap();
        assert_eq!((kernel.as_str(), others.len()), ("k", 0));
        assert_eq!(text.matches("[[buffer]]").count(), 1);
        assert!(text.contains("name = \"to\"\ntype = \"f64\"\ncount = 4096\n"), "{text}");
        for argument in
            ["{ buffer = \"to\" }, # to (.u64)", "{ u64 = 1 }, # n (.u64)", "{ f32 = 1 }, # a (.f32)"]
        {
            assert!(text.contains(argument), "{argument}: {text}");
        }
        assert!(text.contains("{ u16 = 1 }, # h (.u16)") && text.contains("block = [32]"), "{text}");
        toml::from_str::<toml::Table>(&text).unwrap();
    }

    #[test]
    fn the_kernel_that_was_asked_for_is_launched_as_it_requires() {
        let ptx = ".visible .entry a() { ret; }\n.extern .shared .align 4 .b8 s[];\n\
            .visible .entry b() .reqntid 8, 4, 2 { ret; }\n";
        let Offer { text, kernel, others } = offered(ptx, Some("b")).unwrap();
        assert_eq!((kernel.as_str(), others), ("b", vec!["a".to_owned()]));
        assert!(text.contains("block = [8, 4, 2]") && text.contains("dynamic_shared_bytes = 4096"), "{text}");
        let error = offered(ptx, Some("c")).err().unwrap();
        assert_eq!(error, "k.ptx: found no kernel `c`, expected one of a, b");
    }

    #[test]
    fn what_no_launch_file_can_give_is_named_with_its_place() {
        let error = |ptx: &str| offered(ptx, None).err().unwrap();
        let reason = error(".visible .entry k(.param .align 8 .b8 s[24]) { ret; }\n");
        assert!(reason.starts_with("k.ptx:4:") && reason.contains("`s` is .b8[24], 24 bytes"), "{reason}");
        let reason = error(".visible .entry k(.param .texref t) { ret; }\n");
        assert!(reason.contains("`t` is a texture, sampler or surface"), "{reason}");
        assert_eq!(error(".func f() { ret; }\n"), "k.ptx: found no kernel, expected an .entry with a body");
        assert!(error(".entry (\n").starts_with("k.ptx:4:8: "));
    }
}
