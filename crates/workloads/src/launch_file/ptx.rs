//! What a module's text says about its kernels: names and parameters.
//!
//! Good enough to refuse a misspelt name or an argument of the wrong type with its place in the launch file. Whoever
//! loads the module parses it for real, so what is not understood here is left to them.

use super::number::Type;

/// A kernel that launches may name.
#[derive(Debug, PartialEq)]
pub(super) struct Kernel<'a> {
    pub(super) name: &'a str,
    /// `None`: the text says something else than scalars and arrays of them.
    pub(super) parameters: Option<Vec<Parameter<'a>>>,
}

/// A parameter of a kernel.
#[derive(Debug, PartialEq)]
pub(super) struct Parameter<'a> {
    name: &'a str,
    /// As in the text, with the length of an array.
    ty: String,
    kind: Kind,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Integer,
    Float,
    /// Any type of its size.
    Bits,
}

/// Types of parameters that an argument can have. A launch file has no halves, so their bits are given.
const TYPES: &[(&str, Kind, usize)] = &[
    (".u8", Kind::Integer, 1),
    (".s8", Kind::Integer, 1),
    (".b8", Kind::Bits, 1),
    (".u16", Kind::Integer, 2),
    (".s16", Kind::Integer, 2),
    (".b16", Kind::Bits, 2),
    (".f16", Kind::Bits, 2),
    (".bf16", Kind::Bits, 2),
    (".u32", Kind::Integer, 4),
    (".s32", Kind::Integer, 4),
    (".b32", Kind::Bits, 4),
    (".f16x2", Kind::Bits, 4),
    (".bf16x2", Kind::Bits, 4),
    (".f32", Kind::Float, 4),
    (".u64", Kind::Integer, 8),
    (".s64", Kind::Integer, 8),
    (".b64", Kind::Bits, 8),
    (".f64", Kind::Float, 8),
];

impl<'a> Parameter<'a> {
    /// Reads what stands between two commas: `.param .u64 .ptr .global .align 4 a` or `.param .align 8 .b8 s[16]`.
    fn parse(text: &'a str) -> Option<Self> {
        let (scalar, length) = match text.trim().split_once('[') {
            None => (text, None),
            Some((scalar, rest)) => (scalar, Some(rest.trim_end().strip_suffix(']')?.trim())),
        };
        let name = scalar.split_whitespace().next_back()?;
        let words = scalar.trim().strip_prefix(".param")?;
        let mut words = words.split(|c: char| c.is_whitespace() || c == '.').filter(|word| !word.is_empty());
        let (ty, kind, bytes) = words.find_map(|word| TYPES.iter().find(|(ty, ..)| ty[1..] == *word))?;
        if !name.starts_with(|c: char| c.is_alphabetic() || "_$%".contains(c)) {
            return None;
        }
        match length {
            None => Some(Self { name, ty: (*ty).into(), kind: *kind, bytes: *bytes }),
            Some(length) => {
                let bytes = bytes.checked_mul(length.parse().ok()?)?;
                Some(Self { name, ty: format!("{ty}[{length}]"), kind: Kind::Bits, bytes })
            }
        }
    }

    /// Whether a scalar of the type may be its argument.
    pub(super) fn takes(&self, ty: Type) -> bool {
        self.bytes == ty.bytes()
            && match self.kind {
                Kind::Bits => true,
                Kind::Integer => !ty.is_float(),
                Kind::Float => ty.is_float(),
            }
    }

    /// Whether the address of a buffer may be its argument.
    pub(super) fn takes_address(&self) -> bool {
        self.takes(Type::U64)
    }

    /// What its argument may be, for an error.
    pub(super) fn expected(&self) -> String {
        let Self { name, ty, bytes, .. } = self;
        let buffer = self.takes_address().then_some("buffer");
        let scalars = Type::ALL.iter().filter(|(_, ty)| self.takes(*ty)).map(|(name, _)| *name);
        let all: Vec<&str> = buffer.into_iter().chain(scalars).collect();
        if all.is_empty() {
            return format!("an argument of {bytes} bytes, which no type has: parameter `{name}` is {ty}");
        }
        format!("{}: parameter `{name}` is {ty}", all.join(" or "))
    }
}

/// What a kernel takes, for an error: `n` (.u32), `a` (.u64).
pub(super) fn list(parameters: &[Parameter<'_>]) -> String {
    let each = parameters.iter().map(|Parameter { name, ty, .. }| format!("`{name}` ({ty})"));
    each.collect::<Vec<_>>().join(", ")
}

/// The kernels of a text without comments.
pub(super) fn kernels(text: &str) -> Vec<Kernel<'_>> {
    let ends = |c: char| c.is_whitespace() || "({;".contains(c);
    let kernel = |rest| {
        let rest = str::trim_start(rest);
        let (name, rest) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        (!name.is_empty()).then(|| Kernel { name, parameters: parameters(rest.trim_start()) })
    };
    text.split(".entry").skip(1).filter_map(kernel).collect()
}

/// Reads the list that follows a kernel's name.
fn parameters(rest: &str) -> Option<Vec<Parameter<'_>>> {
    let Some(list) = rest.strip_prefix('(') else { return Some(vec![]) };
    let (list, _) = list.split_once(')')?;
    if list.trim().is_empty() {
        return Some(vec![]);
    }
    list.split(',').map(Parameter::parse).collect()
}

/// The text with a space in place of each comment.
pub(super) fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        let (before, from) = rest.split_at(at);
        code.push_str(before);
        // A string ends at its line's end at the latest.
        let (kept, length) = match from.as_bytes() {
            [b'/', b'/', ..] => (false, from.find('\n').unwrap_or(from.len())),
            [b'/', b'*', ..] => (false, from[2..].find("*/").map_or(from.len(), |end| end + 4)),
            [b'"', ..] => (true, from[1..].find(['"', '\n']).map_or(from.len(), |end| end + 2)),
            _ => (true, 1),
        };
        code.push_str(if kept { &from[..length] } else { " " });
        rest = &from[length..];
    }
    code.push_str(rest);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters_of(list: &str) -> Option<String> {
        let text = format!(".visible .entry k{list}\n{{ ret; }}");
        let [Kernel { name: "k", parameters }] = &kernels(&text)[..] else { panic!("{text}") };
        parameters.as_deref().map(super::list)
    }

    #[test]
    fn parameters_are_read_as_compilers_write_them() {
        let read = |list| parameters_of(list).unwrap_or_else(|| panic!("{list}"));
        assert_eq!(read(""), "");
        assert_eq!(read(" (\n)"), "");
        assert_eq!(read("(\n\t.param .u32 k_param_0,\n\t.param .f64 x\n)"), "`k_param_0` (.u32), `x` (.f64)");
        assert_eq!(read("(.param .u64 .ptr .global .align 4 a)"), "`a` (.u64)");
        assert_eq!(read("(.param .align 8 .b8 s[16], .param.b32 $n)"), "`s` (.b8[16]), `$n` (.b32)");
        for list in ["(.param .texref t)", "(.param .b8 s[N])", "(.param .u32)", "(.param .u32 n", "(x)"] {
            assert_eq!(parameters_of(list), None, "{list}");
        }
    }

    #[test]
    fn comments_hold_no_kernels_and_strings_no_comments() {
        let text = "// .entry a\n/* .entry b */.entry c/**/() \"/*\" // \"\n.entry d { / } /* .entry e";
        let code = without_comments(text);
        let names: Vec<&str> = kernels(&code).iter().map(|kernel| kernel.name).collect();
        assert_eq!(names, ["c", "d"], "{code}");
    }

    #[test]
    fn an_argument_is_of_the_kind_and_size_of_its_parameter() {
        let takes = |ty: &str| {
            let text = format!(".param {ty} p");
            let parameter = Parameter::parse(&text).unwrap();
            let names = Type::ALL.iter().filter(|(_, ty)| parameter.takes(*ty)).map(|(name, _)| *name);
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(takes(".u8"), "u8 i8");
        assert_eq!(takes(".s32"), "u32 i32");
        assert_eq!(takes(".b32"), "u32 i32 f32");
        assert_eq!(takes(".f32"), "f32");
        assert_eq!(takes(".f16"), "u16 i16");
        assert_eq!(takes(".b64"), "u64 i64 f64");
        assert_eq!(takes(".f64"), "f64");
    }
}
