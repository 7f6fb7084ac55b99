//! Who calls whom: which functions recurse, and which may be reached through their address.

use std::collections::HashMap;

use super::top_level::{Global, TopLevel};
use crate::front::ast::{
    Base, CallHint, Function, Init, Instruction, Item, Module, Name, Operand, OperandKind, Statement,
    Variable,
};
use crate::front::layout::{in_memory, layout};

/// A parameter or result, as far as caller and function must agree on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A number of so many bytes.
    Scalar(u64),
    /// A piece of memory of so many bytes.
    Bytes(u64),
}

/// What a function returns and takes. Functions of one shape can stand for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub returns: Vec<Slot>,
    pub params: Vec<Slot>,
}

impl Shape {
    /// Of declared parameters; nothing when one has no size.
    pub(super) fn new(returns: &[Variable], params: &[Variable]) -> Option<Shape> {
        let slots = |list: &[Variable]| {
            let mut slots = Vec::new();
            for variable in list {
                let layout = layout(variable).ok()?;
                if in_memory(variable) {
                    slots.push(Slot::Bytes(layout.bytes));
                } else {
                    // The elements of a vector travel each by itself.
                    let element = Slot::Scalar(layout.scalar.bytes() as u64);
                    slots.extend(std::iter::repeat_n(element, variable.vector.into()));
                }
            }
            Some(slots)
        };
        Some(Shape { returns: slots(returns)?, params: slots(params)? })
    }
}

/// The calls of a module. Functions are named by their index among its items.
#[derive(Debug, Default)]
pub(super) struct CallGraph {
    /// Functions whose address is taken anywhere, ascending.
    pub taken: Vec<usize>,
    /// For each item, the cycle that it is part of: functions that reach each other have the same.
    cycle: Vec<Option<u32>>,
    /// Functions that allocate on the stack at run time.
    allocates: Vec<usize>,
}

impl CallGraph {
    /// Looks through all bodies; empty for a text without functions.
    pub(super) fn new(module: &Module, globals: &TopLevel) -> CallGraph {
        let functions: Vec<(usize, &Function)> = (module.items.iter().enumerate())
            .filter_map(|(n, item)| match item {
                Item::Function(function) if function.body.is_some() => Some((n, function)),
                _ => None,
            })
            .collect();
        if functions.iter().all(|(_, function)| function.entry) {
            return CallGraph::default();
        }
        let mut graph = CallGraph { cycle: vec![None; module.items.len()], ..CallGraph::default() };
        let mut scans = Vec::new();
        for item in &module.items {
            if let Item::Variable(variable) = item {
                graph.initialiser(variable.init.as_ref(), globals);
            }
        }
        for (n, function) in functions {
            let mut scan =
                Scan { module, globals, graph: &mut graph, calls: Vec::new(), indirect: Vec::new() };
            let mut hints = HashMap::new();
            scan.statements(function.body.as_deref().unwrap_or_default(), &mut hints, n);
            let Scan { calls, indirect, .. } = scan;
            scans.push((n, calls, indirect, hints));
        }
        graph.taken.sort_unstable();
        graph.taken.dedup();
        let mut edges = vec![Vec::new(); module.items.len()];
        for (n, calls, indirect, hints) in scans {
            edges[n] = calls;
            for hint in indirect {
                if let Some(hint) = hint.and_then(|hint| hints.get(&hint)) {
                    edges[n].extend(graph.candidates(module, globals, hint));
                }
            }
        }
        graph.find_cycles(&edges);
        graph
    }

    /// Whether a function may be entered again before it returns.
    pub(super) fn recurses(&self, function: usize) -> bool {
        self.cycle.get(function).is_some_and(Option::is_some)
    }

    /// Whether a call of `to` from `from` may come back to `from`.
    pub(super) fn comes_back(&self, from: usize, to: usize) -> bool {
        self.recurses(from) && self.cycle[from] == self.cycle[to]
    }

    /// Whether a function allocates on the stack: its share must end with it.
    pub(super) fn allocates(&self, function: usize) -> bool {
        self.allocates.contains(&function)
    }

    /// The functions that an indirect call may reach, ascending.
    pub(super) fn candidates(&self, module: &Module, globals: &TopLevel, hint: &CallHint) -> Vec<usize> {
        let shape_of = |n: usize| match &module.items[n] {
            Item::Function(function) => Shape::new(&function.returns, &function.params),
            _ => None,
        };
        let mut found: Vec<usize> = match hint {
            CallHint::Targets(names) => {
                let of = |name: &Name| match globals.get(name) {
                    Some(Global::Function(n)) => Some(*n),
                    _ => None,
                };
                names.iter().filter_map(|(name, _)| of(name)).collect()
            }
            CallHint::Prototype { returns, params } => {
                let Some(shape) = Shape::new(returns, params) else { return Vec::new() };
                self.taken.iter().copied().filter(|n| shape_of(*n).as_ref() == Some(&shape)).collect()
            }
        };
        found.retain(|n| matches!(&module.items[*n], Item::Function(f) if f.body.is_some() && !f.entry));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn initialiser(&mut self, init: Option<&Init>, globals: &TopLevel) {
        match init {
            Some(Init::Address { name, .. }) => self.name(*name, globals),
            Some(Init::List(inner, _)) => {
                inner.iter().for_each(|init| self.initialiser(Some(init), globals));
            }
            Some(Init::Value(..)) | None => {}
        }
    }

    fn name(&mut self, name: Name, globals: &TopLevel) {
        if let Some(Global::Function(n)) = globals.get(&name) {
            self.taken.push(*n);
        }
    }

    /// Strongly connected components (Kosaraju): of the whole graph in the order in which a search leaves its nodes,
    /// then of the reversed graph from the last left.
    fn find_cycles(&mut self, edges: &[Vec<usize>]) {
        let mut reversed = vec![Vec::new(); edges.len()];
        for (from, list) in edges.iter().enumerate() {
            list.iter().for_each(|to| reversed[*to].push(from));
        }
        let mut left = Vec::new();
        let mut seen = vec![false; edges.len()];
        for root in 0..edges.len() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            let mut stack = vec![(root, 0)];
            while let Some((node, next)) = stack.last_mut() {
                match edges[*node].get(*next) {
                    Some(to) => {
                        *next += 1;
                        if !std::mem::replace(&mut seen[*to], true) {
                            stack.push((*to, 0));
                        }
                    }
                    None => {
                        left.push(*node);
                        stack.pop();
                    }
                }
            }
        }
        let mut found = vec![false; edges.len()];
        for (number, root) in left.into_iter().rev().enumerate() {
            let mut members = Vec::new();
            let mut work = vec![root];
            while let Some(node) = work.pop() {
                if !std::mem::replace(&mut found[node], true) {
                    members.push(node);
                    work.extend(&reversed[node]);
                }
            }
            if members.len() > 1 || edges[root].contains(&root) {
                members.iter().for_each(|node| self.cycle[*node] = Some(number as u32));
            }
        }
    }
}

/// The walk over one body.
struct Scan<'a, 'g> {
    module: &'a Module,
    globals: &'a TopLevel,
    graph: &'g mut CallGraph,
    calls: Vec<usize>,
    /// For each call through an address, the name of its hint.
    indirect: Vec<Option<Name>>,
}

impl<'a> Scan<'a, '_> {
    fn statements(
        &mut self,
        statements: &'a [Statement],
        hints: &mut HashMap<Name, &'a CallHint>,
        function: usize,
    ) {
        for statement in statements {
            match statement {
                Statement::Block(inner) => self.statements(inner, hints, function),
                Statement::CallHint { name, hint, .. } => {
                    hints.insert(*name, hint);
                    if let CallHint::Targets(names) = hint {
                        names.iter().for_each(|(name, _)| self.graph.name(*name, self.globals));
                    }
                }
                Statement::Variable(variable) => {
                    self.graph.initialiser(variable.init.as_ref(), self.globals);
                }
                Statement::Instruction(instruction) => match self.module.names.text(instruction.opcode) {
                    "call" => self.call(instruction),
                    "alloca" => self.graph.allocates.push(function),
                    _ => instruction.operands.iter().for_each(|operand| self.operand(operand)),
                },
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &Instruction) {
        let mut target = None;
        for operand in &call.operands {
            match (&operand.kind, target) {
                (OperandKind::Name(name), None) => {
                    target = Some(*name);
                    match self.globals.get(name) {
                        Some(Global::Function(n)) => self.calls.push(*n),
                        _ => self.indirect.push(None),
                    }
                }
                (OperandKind::Name(name), Some(_)) => {
                    if let Some(hint @ None) = self.indirect.last_mut() {
                        *hint = Some(*name);
                    }
                }
                _ => self.operand(operand),
            }
        }
    }

    /// Notes functions whose address an operand is.
    fn operand(&mut self, operand: &Operand) {
        match &operand.kind {
            OperandKind::Name(name)
            | OperandKind::Offset(name, _)
            | OperandKind::Indexed { array: name, .. }
            | OperandKind::Memory { base: Base::Name(name), .. } => self.graph.name(*name, self.globals),
            OperandKind::Vector(inner) | OperandKind::List(inner) | OperandKind::Bracket(inner) => {
                inner.iter().for_each(|operand| self.operand(operand));
            }
            _ => {}
        }
    }
}
