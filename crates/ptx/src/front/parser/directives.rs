//! The top level: module directives, debug sections, linkage.

use super::Parser;
use crate::front::ast::{DEFAULT_HEAP_BYTES, Item, Linkage, Module, Place};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::front::lexer::Token;

/// What may stand at the top level, for messages.
const TOP_LEVEL: &str = "a directive such as `.visible`, `.entry`, `.func`, `.global`";

impl Parser<'_> {
    pub(super) fn module(mut self, name: &str) -> Result<Module, Fail> {
        let mut items = Vec::new();
        let mut version = None;
        let mut target = None;
        let mut address_size = (64, Place::default());
        while self.now.token != Token::End {
            let place = self.now.place;
            let Some(word) = self.dotted() else { return Err(self.wrong("stray text", TOP_LEVEL)) };
            match word {
                "version" => version = Some(self.version()?),
                "target" => target = Some(self.target()?),
                "address_size" => {
                    self.advance()?;
                    let wanted = "`32` or `64`";
                    let Token::Int { value: value @ (32 | 64), .. } = self.now.token else {
                        return Err(self.wrong("unknown address size", wanted));
                    };
                    self.advance()?;
                    address_size = (value as u32, place);
                }
                "pragma" => {
                    self.pragma()?;
                }
                "file" | "loc" => self.line_directive()?,
                "section" => self.section()?,
                "alias" => {
                    self.advance()?;
                    let (name, place) = self.word("malformed `.alias`", "the new name")?;
                    self.expect(b',', "malformed `.alias`")?;
                    let (aliasee, _) = self.word("malformed `.alias`", "the name of a function")?;
                    self.expect(b';', "malformed `.alias`")?;
                    items.push(Item::Alias { name, aliasee, place });
                }
                _ => {
                    if version.is_none() {
                        return Err(
                            self.wrong("no version yet", "`.version major.minor` as the first directive")
                        );
                    }
                    self.item(&mut items)?;
                }
            }
        }
        let missing =
            |what: &str| Diagnostic::invalid(Place { line: 1, column: 1 }, format!("no `{what}` directive"));
        let Some(version) = version else {
            return Err(missing(".version")
                .found("none")
                .expected("`.version major.minor` as the first directive"));
        };
        let Some(target) = target else {
            return Err(missing(".target").found("none").expected("`.target sm_nn` after `.version`"));
        };
        Ok(Module {
            name: name.to_string(),
            names: self.names,
            version,
            target,
            address_size: address_size.0,
            address_size_place: address_size.1,
            items,
            lines: self.now.place.line,
            sources: Vec::new(),
            heap_bytes: DEFAULT_HEAP_BYTES,
        })
    }

    fn version(&mut self) -> Result<String, Fail> {
        self.advance()?;
        let text = self.lexer.slice(&self.now);
        let numbers =
            text.split_once('.').and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
        let known = numbers.is_some_and(|(major, _)| (1..=9).contains(&major));
        if !matches!(self.now.token, Token::F64(_)) || !known {
            return Err(self.wrong("unknown PTX version", "a version up to 9.x such as `8.3`"));
        }
        let version = text.to_string();
        self.advance()?;
        Ok(version)
    }

    fn target(&mut self) -> Result<String, Fail> {
        self.advance()?;
        let mut parts = Vec::new();
        loop {
            let (name, _) = self.word("malformed `.target`", "a target such as `sm_80`")?;
            parts.push(self.names.text(name).to_string());
            if !self.take(b',')? {
                return Ok(parts.join(","));
            }
        }
    }

    /// A function or variable with its linkage.
    fn item(&mut self, items: &mut Vec<Item>) -> Result<(), Fail> {
        let linkage = self.linkage()?;
        match self.dotted() {
            Some("entry" | "func") => items.push(Item::Function(self.function(linkage)?)),
            Some(_) => self.variables(linkage, |variable| items.push(Item::Variable(variable)))?,
            None => return Err(self.wrong("stray text", TOP_LEVEL)),
        }
        Ok(())
    }

    pub(super) fn linkage(&mut self) -> Result<Linkage, Fail> {
        let linkage = match self.dotted() {
            Some("visible") => Linkage::Visible,
            Some("extern") => Linkage::Extern,
            Some("weak") => Linkage::Weak,
            Some("common") => Linkage::Common,
            _ => return Ok(Linkage::Internal),
        };
        self.advance()?;
        Ok(linkage)
    }

    /// `.pragma`: whether it says `nounroll`. Its other words say nothing that is modelled.
    pub(super) fn pragma(&mut self) -> Result<bool, Fail> {
        self.advance()?;
        let mut keeps = false;
        loop {
            let Token::Text(text) = self.now.token else {
                return Err(self.wrong("malformed `.pragma`", "text in quotes"));
            };
            keeps |= self.names.text(text) == "nounroll";
            self.advance()?;
            if !self.take(b',')? {
                break;
            }
        }
        self.expect(b';', "malformed `.pragma`")?;
        Ok(keeps)
    }

    /// `.file`, `.loc`: read over; they say nothing about values.
    pub(super) fn line_directive(&mut self) -> Result<(), Fail> {
        let word = self.dotted().unwrap_or_default();
        match word {
            "file" => {
                self.advance()?;
                self.integer("malformed `.file`", u64::MAX)?;
                let Token::Text(_) = self.now.token else {
                    return Err(self.wrong("malformed `.file`", "a file name in quotes"));
                };
                self.advance()?;
                while self.take(b',')? {
                    self.integer("malformed `.file`", u64::MAX)?;
                }
            }
            _ => {
                self.advance()?;
                self.location()?;
                while self.take(b',')? {
                    let (attribute, _) = self.word("malformed `.loc`", "`function_name` or `inlined_at`")?;
                    match self.names.text(attribute) {
                        "inlined_at" => self.location()?,
                        _ => {
                            self.word("malformed `.loc`", "a label")?;
                            if self.take(b'+')? {
                                self.integer("malformed `.loc`", u64::MAX)?;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// File, line and column of a `.loc`.
    fn location(&mut self) -> Result<(), Fail> {
        for _ in 0..3 {
            self.integer("malformed `.loc`", u64::MAX)?;
        }
        Ok(())
    }

    /// A DWARF section: read over.
    fn section(&mut self) -> Result<(), Fail> {
        self.advance()?;
        if !matches!(self.now.token, Token::Dot(_) | Token::Word(_)) {
            return Err(self.wrong("malformed `.section`", "the name of a section"));
        }
        while matches!(self.now.token, Token::Dot(_) | Token::Word(_)) {
            self.advance()?;
        }
        self.expect(b'{', "malformed `.section`")?;
        while !self.at(b'}') {
            if self.now.token == Token::End {
                return Err(self.wrong("unterminated `.section`", "`}`"));
            }
            self.advance()?;
        }
        self.advance()?;
        Ok(())
    }
}
