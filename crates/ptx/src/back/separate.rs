//! Registers without reuse: each register of the program has rows of its own, as PTX writes it.

use super::body::{Body, definitions, uses};
use super::color::NO_PLACE;
use crate::ir::VReg;
use crate::isa::{Ty, Width};

/// The registers that the code mentions, ascending.
pub fn mentioned(body: &Body) -> impl Iterator<Item = VReg> {
    let mut used = vec![false; body.registers.len()];
    for inst in &body.code {
        uses(inst).chain(definitions(inst)).for_each(|reg| used[reg.0 as usize] = true);
    }
    used.into_iter().enumerate().filter(|(_, used)| *used).map(|(reg, _)| VReg(reg as u32))
}

/// The first row of each register that the code mentions, [`NO_PLACE`] for the others and for predicates; `None` if all
/// together take more than `most` rows.
pub fn places(body: &Body, most: usize) -> Option<Vec<u16>> {
    let mut used = vec![false; body.registers.len()];
    mentioned(body).for_each(|reg| used[reg.0 as usize] = true);
    let mut places = vec![NO_PLACE; body.registers.len()];
    let mut next = 0_usize;
    // Wide registers begin at multiples of their width, so they go first; arrays of any size begin anywhere.
    let mut sizes: Vec<usize> = body.registers.iter().map(|ty| Width::of(*ty).rows()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for rows in sizes.into_iter().rev() {
        for (reg, ty) in body.registers.iter().enumerate().filter(|(reg, _)| used[*reg]) {
            let width = Width::of(*ty);
            if width == Width::Predicate || width.rows() != rows {
                continue;
            }
            next = next.next_multiple_of(rows.min(4));
            if next + rows > most {
                return None;
            }
            places[reg] = next as u16;
            next += rows;
        }
    }
    Some(places)
}

/// A number for each register of an allocation that is no predicate.
pub struct ValueNumbers {
    /// By register.
    pub of: Vec<u16>,
    /// How many.
    pub count: u32,
}

impl ValueNumbers {
    /// A number of its own for each register that the code mentions.
    pub fn separate(body: &Body) -> ValueNumbers {
        let mut of = vec![0; body.registers.len()];
        let mut count = 0;
        for reg in mentioned(body).filter(|reg| body.ty(*reg) != Ty::Pred) {
            of[reg.0 as usize] = count as u16;
            count += 1;
        }
        ValueNumbers { of, count }
    }
}
