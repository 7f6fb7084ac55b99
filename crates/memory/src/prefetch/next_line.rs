//! The line behind each one that misses.

use super::{Make, Prefetcher, Wishes};
use crate::cache::policy::Entry;
use crate::touch::Touch;

pub(super) const NEXT_LINE: Entry<Make> = Entry {
    name: "next-line",
    meaning: "After a miss, and after the first use of a line that was prefetched, fetches the line behind it",
    source: "Smith, ACM Computing Surveys 1982: tagged prefetch",
    make: || Some(Box::new(NextLine)),
};

struct NextLine;

impl Prefetcher for NextLine {
    fn seen(&mut self, touch: &Touch, hit: bool, wishes: &mut Wishes) {
        if !hit {
            wishes.add_behind(touch.line, 1);
        }
    }
}
