//! Miss status holding registers (MSHRs): the fetches in flight, and the accesses that wait for each in
//! order.

use strata_engine::typed_id;

use crate::address::LineAddress;

typed_id! {
    /// Identifies an MSHR of its file.
    MshrId, u16
}

/// No line has this number.
const FREE: u64 = u64::MAX;
/// End of a list of nodes.
const END: u32 = u32::MAX;

/// A file of MSHRs. Each queues the accesses `T` to its line in order of arrival, and holds a state `S` for
/// its owner. All memory is allocated at construction.
#[derive(Clone, Debug)]
pub struct MshrFile<T, S> {
    /// Line of each MSHR, side by side, for a vectorised scan.
    lines: Vec<u64>,
    mshrs: Vec<Mshr<S>>,
    /// The accesses of all lists and the nodes between uses; as many as were ever needed together.
    nodes: Vec<Node<T>>,
    /// The first node that is not in use, or [`END`].
    free_node: u32,
    /// Free MSHRs, used as a stack.
    free: Vec<MshrId>,
    merges: u16,
}

#[derive(Clone, Debug)]
struct Mshr<S> {
    /// The nodes of the first and the last of its accesses, and how many there are.
    head: u32,
    tail: u32,
    len: u16,
    state: S,
}

#[derive(Clone, Debug)]
struct Node<T> {
    next: u32,
    item: Option<T>,
}

impl<T, S: Default> MshrFile<T, S> {
    /// Makes a file of `entries` MSHRs (1 to 65535), each of which holds up to `merges` accesses, the first
    /// included.
    pub fn new(entries: usize, merges: u16) -> Self {
        assert!((1..=0xffff).contains(&entries) && merges >= 1, "MSHRs are checked before they are built");
        let free = || Mshr { head: END, tail: END, len: 0, state: S::default() };
        MshrFile {
            lines: vec![FREE; entries],
            mshrs: (0..entries).map(|_| free()).collect(),
            nodes: Vec::new(),
            free_node: END,
            free: (0..entries).rev().map(MshrId::from).collect(),
            merges,
        }
    }

    /// Finds the MSHR of a line by a scan. A cache that pins frames knows it without one.
    #[inline]
    pub fn find(&self, line: LineAddress) -> Option<MshrId> {
        for (chunk, lines) in self.lines.chunks(32).enumerate() {
            let mut hit = 0_u32;
            for (n, entry) in lines.iter().enumerate() {
                hit |= u32::from(*entry == line.0) << n;
            }
            if hit != 0 {
                return Some(MshrId((32 * chunk) as u16 + hit.trailing_zeros() as u16));
            }
        }
        None
    }

    /// Allocates an MSHR for a line, with a default state; `None` if none is free.
    #[inline]
    pub fn allocate(&mut self, line: LineAddress) -> Option<MshrId> {
        let id = self.free.pop()?;
        self.lines[id.index()] = line.0;
        self.mshrs[id.index()].state = S::default();
        Some(id)
    }

    /// Allocates an MSHR for a line, with a state and its first access. One must be free.
    #[inline]
    pub fn begin(&mut self, line: LineAddress, state: S, first: T) -> MshrId {
        let id = self.free.pop().expect("a free MSHR was checked");
        self.lines[id.index()] = line.0;
        let node = self.node(first);
        let mshr = &mut self.mshrs[id.index()];
        (mshr.head, mshr.tail, mshr.len) = (node, node, 1);
        mshr.state = state;
        id
    }

    /// Puts an access into a node that is not in use.
    #[inline]
    fn node(&mut self, item: T) -> u32 {
        let node = self.free_node;
        if let Some(slot) = self.nodes.get_mut(node as usize) {
            self.free_node = slot.next;
            (slot.next, slot.item) = (END, Some(item));
            return node;
        }
        self.nodes.push(Node { next: END, item: Some(item) });
        self.nodes.len() as u32 - 1
    }

    /// Frees an MSHR.
    ///
    /// # Panics
    /// Panics if an access still waits in it.
    #[inline]
    pub fn release(&mut self, id: MshrId) {
        assert!(self.mshrs[id.index()].len == 0, "an MSHR is released when nobody waits in it");
        debug_assert_ne!(self.lines[id.index()], FREE, "an MSHR is released once");
        self.lines[id.index()] = FREE;
        self.free.push(id);
    }

    /// Appends an access. An MSHR that cannot merge another returns it.
    #[inline(always)]
    pub fn push(&mut self, id: MshrId, item: T) -> Result<(), T> {
        if !self.can_merge(id) {
            return Err(item);
        }
        let node = self.node(item);
        let mshr = &mut self.mshrs[id.index()];
        if mshr.len == 0 {
            mshr.head = node;
        } else {
            self.nodes[mshr.tail as usize].next = node;
        }
        mshr.tail = node;
        mshr.len += 1;
        Ok(())
    }

    /// Whether [`MshrFile::push`] would take an access.
    #[inline]
    pub fn can_merge(&self, id: MshrId) -> bool {
        self.mshrs[id.index()].len < self.merges
    }

    /// The access that has waited longest.
    #[inline]
    pub fn front(&self, id: MshrId) -> Option<&T> {
        let mshr = &self.mshrs[id.index()];
        if mshr.len == 0 {
            return None;
        }
        self.nodes[mshr.head as usize].item.as_ref()
    }

    /// Removes and returns the access that has waited longest.
    #[inline]
    pub fn pop(&mut self, id: MshrId) -> Option<T> {
        let mshr = &mut self.mshrs[id.index()];
        if mshr.len == 0 {
            return None;
        }
        let head = mshr.head;
        let node = &mut self.nodes[head as usize];
        mshr.head = node.next;
        mshr.len -= 1;
        node.next = self.free_node;
        self.free_node = head;
        node.item.take()
    }

    /// The line of an MSHR.
    #[inline]
    pub fn line(&self, id: MshrId) -> LineAddress {
        LineAddress(self.lines[id.index()])
    }

    /// Number of accesses that wait in an MSHR.
    #[inline]
    pub fn waiting(&self, id: MshrId) -> usize {
        usize::from(self.mshrs[id.index()].len)
    }

    /// The owner's state for an MSHR.
    #[inline]
    pub fn state(&self, id: MshrId) -> &S {
        &self.mshrs[id.index()].state
    }

    /// The owner's state for an MSHR, mutable.
    #[inline]
    pub fn state_mut(&mut self, id: MshrId) -> &mut S {
        &mut self.mshrs[id.index()].state
    }

    /// Number of MSHRs in use.
    #[inline]
    pub fn len(&self) -> usize {
        self.mshrs.len() - self.free.len()
    }

    /// Whether no MSHR is in use.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.mshrs.len()
    }

    /// Number of MSHRs that are free.
    #[inline]
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Whether no MSHR is free.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Iterates over the MSHRs in use and their lines, for reports.
    pub fn iter(&self) -> impl Iterator<Item = (MshrId, LineAddress)> {
        let used =
            |(n, line): (usize, &u64)| (*line != FREE).then_some((MshrId(n as u16), LineAddress(*line)));
        self.lines.iter().enumerate().filter_map(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_come_back_in_order_and_nodes_are_used_again() {
        let mut file = MshrFile::<u32, u8>::new(40, 3);
        for round in 0..10 {
            let ids: Vec<_> = (0..40).map(|n| file.allocate(LineAddress(n)).unwrap()).collect();
            assert_eq!(file.allocate(LineAddress(99)), None);
            for access in 0..3 {
                ids.iter().for_each(|id| file.push(*id, 100 * round + access).unwrap());
            }
            assert_eq!(file.push(ids[7], 9), Err(9), "the MSHR merges no more");
            for (n, id) in ids.iter().enumerate() {
                assert_eq!(file.find(LineAddress(n as u64)), Some(*id));
                assert_eq!(file.front(*id), Some(&(100 * round)));
                let order: Vec<_> = std::iter::from_fn(|| file.pop(*id)).collect();
                assert_eq!(order, [100 * round, 100 * round + 1, 100 * round + 2]);
                file.release(*id);
            }
            assert!(file.is_empty());
            assert_eq!(file.find(LineAddress(5)), None);
        }
    }

    #[test]
    #[should_panic(expected = "nobody waits")]
    fn an_mshr_with_a_waiter_is_not_released() {
        let mut file = MshrFile::<u32, u8>::new(1, 1);
        let id = file.allocate(LineAddress(1)).unwrap();
        file.push(id, 1).unwrap();
        file.release(id);
    }
}
