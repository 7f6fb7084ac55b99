//! What the sets of the extended LLC hold, as far as the controller can know: no hardware, but what host copies between
//! kernels and [perfect prediction](super::Prediction::Perfect) need.
//!
//! The bytes themselves are in the registers of SMs, and only what these send is ever answered. The shadow follows each
//! operation's result by the rule of the kernel, LRU, and finds blocks that come back with other bytes. Of a compressed set it
//! has the blocks used last, down to the depth that the set's warp tells: all that may be there. Those that are not are clean.

use strata_memory::{ByteMask, Line, LineAddress};

/// A block of a set.
#[derive(Clone, Debug)]
struct Block {
    line: LineAddress,
    is_dirty: bool,
    /// Bytes that a host copy has changed here and the set does not have yet.
    patch: ByteMask,
    data: Line,
    /// The set has said that it does not have the block. It keeps its place among those used last.
    is_absent: bool,
}

/// What a set holds, least recently used first.
#[derive(Clone, Debug, Default)]
pub struct Shadow {
    blocks: Vec<Block>,
    ways: usize,
    /// Blocks that were lost dirty or came back with other bytes.
    wrong: u64,
}

impl Shadow {
    /// An empty set of `ways` blocks.
    pub fn new(ways: u32) -> Shadow {
        Shadow { blocks: Vec::new(), ways: ways as usize, wrong: 0 }
    }

    /// A set of which nothing is followed: an L1D's, which host copies reach themselves.
    pub fn unknown() -> Shadow {
        Shadow::new(0)
    }

    fn is_unknown(&self) -> bool {
        self.ways == 0
    }

    /// How often a block was lost dirty, or came back with other bytes than it had.
    pub fn wrong(&self) -> u64 {
        self.wrong
    }

    /// Whether the set holds a block; whether it may, if it is compressed.
    pub fn holds(&self, line: LineAddress) -> bool {
        self.find(line).is_some()
    }

    /// The bytes of a block.
    pub fn data(&self, line: LineAddress) -> Option<&Line> {
        self.find(line).map(|block| &block.data)
    }

    /// The block that the next one drives out, if it has to be written back.
    pub fn dirty_victim(&self) -> Option<(LineAddress, Line)> {
        let victim = self.blocks.first().filter(|block| self.blocks.len() == self.ways && block.is_dirty)?;
        Some((victim.line, victim.data.clone()))
    }

    /// The set's warp showed the block with these bytes, which it had or loaded.
    pub fn shown(&mut self, line: LineAddress, data: &Line) {
        match self.touch(line) {
            Some(block) => {
                let is_right = agrees(block, data);
                self.wrong += u64::from(!is_right);
            }
            None => self.install(line, data, false),
        }
    }

    /// The set's warp did not have the block: it may not have been lost dirty.
    pub fn missed(&mut self, line: LineAddress) {
        if let Some(block) = self.find_mut(line) {
            self.wrong += u64::from(std::mem::take(&mut block.is_dirty));
        }
    }

    /// The set's warp said that it does not have the block, which may not have been lost dirty. Memory has what host copies wrote.
    pub fn absent(&mut self, line: LineAddress) {
        if let Some(block) = self.find_mut(line) {
            block.is_absent = true;
            block.patch = ByteMask::NONE;
            self.wrong += u64::from(std::mem::take(&mut block.is_dirty));
        }
    }

    /// Every block of the set is among the `depth` used last.
    pub fn reach(&mut self, depth: u32) {
        let gone = self.blocks.len().saturating_sub(depth as usize);
        self.wrong += self.blocks.drain(..gone).filter(|block| block.is_dirty).count() as u64;
    }

    /// The block was given to the set, in place of one that it may have had.
    pub fn given(&mut self, line: LineAddress, data: &Line, is_dirty: bool) {
        match self.touch(line) {
            Some(block) => {
                block.data = data.clone();
                block.patch = ByteMask::NONE;
                block.is_dirty |= is_dirty;
            }
            None => self.install(line, data, is_dirty),
        }
    }

    /// Bytes of the block were changed in the set, which had it.
    pub fn changed(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        match self.touch(line) {
            Some(block) => {
                block.data.merge(bytes, data);
                block.patch &= !bytes;
                block.is_dirty = true;
            }
            None => self.wrong += u64::from(!self.is_unknown()),
        }
    }

    /// The set's warp wrote the block back; `data` gets the bytes that a host copy changed meanwhile.
    pub fn written_back(&mut self, line: LineAddress, data: &mut Line) {
        match self.find_mut(line) {
            Some(block) => {
                let is_right = agrees(block, data);
                block.is_dirty = false;
                data.merge(block.patch, &block.data);
                self.wrong += u64::from(!is_right);
            }
            None => self.wrong += u64::from(!self.is_unknown()),
        }
    }

    /// Bytes that a host copy has changed and the set does not have yet.
    pub fn patch(&self, line: LineAddress) -> Option<(ByteMask, &Line)> {
        let block = self.find(line)?;
        (!block.patch.is_empty()).then_some((block.patch, &block.data))
    }

    /// The set was given them.
    pub fn patched(&mut self, line: LineAddress) {
        if let Some(block) = self.touch(line) {
            block.patch = ByteMask::NONE;
            block.is_dirty = true;
        }
    }

    /// Writes the block's bytes over those of memory, for a host copy.
    pub fn peek(&self, line: LineAddress, below: &mut Line) {
        if let Some(block) = self.find(line) {
            below.0 = block.data.0;
        }
    }

    /// Takes what a host copy wrote.
    pub fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        if let Some(block) = self.find_mut(line) {
            block.data.merge(bytes, data);
            block.patch |= bytes;
        }
    }

    fn find(&self, line: LineAddress) -> Option<&Block> {
        self.blocks.iter().find(|block| block.line == line && !block.is_absent)
    }

    fn find_mut(&mut self, line: LineAddress) -> Option<&mut Block> {
        self.blocks.iter_mut().find(|block| block.line == line && !block.is_absent)
    }

    /// Makes the block the one used last.
    fn touch(&mut self, line: LineAddress) -> Option<&mut Block> {
        let place = self.blocks.iter().position(|block| block.line == line)?;
        self.blocks[place..].rotate_left(1);
        let block = self.blocks.last_mut()?;
        block.is_absent = false;
        Some(block)
    }

    fn install(&mut self, line: LineAddress, data: &Line, is_dirty: bool) {
        if self.is_unknown() {
            return;
        }
        if self.blocks.len() == self.ways {
            let victim = self.blocks.remove(0);
            self.wrong += u64::from(victim.is_dirty);
        }
        self.blocks.push(Block {
            line,
            is_dirty,
            patch: ByteMask::NONE,
            data: data.clone(),
            is_absent: false,
        });
    }
}

/// Whether a block came back as it should, but for bytes that the set was not told of.
fn agrees(block: &Block, data: &Line) -> bool {
    let mut expected = block.data.clone();
    expected.merge(block.patch, data);
    expected == *data
}
