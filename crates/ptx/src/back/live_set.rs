//! The registers live at a point of the program, followed from instruction to instruction.

use super::body::Body;
use crate::ir::VReg;
use crate::isa::Width;

/// A set of the rows and predicates that are live, with their numbers.
pub struct LiveSet<'a> {
    body: &'a Body,
    /// The members: those in 32-bit rows, and the predicates.
    members: [Vec<u32>; 2],
    /// Where each register stands among its like; `u32::MAX` for one that is not a member.
    place: Vec<u32>,
    /// The 32-bit rows of the members.
    pub rows: usize,
}

impl<'a> LiveSet<'a> {
    /// The empty set.
    pub fn new(body: &'a Body) -> LiveSet<'a> {
        let place = vec![u32::MAX; body.registers.len()];
        LiveSet { body, members: [Vec::new(), Vec::new()], place, rows: 0 }
    }

    /// The members that share a file with a register.
    pub fn like(&self, reg: VReg) -> &[u32] {
        &self.members[self.kind(reg)]
    }

    /// The predicates among the members.
    pub fn predicates(&self) -> usize {
        self.members[1].len()
    }

    /// Whether a register is a member.
    pub fn contains(&self, reg: VReg) -> bool {
        self.place[reg.0 as usize] != u32::MAX
    }

    /// Adds a register; true when it was not there.
    pub fn insert(&mut self, reg: VReg) -> bool {
        let kind = self.kind(reg);
        let place = &mut self.place[reg.0 as usize];
        if *place != u32::MAX {
            return false;
        }
        *place = self.members[kind].len() as u32;
        self.members[kind].push(reg.0);
        self.rows += Width::of(self.body.ty(reg)).rows();
        true
    }

    /// Takes a register out; true when it was there.
    pub fn remove(&mut self, reg: VReg) -> bool {
        let place = std::mem::replace(&mut self.place[reg.0 as usize], u32::MAX);
        if place == u32::MAX {
            return false;
        }
        let members = &mut self.members[self.kind(reg)];
        members.swap_remove(place as usize);
        if let Some(moved) = members.get(place as usize) {
            self.place[*moved as usize] = place;
        }
        self.rows -= Width::of(self.body.ty(reg)).rows();
        true
    }

    /// Holds these registers and no others from now on.
    pub fn become_all(&mut self, registers: &[u32]) {
        for reg in self.members.iter_mut().flat_map(|members| members.drain(..)) {
            self.place[reg as usize] = u32::MAX;
        }
        self.rows = 0;
        registers.iter().for_each(|reg| _ = self.insert(VReg(*reg)));
    }

    fn kind(&self, reg: VReg) -> usize {
        usize::from(Width::of(self.body.ty(reg)) == Width::Predicate)
    }
}
