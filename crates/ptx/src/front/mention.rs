//! Where an instruction names a register.

use super::ast::{Base, Instruction, Item, Module, Name, Operand, OperandKind, Place, Statement};

/// The place of the operand by which an instruction of a line reads a register; `None` where none does. A register of a
/// vector is named as in `v.x`. The line counts over all texts that the module was linked from.
pub fn place_of_read(module: &Module, line: u32, register: &str) -> Option<Place> {
    let bodies = module.items.iter().filter_map(|item| match item {
        Item::Function(function) => function.body.as_deref(),
        Item::Variable(_) | Item::Alias { .. } => None,
    });
    bodies.flat_map(|body| in_statements(module, body, line, register)).next()
}

fn in_statements(module: &Module, statements: &[Statement], line: u32, register: &str) -> Option<Place> {
    statements.iter().find_map(|statement| match statement {
        Statement::Block(inner) => in_statements(module, inner, line, register),
        Statement::Instruction(instruction) if instruction.place.line == line => {
            in_instruction(module, instruction, register)
        }
        _ => None,
    })
}

/// What an instruction names first may be its destination.
fn in_instruction(module: &Module, instruction: &Instruction, register: &str) -> Option<Place> {
    let is_named = |word: &str| word == register || register.split('.').next() == Some(word);
    let guard = instruction.guard.filter(|guard| is_named(module.names.text(guard.name)));
    let mut reads: Vec<Place> = guard.iter().map(|guard| guard.place).collect();
    let mut written = None;
    for (n, operand) in instruction.operands.iter().enumerate() {
        let mut places = Vec::new();
        mentions(operand, &mut |name, place| {
            if is_named(module.names.text(name)) {
                places.push(place);
            }
        });
        let is_address = matches!(
            operand.kind,
            OperandKind::Memory { .. } | OperandKind::Indexed { .. } | OperandKind::Bracket(_)
        );
        if n == 0 && !is_address {
            written = places.first().copied();
        } else {
            reads.append(&mut places);
        }
    }
    // A sink such as `bra` with one operand reads what stands first.
    reads.first().copied().or(written)
}

fn mentions(operand: &Operand, visit: &mut dyn FnMut(Name, Place)) {
    named(&operand.kind, operand.place, visit);
}

fn named(kind: &OperandKind, place: Place, visit: &mut dyn FnMut(Name, Place)) {
    match kind {
        OperandKind::Name(name)
        | OperandKind::Component(name, _)
        | OperandKind::Lane(name, _)
        | OperandKind::Not(name)
        | OperandKind::Offset(name, _)
        | OperandKind::Indexed { array: name, .. }
        | OperandKind::Memory { base: Base::Name(name), .. } => visit(*name, place),
        OperandKind::Element(name, index) => {
            visit(*name, place);
            visit(*index, place);
        }
        OperandKind::Negated(inner) => named(inner, place, visit),
        OperandKind::Pair(pair) => {
            mentions(&pair.0, visit);
            mentions(&pair.1, visit);
        }
        OperandKind::Vector(list) | OperandKind::Bracket(list) | OperandKind::List(list) => {
            list.iter().for_each(|operand| mentions(operand, visit));
        }
        OperandKind::Value(_) | OperandKind::Sink | OperandKind::Memory { base: Base::Absolute, .. } => {}
    }
}
