//! Blocks: what a tag of the cache stands for, a line of memory or a half of one.

use strata_memory::{LINE_BYTES, LineAddress};

/// The number of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block(u64);

impl Block {
    /// The block that tags or MSHRs name.
    pub fn named(name: LineAddress) -> Block {
        Block(name.0)
    }

    /// What tags and MSHRs call it: it takes the place of a line there.
    pub fn name(self) -> LineAddress {
        LineAddress(self.0)
    }
}

/// How lines are divided into blocks.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Binary logarithm of a line's blocks: 0 or 1.
    shift: u32,
}

impl Blocks {
    /// Blocks of so many bytes: 64 or 128.
    pub fn new(bytes: u32) -> Blocks {
        Blocks { shift: (LINE_BYTES as u32 / bytes).trailing_zeros() }
    }

    /// The block in which the words of a line lie, bit n for word n.
    #[inline]
    pub fn of(self, line: LineAddress, words: u32) -> Block {
        let block = Block(line.0 << self.shift | u64::from(words.trailing_zeros() >> (5 - self.shift)));
        debug_assert_eq!(words & !self.words(block), 0, "they lie in one block");
        block
    }

    /// The line of a block.
    #[inline]
    pub fn line(self, block: Block) -> LineAddress {
        LineAddress(block.0 >> self.shift)
    }

    /// The words of its line that a block has.
    #[inline]
    pub fn words(self, block: Block) -> u32 {
        if self.shift == 0 { u32::MAX } else { 0xffff << (16 * (block.0 & 1)) }
    }

    /// The blocks of a line, with those of some words that each has; blocks with none are left out.
    pub fn parts(self, line: LineAddress, words: u32) -> impl Iterator<Item = (Block, u32)> + Clone {
        let blocks = (0..1 << self.shift).map(move |part| Block(line.0 << self.shift | part));
        blocks.map(move |block| (block, words & self.words(block))).filter(|(_, words)| *words != 0)
    }

    /// The most blocks of a line.
    pub fn per_line(self) -> usize {
        1 << self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_block_or_two() {
        let (line, whole, halves) = (LineAddress(7), Blocks::new(128), Blocks::new(64));
        assert_eq!(whole.parts(line, 0x8000_0001).collect::<Vec<_>>(), [(Block(7), 0x8000_0001)]);
        assert_eq!(
            halves.parts(line, 0x8000_0001).collect::<Vec<_>>(),
            [(Block(14), 1), (Block(15), 0x8000_0000)]
        );
        assert_eq!(halves.parts(line, 0x0001_0000).collect::<Vec<_>>(), [(Block(15), 0x0001_0000)]);
        for (blocks, words) in [(whole, u32::MAX), (halves, 0xffff_0000), (halves, 0xffff)] {
            let block = blocks.of(line, words & 0x0100_0100);
            assert_eq!((blocks.line(block), blocks.words(block)), (line, words));
            assert_eq!(Block::named(block.name()), block);
        }
    }
}
