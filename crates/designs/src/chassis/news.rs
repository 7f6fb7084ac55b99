//! What becomes of lines, for the SM's warp scheduler, where that wants to hear it.

use std::collections::VecDeque;

use strata_memory::doors::LineNews;

use super::Chassis;

/// News that nobody has taken yet; `None` where nobody wants to hear any.
pub(super) type News = Option<Box<VecDeque<LineNews>>>;

impl<S> Chassis<S> {
    /// [`L1d::tell_news`](strata_memory::doors::L1d::tell_news).
    pub fn tell_news(&mut self) {
        self.news = Some(Box::default());
    }

    /// [`L1d::news`](strata_memory::doors::L1d::news).
    pub fn take_news(&mut self) -> Option<LineNews> {
        self.news.as_mut()?.pop_front()
    }

    /// Tells of a line, if anybody wants to hear it.
    #[inline]
    pub fn tell(&mut self, news: LineNews) {
        if let Some(list) = &mut self.news {
            list.push_back(news);
        }
    }
}
