//! Entries and functions: heads, directives, statements.

use super::Parser;
use crate::front::ast::{
    CallHint, Directive, Function, Guard, Instruction, Linkage, Modifier, Name, Place, Statement,
};
use crate::front::diagnostic::Fail;
use crate::front::lexer::Token;

/// Directives between head and body, with the most numbers that each takes.
const DIRECTIVES: [(&str, usize); 13] = [
    ("maxntid", 3),
    ("reqntid", 3),
    ("minnctapersm", 1),
    ("maxnctapersm", 1),
    ("maxnreg", 1),
    ("noreturn", 0),
    ("explicitcluster", 0),
    ("reqnctapercluster", 3),
    ("maxclusterrank", 1),
    ("blocksareclusters", 0),
    ("abi_preserve", 1),
    ("abi_preserve_control", 1),
    ("unique", 0),
];

impl Parser<'_> {
    pub(super) fn function(&mut self, linkage: Linkage) -> Result<Function, Fail> {
        let entry = self.dotted() == Some("entry");
        self.advance()?;
        if self.dotted() == Some("attribute") {
            self.attribute()?;
        }
        let arrays = self.arrays.len();
        let returns = if !entry && self.at(b'(') { self.parameters()? } else { Vec::new() };
        let (name, place) = self.word("malformed function", "the name of the function")?;
        let params = if self.at(b'(') { self.parameters()? } else { Vec::new() };
        let directives = self.directives()?;
        let body = if self.at(b'{') {
            Some(self.block()?)
        } else {
            if !self.at(b';') {
                return Err(self.wrong("malformed function", "`{` or `;`"));
            }
            self.advance()?;
            None
        };
        self.arrays.truncate(arrays);
        Ok(Function { place, linkage, entry, name, returns, params, directives, body })
    }

    fn attribute(&mut self) -> Result<(), Fail> {
        self.advance()?;
        self.expect(b'(', "malformed `.attribute`")?;
        while !self.take(b')')? {
            if self.now.token == Token::End {
                return Err(self.wrong("malformed `.attribute`", "`)`"));
            }
            self.advance()?;
        }
        Ok(())
    }

    fn directives(&mut self) -> Result<Vec<Directive>, Fail> {
        let mut directives = Vec::new();
        while let Token::Dot(name) = self.now.token {
            let place = self.now.place;
            let word = self.names.text(name);
            if word == "pragma" {
                self.pragma()?;
                continue;
            }
            let Some(most) = DIRECTIVES.iter().find(|(known, _)| *known == word).map(|(_, most)| *most)
            else {
                let known: Vec<String> = DIRECTIVES.iter().map(|(known, _)| format!("`.{known}`")).collect();
                return Err(
                    self.wrong("unknown directive", &format!("`{{`, `;`, `.pragma`, {}", known.join(", ")))
                );
            };
            self.advance()?;
            let mut values = Vec::new();
            while values.len() < most && (values.is_empty() || self.take(b',')?) {
                values.push(self.integer("malformed directive", u64::from(u32::MAX))?);
            }
            directives.push(Directive { name, place, values });
        }
        Ok(directives)
    }

    /// Statements in braces.
    fn block(&mut self) -> Result<Vec<Statement>, Fail> {
        self.expect(b'{', "malformed body")?;
        self.enter()?;
        let arrays = self.arrays.len();
        let mut statements = Vec::new();
        while !self.at(b'}') {
            self.statement(&mut statements)?;
        }
        self.arrays.truncate(arrays);
        self.leave();
        self.advance()?;
        Ok(statements)
    }

    fn statement(&mut self, out: &mut Vec<Statement>) -> Result<(), Fail> {
        match self.now.token {
            Token::Word(name) if self.ahead.token == Token::Punct(b':') => {
                let place = self.advance()?.place;
                self.advance()?;
                match self.dotted() {
                    Some("branchtargets") => out.push(self.branch_targets(name, place)?),
                    Some("calltargets" | "callprototype") => out.push(self.call_hint(name, place)?),
                    _ => out.push(Statement::Label(name, place)),
                }
            }
            Token::Word(_) | Token::Punct(b'@') => out.push(Statement::Instruction(self.instruction()?)),
            Token::Dot(name) => match self.names.text(name) {
                "pragma" => {
                    let place = self.now.place;
                    if self.pragma()? {
                        out.push(Statement::NoUnroll(place));
                    }
                }
                "loc" | "file" => self.line_directive()?,
                _ => {
                    let linkage = self.linkage()?;
                    self.variables(linkage, |variable| out.push(Statement::Variable(variable)))?;
                }
            },
            Token::Punct(b'{') => out.push(Statement::Block(self.block()?)),
            // An empty statement.
            Token::Punct(b';') => {
                self.advance()?;
            }
            _ => {
                return Err(
                    self.wrong("malformed statement", "an instruction, a declaration, a label or `}`")
                );
            }
        }
        Ok(())
    }

    fn branch_targets(&mut self, name: Name, place: Place) -> Result<Statement, Fail> {
        self.advance()?;
        let mut labels = Vec::new();
        loop {
            labels.push(self.word("malformed `.branchtargets`", "a label")?);
            if !self.take(b',')? {
                break;
            }
        }
        self.expect(b';', "malformed `.branchtargets`")?;
        Ok(Statement::BranchTargets { name, place, labels })
    }

    fn call_hint(&mut self, name: Name, place: Place) -> Result<Statement, Fail> {
        let prototype = self.dotted() == Some("callprototype");
        self.advance()?;
        let hint = if prototype {
            let returns = if self.at(b'(') { self.parameters()? } else { Vec::new() };
            self.word("malformed `.callprototype`", "`_`")?;
            let params = if self.at(b'(') { self.parameters()? } else { Vec::new() };
            self.directives()?;
            CallHint::Prototype { returns, params }
        } else {
            let mut targets = Vec::new();
            loop {
                targets.push(self.word("malformed `.calltargets`", "the name of a function")?);
                if !self.take(b',')? {
                    break;
                }
            }
            CallHint::Targets(targets)
        };
        self.expect(b';', "malformed call hint")?;
        Ok(Statement::CallHint { name, place, hint })
    }

    #[inline]
    fn instruction(&mut self) -> Result<Instruction, Fail> {
        let guard = if self.take(b'@')? {
            let negated = self.take(b'!')?;
            let (name, place) = self.word("malformed guard", "a predicate register")?;
            Some(Guard { name, place, negated })
        } else {
            None
        };
        let (opcode, place) = self.word("malformed instruction", "an opcode")?;
        let mut modifiers = Vec::new();
        while let Token::Dot(name) = self.now.token {
            modifiers.push(Modifier { name, place: self.advance()?.place });
        }
        let mut operands = Vec::new();
        if !self.at(b';') {
            let call = self.names.text(opcode) == "call";
            operands.reserve_exact(3);
            loop {
                operands.push(self.operand(call)?);
                if !self.take(b',')? {
                    break;
                }
            }
        }
        if !self.at(b';') {
            return Err(self.wrong("malformed instruction", "`,` or `;`"));
        }
        self.advance()?;
        Ok(Instruction { place, guard, opcode, modifiers, operands })
    }
}
