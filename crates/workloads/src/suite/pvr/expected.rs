//! The ranking, by a stable sort.

use super::Page;
use crate::mapreduce::firsts;

/// Pages, the most viewed first; equals in the order of the input.
#[derive(Debug)]
pub(super) struct Ranking {
    pub(super) views: Vec<i32>,
    pub(super) offsets: Vec<i32>,
    /// Where each number of views begins among them.
    pub(super) firsts: Vec<i32>,
}

pub(super) fn ranking(pages: &[Page]) -> Ranking {
    let mut pages = pages.to_vec();
    pages.sort_by_key(|page| std::cmp::Reverse(page.views));
    let views: Vec<i32> = pages.iter().map(|page| page.views).collect();
    let offsets = pages.iter().map(|page| page.offset).collect();
    Ranking { firsts: firsts(&views), views, offsets }
}

#[cfg(test)]
mod tests {
    use super::super::{Pvr, Views};
    use super::*;

    #[test]
    fn four_pages_by_hand() {
        let page = |views, offset| Page { views, offset };
        let found = ranking(&[page(3, 0), page(7, 9), page(3, 20), page(4, 31)]);
        assert_eq!(found.views, [7, 4, 3, 3]);
        assert_eq!(found.offsets, [9, 31, 0, 20]);
        assert_eq!(found.firsts, [0, 1, 2]);
    }

    #[test]
    fn views_repeat() {
        let found = ranking(&Pvr { pages: 1000, views: Views::Popular }.pages());
        assert!(found.firsts.len() < 500);
    }
}
