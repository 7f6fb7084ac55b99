//! The swap buffer: data registers in which lines wait on their way to STT-MRAM (IV-A, Fig. 10).

use strata_memory::cache::FrameId;

/// Registers that hold one line each. The commands of the tag queue name their registers.
#[derive(Clone, Debug)]
pub(super) struct SwapBuffer {
    first: u32,
    count: u32,
    /// Free registers, used as a stack.
    free: Vec<FrameId>,
}

impl SwapBuffer {
    /// Makes `count` registers, which are the frames from `first` on.
    pub fn new(first: u32, count: u32) -> SwapBuffer {
        SwapBuffer { first, count, free: (first..first + count).rev().map(FrameId).collect() }
    }

    /// Whether the frame is one of the registers.
    #[inline]
    pub fn holds(&self, frame: FrameId) -> bool {
        frame.0.wrapping_sub(self.first) < self.count
    }

    /// Whether a register is free.
    #[inline]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Number of registers in use.
    #[inline]
    pub fn len(&self) -> usize {
        self.count as usize - self.free.len()
    }

    /// Takes a free register; the caller has checked that there is one.
    #[inline]
    pub fn take(&mut self) -> FrameId {
        self.free.pop().expect("room in the swap buffer was checked")
    }

    /// Frees a register whose line has left.
    #[inline]
    pub fn give_back(&mut self, register: FrameId) {
        debug_assert!(
            self.holds(register) && !self.free.contains(&register),
            "a register is given back once"
        );
        self.free.push(register);
    }
}
