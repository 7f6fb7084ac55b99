//! The line that each warp comes to.

use super::Chase;

impl Chase {
    /// Each warp's last line, 32 times.
    pub(super) fn expected(&self, next: &[u32]) -> Vec<u32> {
        let last = |warp| (0..self.steps).fold(warp, |line: u32, _| next[line as usize]);
        (0..self.warps).flat_map(|warp| [last(warp); 32]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_comes_once_in_a_circle() {
        let chase = Chase { warps: 1, lines: 50, steps: 50 };
        let next = chase.next();
        assert_eq!(chase.expected(&next), [0; 32]);
        let early = Chase { steps: 49, ..chase };
        assert_eq!(next[early.expected(&next)[0] as usize], 0);
        assert_ne!(early.expected(&next)[0], 0);
    }
}
