//! Declarations of variables, registers and parameters.

use super::Parser;
use crate::front::ast::{DeclSpace, DeclType, Init, Linkage, Name, Opaque, Place, Value, Variable};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::lexer::Token;
use crate::isa::Ty;

/// Most registers that one `%r<n>` declares: far beyond any compiler, and cheap since unused ones cost nothing.
const MAX_RANGE: u64 = 1 << 24;

/// Most dimensions of an array.
const MAX_DIMS: usize = 16;

/// The fundamental type of a word.
pub(crate) fn type_of(word: &str) -> Option<Ty> {
    Some(match word {
        "u8" => Ty::U8,
        "u16" => Ty::U16,
        "u32" => Ty::U32,
        "u64" => Ty::U64,
        "s8" => Ty::S8,
        "s16" => Ty::S16,
        "s32" => Ty::S32,
        "s64" => Ty::S64,
        "b8" => Ty::B8,
        "b16" => Ty::B16,
        "b32" => Ty::B32,
        "b64" => Ty::B64,
        "b128" => Ty::B128,
        "f16" => Ty::F16,
        "f16x2" => Ty::F16x2,
        "bf16" => Ty::Bf16,
        "bf16x2" => Ty::Bf16x2,
        "f32" => Ty::F32,
        "f64" => Ty::F64,
        "pred" => Ty::Pred,
        _ => return None,
    })
}

/// The state space of a word.
fn space_of(word: &str) -> Option<DeclSpace> {
    Some(match word {
        "reg" => DeclSpace::Reg,
        "global" => DeclSpace::Global,
        "shared" | "shared::cta" => DeclSpace::Shared,
        "local" => DeclSpace::Local,
        "const" => DeclSpace::Const,
        "param" => DeclSpace::Param,
        "tex" => DeclSpace::Opaque,
        _ => return None,
    })
}

/// What the words between a space and a name say.
struct Head {
    space: DeclSpace,
    ty: DeclType,
    vector: u8,
    align: Option<u32>,
}

impl Parser<'_> {
    /// A declaration of one or more variables, up to its semicolon.
    pub(super) fn variables(&mut self, linkage: Linkage, mut sink: impl FnMut(Variable)) -> Result<(), Fail> {
        let head = self.head()?;
        loop {
            sink(self.declarator(&head, linkage)?);
            if !self.take(b',')? {
                break;
            }
        }
        self.expect(b';', "malformed declaration")?;
        Ok(())
    }

    /// A parenthesised list of parameters.
    pub(super) fn parameters(&mut self) -> Result<Vec<Variable>, Fail> {
        let mut parameters = Vec::new();
        self.expect(b'(', "malformed parameter list")?;
        if self.take(b')')? {
            return Ok(parameters);
        }
        loop {
            if !matches!(self.dotted(), Some("param" | "reg")) {
                return Err(self.wrong("malformed parameter", "`.param` or `.reg`"));
            }
            let head = self.head()?;
            parameters.push(self.declarator(&head, Linkage::Internal)?);
            if !self.take(b',')? {
                break;
            }
        }
        self.expect(b')', "malformed parameter list")?;
        Ok(parameters)
    }

    fn head(&mut self) -> Result<Head, Fail> {
        let wanted = "a state space: `.reg`, `.global`, `.shared`, `.local`, `.const`, `.param`, `.tex`";
        let Some(mut space) = self.dotted().and_then(space_of) else {
            return Err(self.wrong("unknown directive", wanted));
        };
        self.advance()?;
        if space == DeclSpace::Const && self.take(b'[')? {
            // Banks of old texts; there is one constant space.
            self.integer("malformed constant bank", 10)?;
            self.expect(b']', "malformed constant bank")?;
        }
        let mut head = Head { space, ty: DeclType::Opaque(Opaque::Texture), vector: 1, align: None };
        let mut typed = false;
        while let Some(word) = self.dotted() {
            match word {
                "align" => {
                    self.advance()?;
                    head.align = Some(self.alignment()?);
                }
                "attribute" => {
                    self.advance()?;
                    self.parenthesised("malformed `.attribute`")?;
                }
                "ptr" => {
                    self.advance()?;
                    self.pointer()?;
                }
                "v2" | "v4" | "v8" if !typed => {
                    head.vector = word.as_bytes()[1] - b'0';
                    self.advance()?;
                }
                "texref" | "samplerref" | "surfref" if !typed => {
                    head.ty = DeclType::Opaque(match word {
                        "texref" => Opaque::Texture,
                        "samplerref" => Opaque::Sampler,
                        _ => Opaque::Surface,
                    });
                    if space != DeclSpace::Param {
                        space = DeclSpace::Opaque;
                    }
                    head.space = space;
                    typed = true;
                    self.advance()?;
                }
                _ if typed => return Err(self.wrong("malformed declaration", "a name")),
                _ => {
                    let Some(ty) = type_of(word) else {
                        return Err(
                            self.wrong("unknown type", "a type such as `.b32`, `.u64`, `.f32`, `.pred`")
                        );
                    };
                    // `.tex .u64 name` is the older way to write `.global .texref name` (PTX ISA, "Texture State Space").
                    if space != DeclSpace::Opaque {
                        head.ty = DeclType::Scalar(ty);
                    }
                    typed = true;
                    self.advance()?;
                }
            }
        }
        if !typed {
            return Err(
                self.wrong("declaration without a type", "a type such as `.b32`, `.u64`, `.f32`, `.pred`")
            );
        }
        Ok(head)
    }

    fn alignment(&mut self) -> Result<u32, Fail> {
        let wanted = "a power of two up to 65536";
        let Token::Int { value, .. } = self.now.token else {
            return Err(self.wrong("malformed alignment", wanted));
        };
        if !value.is_power_of_two() || value > 1 << 16 {
            return Err(self.wrong("malformed alignment", wanted));
        }
        self.advance()?;
        Ok(value as u32)
    }

    /// `.ptr{.space}{.align n}`: what a parameter points to.
    fn pointer(&mut self) -> Result<(), Fail> {
        if matches!(self.dotted(), Some("global" | "shared" | "local" | "const" | "param" | "generic")) {
            self.advance()?;
        }
        if self.dotted() == Some("align") {
            self.advance()?;
            self.alignment()?;
        }
        Ok(())
    }

    /// Reads over balanced parentheses.
    fn parenthesised(&mut self, message: &str) -> Result<(), Fail> {
        self.expect(b'(', message)?;
        let mut open = 1;
        while open > 0 {
            match self.now.token {
                Token::Punct(b'(') => open += 1,
                Token::Punct(b')') => open -= 1,
                Token::End => return Err(self.wrong(message, "`)`")),
                _ => {}
            }
            self.advance()?;
        }
        Ok(())
    }

    fn declarator(&mut self, head: &Head, linkage: Linkage) -> Result<Variable, Fail> {
        let (name, place) = self.word("malformed declaration", "a name")?;
        let range = self.range(head, name)?;
        let mut dims = Vec::new();
        while self.take(b'[')? {
            if dims.len() == MAX_DIMS {
                return Err(Diagnostic::invalid(self.now.place, "too many dimensions")
                    .expected(format!("at most {MAX_DIMS}")));
            }
            dims.push(if self.at(b']') { None } else { Some(self.dimension()?) });
            self.expect(b']', "malformed array")?;
        }
        let init = if self.take(b'=')? { Some(self.initialiser()?) } else { None };
        if !dims.is_empty() {
            // As ptxas: of vectors and of arrays of arrays, the scalars are counted. Registers have numbers, not addresses.
            let step = match head.ty {
                DeclType::Scalar(ty) if head.space != DeclSpace::Reg => ty.bytes() as u8,
                _ => 1,
            };
            self.arrays.push((name, step));
        }
        Ok(Variable {
            place,
            linkage,
            space: head.space,
            ty: head.ty,
            vector: head.vector,
            align: head.align,
            name,
            range,
            dims,
            init,
        })
    }

    /// `<n>` after a register's name.
    fn range(&mut self, head: &Head, name: Name) -> Result<Option<u32>, Fail> {
        if !self.at(b'<') {
            return Ok(None);
        }
        if head.space != DeclSpace::Reg {
            let message = format!("`{}` is not a register", self.names.text(name));
            return Err(self.wrong(&message, "`;`, `[` or `=`"));
        }
        self.advance()?;
        let count = self.integer("register count out of range", MAX_RANGE)?;
        self.expect(b'>', "malformed register range")?;
        Ok(Some(count as u32))
    }

    fn dimension(&mut self) -> Result<u64, Fail> {
        let place = self.now.place;
        let size = self.constant_integer("malformed array size")?;
        u64::try_from(size).map_err(|_| {
            Diagnostic::invalid(place, "negative array size")
                .found(size.to_string())
                .expected("0 or more elements")
        })
    }

    fn initialiser(&mut self) -> Result<Init, Fail> {
        let place = self.now.place;
        if !self.at(b'{') {
            return self.element(place);
        }
        self.advance()?;
        self.enter()?;
        let mut elements = Vec::new();
        while !self.at(b'}') {
            elements.push(self.initialiser()?);
            if !self.take(b',')? {
                break;
            }
        }
        self.expect(b'}', "malformed initialiser")?;
        self.leave();
        Ok(Init::List(elements, place))
    }

    fn element(&mut self, place: Place) -> Result<Init, Fail> {
        if let (Token::Int { value, .. }, Token::Punct(b'(')) = (self.now.token, self.ahead.token) {
            // `0xff00(symbol)`: one byte of an address.
            self.advance()?;
            self.advance()?;
            let address = self.address(Some(value))?;
            self.expect(b')', "malformed initialiser")?;
            return Ok(address);
        }
        match self.now.token {
            Token::Word(name) if self.names.text(name) != "WARP_SZ" => self.address(None),
            _ if self.starts_constant() || matches!(self.now.token, Token::Word(_)) => {
                Ok(Init::Value(self.constant()?, place))
            }
            _ => Err(self.wrong("malformed initialiser", "a number, the name of a variable or `{`")),
        }
    }

    /// `symbol`, `generic(symbol)`, either with `+ n`.
    fn address(&mut self, mask: Option<u64>) -> Result<Init, Fail> {
        let (mut name, mut place) = self.word("malformed initialiser", "the name of a variable")?;
        let generic = self.names.text(name) == "generic" && self.at(b'(');
        let mut addend = 0;
        if generic {
            self.advance()?;
            (name, place) = self.word("malformed initialiser", "the name of a variable")?;
            addend = self.addend()?;
            self.expect(b')', "malformed initialiser")?;
        }
        addend = addend.wrapping_add(self.addend()?);
        Ok(Init::Address { name, place, generic, addend, mask })
    }

    /// `+ n` or `- n` after a symbol, 0 when absent.
    pub(super) fn addend(&mut self) -> Result<i64, Fail> {
        let negative = match self.now.token {
            Token::Punct(b'+') => false,
            Token::Punct(b'-') => true,
            _ => return Ok(0),
        };
        self.advance()?;
        let place = self.now.place;
        match self.constant()? {
            Value::Int(value) => Ok(if negative { (value as i64).wrapping_neg() } else { value as i64 }),
            _ => Err(Diagnostic::invalid(place, "malformed offset").expected("an integer")),
        }
    }
}
