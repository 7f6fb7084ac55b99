//! The swap buffer: data registers in which lines wait between SRAM and STT-MRAM (IV-A, Fig. 10).

use strata_memory::tags::FrameId;

/// Registers of a line each. Which command of the tag queue a register belongs to is said there.
#[derive(Clone, Debug)]
pub(super) struct SwapBuffer {
    first: u32,
    count: u32,
    /// Free registers, used as a stack.
    free: Vec<FrameId>,
}

impl SwapBuffer {
    /// `count` registers, the frames from `first` on.
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

    /// Registers in use.
    #[inline]
    pub fn len(&self) -> usize {
        self.count as usize - self.free.len()
    }

    /// Takes a register.
    #[inline]
    pub fn take(&mut self) -> FrameId {
        self.free.pop().expect("room in the swap buffer was checked")
    }

    /// Gives a register back.
    #[inline]
    pub fn give_back(&mut self, register: FrameId) {
        debug_assert!(
            self.holds(register) && !self.free.contains(&register),
            "a register is given back once"
        );
        self.free.push(register);
    }
}
