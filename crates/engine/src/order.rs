//! Who takes which island when: the rule by which threads share out the islands of a window.

/// The islands' order and their links, which stay the same for the whole simulation.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Those with most neighbours first, as most others wait for them.
    islands: Vec<usize>,
    /// The islands that each island has links with, and itself.
    neighbours: Vec<Vec<usize>>,
}

impl Order {
    /// Of islands with these neighbours.
    pub fn new(mut neighbours: Vec<Vec<usize>>) -> Order {
        let mut islands: Vec<usize> = (0..neighbours.len()).collect();
        islands.sort_by_key(|island| std::cmp::Reverse(neighbours[*island].len()));
        for (island, known) in neighbours.iter_mut().enumerate() {
            known.push(island);
        }
        Order { islands, neighbours }
    }

    /// Number of islands.
    pub fn len(&self) -> usize {
        self.islands.len()
    }

    /// The order in which one thread alone takes islands.
    pub fn islands(&self) -> &[usize] {
        &self.islands
    }

    /// The order in which one of several threads takes islands: those of its own first, the same in each window, then those that
    /// others have not come to.
    pub fn turns(&self, thread: usize, threads: usize) -> impl Iterator<Item = usize> {
        (0..threads).flat_map(move |step| self.own((thread + step) % threads, threads))
    }

    /// The islands of one of several threads.
    pub fn own(&self, thread: usize, threads: usize) -> impl Iterator<Item = usize> {
        self.islands.iter().skip(thread).step_by(threads).copied()
    }

    /// The islands that must have simulated a window before this one can simulate the next.
    pub fn awaited(&self, island: usize) -> &[usize] {
        &self.neighbours[island]
    }
}
