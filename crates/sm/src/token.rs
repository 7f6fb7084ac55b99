//! What goes through the execution units and on to the register file.

use strata_ptx::isa::Pc;
use strata_ptx::lanes::{ALL_LANES, LaneMask};

/// An instruction in a unit, or behind it: where its results are, or that they are in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(u64);

impl Token {
    const IS_EXECUTED: u64 = 1 << 63;
    const IS_PARTIAL: u64 = 1 << 62;
    const DONE_AT: u32 = 40;
    const WARP_AT: u32 = 32;

    /// One whose results are the outcome at a place.
    #[inline(always)]
    pub fn of_outcome(place: u16) -> Token {
        Token(place.into())
    }

    /// One whose results are in place.
    #[inline(always)]
    pub fn of_executed(warp: u8, pc: Pc, lanes: LaneMask) -> Token {
        let is_partial = if lanes == ALL_LANES { 0 } else { Token::IS_PARTIAL };
        Token(Token::IS_EXECUTED | is_partial | u64::from(warp) << Token::WARP_AT | u64::from(pc))
    }

    /// The place of its outcome, if it has one.
    #[inline(always)]
    pub fn outcome(self) -> Option<u16> {
        (self.0 & Token::IS_EXECUTED == 0).then_some(self.0 as u16)
    }

    /// The warp of one whose results are in place.
    #[inline(always)]
    pub fn warp(self) -> u8 {
        (self.0 >> Token::WARP_AT) as u8
    }

    /// Its index in the kernel's code.
    #[inline(always)]
    pub fn pc(self) -> Pc {
        self.0 as Pc
    }

    /// Whether only some lanes of its rows are written.
    #[inline(always)]
    pub fn is_partial(self) -> bool {
        self.0 & Token::IS_PARTIAL != 0
    }

    /// How many of its rows the register file has accepted.
    #[inline(always)]
    pub fn done(self) -> u8 {
        (self.0 >> Token::DONE_AT) as u8
    }

    /// The same with so many rows accepted.
    #[inline(always)]
    pub fn with_done(self, done: u8) -> Token {
        Token(self.0 & !(0xFF << Token::DONE_AT) | u64::from(done) << Token::DONE_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_what_it_was_made_of() {
        let token = Token::of_executed(63, u32::MAX, 0x7FFF_FFFF);
        assert_eq!((token.warp(), token.pc(), token.done()), (63, u32::MAX, 0));
        assert!(token.is_partial() && token.outcome().is_none());
        let token = token.with_done(2).with_done(5);
        assert_eq!((token.warp(), token.pc(), token.done(), token.is_partial()), (63, u32::MAX, 5, true));
        assert!(!Token::of_executed(0, 0, ALL_LANES).is_partial());
        assert_eq!(Token::of_outcome(u16::MAX).outcome(), Some(u16::MAX));
    }
}
