//! Requests for a line that await their answers.

use std::collections::VecDeque;

/// Requests of one asker for one line, in the order in which they were sent. An answer names the request by its tag or, where words have owners,
/// by the words that it asked for; then there may be several answers, of a word each.
///
/// ```
/// use strata_sm::Unanswered;
///
/// let mut requests = Unanswered::default();
/// requests.add("first", 7, None);
/// requests.add("words", 0, Some(0b110));
/// requests.add("second", 7, None);
/// let given = |requests: &mut Unanswered<_, u32>| requests.answer(&7, None);
/// assert_eq!([given(&mut requests), given(&mut requests), given(&mut requests)], [Some("first"), Some("second"), None]);
/// let words = [0b001, 0b010, 0b100, 0b100].map(|words| requests.answer(&9, Some(words)));
/// assert_eq!(words, [None, Some("words"), Some("words"), None]);
/// ```
#[derive(Clone, Debug)]
pub struct Unanswered<R, T> {
    requests: VecDeque<(R, T, Option<u32>)>,
}

impl<R, T> Default for Unanswered<R, T> {
    fn default() -> Self {
        Unanswered { requests: VecDeque::new() }
    }
}

impl<R: Copy, T: PartialEq> Unanswered<R, T> {
    /// A request is sent.
    pub fn add(&mut self, request: R, tag: T, words: Option<u32>) {
        self.requests.push_back((request, tag, words));
    }

    /// An answer comes: the request that it is for, if there is one.
    pub fn answer(&mut self, tag: &T, words: Option<u32>) -> Option<R> {
        let is_it = |(_, of, asked): &(R, T, Option<u32>)| match (words, asked) {
            (Some(words), Some(asked)) => words & asked != 0,
            (None, None) => of == tag,
            _ => false,
        };
        let place = self.requests.iter().position(is_it)?;
        let (request, _, asked) = &mut self.requests[place];
        let request = *request;
        if let (Some(asked), Some(words)) = (asked, words) {
            *asked &= !words;
            if *asked != 0 {
                return Some(request);
            }
        }
        self.requests.remove(place);
        Some(request)
    }

    /// The requests that await an answer.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.requests.iter().map(|(request, _, _)| request)
    }

    /// The same, to change what they are called.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut R> {
        self.requests.iter_mut().map(|(request, _, _)| request)
    }

    /// Whether all have been answered.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}
