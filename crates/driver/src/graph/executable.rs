//! Executable graphs: a copy of a graph whose nodes' operations can be changed, and launched.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::parts::{Executable, Graph, Launch, Node, Work};
use crate::graph::user::Gone;
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Flags of an instantiation.
pub mod flag {
    /// What the graph allocated and nobody freed is freed at its next launch.
    pub const AUTO_FREE: u64 = 1;
    /// The graph is uploaded at once.
    pub const UPLOAD: u64 = 2;
    /// The graph is launched by kernels.
    pub const DEVICE: u64 = 4;
    /// All flags; the last is that nodes run with their own priorities.
    pub const ALL: u64 = 15;
}

/// Why an update is refused: `CUgraphExecUpdateResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mismatch {
    /// Nodes or edges differ.
    Topology = 2,
    /// A node does something else.
    Kind = 3,
    /// A kernel belongs to another context.
    Function = 4,
    /// Parameters differ that cannot be changed.
    Parameters = 5,
}

/// A refused update: why, the node of the executable graph, and the one of the new graph; null where there is none.
#[derive(Debug)]
pub struct Refused(pub Mismatch, pub Handle<Node>, pub Handle<Node>);

impl State {
    /// Makes a graph executable.
    pub fn instantiate(&mut self, graph: Handle<Graph>, flags: u64) -> Answer<Handle<Executable>> {
        self.graph(graph)?;
        if flags & !flag::ALL != 0 || flags & flag::DEVICE != 0 && flags & flag::AUTO_FREE != 0 {
            return Err(Status::InvalidValue);
        }
        if flags & flag::DEVICE != 0 {
            crate::log::once("graphs that kernels launch are not supported".into());
            return Err(Status::NotSupported);
        }
        if self.graph(graph)?.order().is_none() {
            return Err(Status::InvalidValue);
        }
        // Memory has one place, so such a graph has one executable graph at a time.
        if self.has_memory(graph)? && self.executables.iter().any(|(_, other)| other.from == graph) {
            return Err(Status::InvalidValue);
        }
        let mut copies = BTreeMap::new();
        let copy = self.copy_graph(graph, true, &mut copies)?;
        for node in copies.values() {
            if let Work::Allocate { address, .. } = self.nodes.get(*node)?.work {
                self.own(address);
            }
        }
        let number = self.number();
        let made = Executable { number, graph: copy, from: graph, copies, disabled: BTreeSet::new(), flags };
        Ok(self.executables.insert(made))
    }

    /// Destroys an executable graph.
    pub fn destroy_executable(&mut self, executable: Handle<Executable>) -> Answer<Gone> {
        let gone = self.executables.remove(executable)?;
        self.destroy_graph(gone.graph)
    }

    /// The copy of a node in an executable graph that was made from the node's graph.
    pub fn copy_of(&self, executable: Handle<Executable>, node: Handle<Node>) -> Answer<Handle<Node>> {
        self.nodes.get(node)?;
        self.executables.get(executable)?.copies.get(&node).copied().ok_or(Status::InvalidValue)
    }

    /// What a launch does, one operation after the other.
    pub fn plan(&mut self, executable: Handle<Executable>) -> Answer<Vec<Work>> {
        let Executable { graph, flags, .. } = *self.executables.get(executable)?;
        let mut plan = Vec::new();
        self.steps(executable, graph, &mut plan)?;
        for work in &plan {
            let Work::Allocate { address, .. } = work else { continue };
            if self.is_live(*address) {
                if flags & flag::AUTO_FREE == 0 {
                    return Err(Status::InvalidValue);
                }
                self.end_use(*address)?;
            }
        }
        Ok(plan)
    }

    fn steps(&self, executable: Handle<Executable>, graph: Handle<Graph>, plan: &mut Vec<Work>) -> Answer {
        let disabled = &self.executables.get(executable)?.disabled;
        for node in self.graphs.get(graph)?.order().ok_or(Status::InvalidValue)? {
            match &self.nodes.get(node)?.work {
                Work::Graph(child) => self.steps(executable, *child, plan)?,
                _ if disabled.contains(&node) => {}
                work => plan.push(work.clone()),
            }
        }
        Ok(())
    }

    /// Changes an executable graph's operations to those of a graph of the same form. Nodes are paired in the order
    /// in which they were added.
    pub fn update(
        &mut self,
        executable: Handle<Executable>,
        graph: Handle<Graph>,
    ) -> Answer<Result<(), Refused>> {
        self.graph(graph)?;
        let own = self.executables.get(executable)?.graph;
        let mut changes = Vec::new();
        if let Err(refused) = self.compare(own, graph, &mut changes)? {
            return Ok(Err(refused));
        }
        let copies: BTreeMap<_, _> = changes.iter().map(|(own, new, _)| (*new, *own)).collect();
        for (node, _, work) in changes {
            if let Some(work) = work {
                self.nodes.get_mut(node)?.work = work;
            }
        }
        // Nodes of both graphs name the copies now.
        self.executables.get_mut(executable)?.copies.extend(copies);
        Ok(Ok(()))
    }

    /// Pairs the nodes of two graphs, and lists what each of the first is to do.
    #[allow(clippy::type_complexity, reason = "a list for one caller")]
    pub fn compare(
        &self,
        own: Handle<Graph>,
        new: Handle<Graph>,
        changes: &mut Vec<(Handle<Node>, Handle<Node>, Option<Work>)>,
    ) -> Answer<Result<(), Refused>> {
        let (mine, theirs) = (self.graphs.get(own)?, self.graphs.get(new)?);
        if mine.nodes.len() != theirs.nodes.len() {
            let extra = theirs.nodes.get(mine.nodes.len()).copied().unwrap_or(Handle::NULL);
            return Ok(Err(Refused(Mismatch::Topology, Handle::NULL, extra)));
        }
        let pairs: BTreeMap<_, _> = theirs.nodes.iter().copied().zip(mine.nodes.iter().copied()).collect();
        let edges = |graph: &Graph| -> BTreeSet<_> {
            graph.edges.iter().map(|edge| (edge.from, edge.to, edge.data)).collect()
        };
        let moved: BTreeSet<_> =
            edges(theirs).into_iter().map(|(from, to, data)| (pairs[&from], pairs[&to], data)).collect();
        if let Some((_, to, _)) = moved.symmetric_difference(&edges(mine)).next() {
            let theirs =
                pairs.iter().find(|(_, mine)| *mine == to).map_or(Handle::NULL, |(theirs, _)| *theirs);
            return Ok(Err(Refused(Mismatch::Topology, *to, theirs)));
        }
        for (theirs, mine) in theirs.nodes.iter().zip(&mine.nodes) {
            let (old, work) = (&self.nodes.get(*mine)?.work, &self.nodes.get(*theirs)?.work);
            let refuse = |why| Ok(Err(Refused(why, *mine, *theirs)));
            if old.kind() != work.kind() {
                return refuse(Mismatch::Kind);
            }
            let change = match (old, work) {
                (Work::Graph(own), Work::Graph(new)) => {
                    if let Err(refused) = self.compare(*own, *new, changes)? {
                        return Ok(Err(refused));
                    }
                    None
                }
                (Work::Allocate { address, .. }, Work::Allocate { address: other, .. })
                | (Work::Free(address), Work::Free(other))
                    if address != other =>
                {
                    return refuse(Mismatch::Parameters);
                }
                (Work::Kernel(old), Work::Kernel(new)) if self.owner(old)? != self.owner(new)? => {
                    return refuse(Mismatch::Function);
                }
                _ => Some(work.clone()),
            };
            changes.push((*mine, *theirs, change));
        }
        Ok(Ok(()))
    }

    /// The context of a launch's kernel.
    fn owner(&self, launch: &Launch) -> Answer<Handle<crate::objects::Context>> {
        let module = self.functions.get(launch.function)?.module;
        Ok(self.modules.get(module)?.context)
    }
}
