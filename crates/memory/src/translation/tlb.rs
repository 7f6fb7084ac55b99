//! A TLB: which pages are in it.

use strata_engine::seed::Stream;

use super::Page;
use crate::cache::Store;
use crate::node::NodeId;
use crate::tags::{Geometry, Sets};
use crate::touch::{Origin, Touch};

/// The pages of a set-associative TLB.
pub(super) struct Tlb {
    sets: Sets,
    node: NodeId,
}

impl Tlb {
    /// An empty TLB of a node. `seed` starts the stream `name` of random replacement.
    pub(super) fn new(geometry: Geometry, node: NodeId, (seed, name): (u64, &str)) -> Tlb {
        Tlb { sets: Sets::new(geometry, Stream::new(seed, &format!("{name} {}", node.0))), node }
    }

    /// Whether the page is here; then it counts as used, by this instruction.
    pub(super) fn look_up(&mut self, page: Page, origin: Origin) -> bool {
        let Some(frame) = self.sets.find(page.key()) else { return false };
        self.sets.used(frame, &self.touch(page, origin));
        true
    }

    /// Takes a page that is not here. Returns whether another made room for it.
    pub(super) fn fill(&mut self, page: Page, origin: Origin) -> bool {
        let frame = self.sets.victim(page.key()).expect("no page of a TLB is pinned");
        let evicts = self.sets.frames().line(frame).is_some();
        self.sets.install(frame, &self.touch(page, origin));
        evicts
    }

    fn touch(&self, page: Page, origin: Origin) -> Touch {
        Touch { line: page.key(), origin, node: self.node, ..Touch::default() }
    }
}
