//! What a warp executes at a stretch, whatever it finds.
//!
//! Most instructions compute, move values between registers and memory that is simply there, or branch. No other warp has its
//! turn among them and nobody watches, so what is the same for all of them is looked at once. What any other instruction
//! does is up to [`Cta`], one at a time.

use super::cta::Cta;
use super::launch::Launch;
use super::plain::Pieces;
use super::steps::Way;
use super::world::World;
use crate::exec::{InPlace, guarded};

impl Cta {
    /// Executes instructions of a ready warp, at most so many, up to the first that has to be executed in another way. Returns
    /// their number.
    pub fn run_straight(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        most: u32,
    ) -> u32 {
        let kernel = launch.kernel;
        let warp = &mut self.warps[number];
        let stack = &mut warp.stack;
        let (registers, predicates) = (kernel.registers as usize, kernel.predicates as usize);
        let Some(instruction) = kernel.code.get(stack.pc() as usize) else { return 0 };
        let mut operands = InPlace {
            instruction,
            registers: &mut self.registers[number * registers..][..registers],
            predicates: &mut self.predicates[number * predicates..][..predicates],
            constants: &launch.constants,
        };
        let is_plain = world.observer.is_none();
        let shared = if self.maps.is_empty() { &mut self.shared[..] } else { &mut [] };
        let mut pieces = Pieces { global: world.global, shared, stores: 0 };
        let mut left = most;
        while let Some(step) = launch.steps.get(stack.pc() as usize) {
            let (pc, active) = (stack.pc() as usize, stack.active());
            let length = step.length.min(left).min(stack.until_meeting());
            let run = pc..pc + length as usize;
            let (mut done, mut branch) = (0, None);
            for (instruction, step) in kernel.code[run.clone()].iter().zip(&launch.steps[run]) {
                operands.instruction = instruction;
                let lanes = guarded(instruction.guard, active, &operands);
                match step.way {
                    Way::Branch => branch = Some((lanes, instruction)),
                    _ if lanes == 0 => {}
                    Way::Lanes(routine) => routine(instruction, &mut operands, lanes, &warp.context),
                    Way::Memory(access)
                        if is_plain && access(instruction, &mut operands, lanes, &mut pieces) => {}
                    Way::Memory(_) | Way::Apart => break,
                }
                world.counts.add(lanes);
                done += 1;
            }
            left -= done;
            match branch {
                Some((lanes, instruction)) => {
                    stack.pass(done - 1);
                    stack.branch(lanes, instruction.target, stack.pc() + 1, instruction.reconverge);
                    if instruction.yields {
                        stack.give_way(lanes);
                    }
                }
                None => stack.pass(done),
            }
            if done < length || length == 0 || stack.is_done() {
                break;
            }
        }
        world.changes += pieces.stores;
        most - left
    }
}
