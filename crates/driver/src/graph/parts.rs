//! What graphs are made of: operations, nodes, edges, and what is made of graphs.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::ThreadId;

use strata_abi::driver::Cuboid;
use strata_workloads::Shape;

use crate::client::HostFunction;
use crate::objects::{Attributes, Event, Function, Stream};
use crate::status::{Answer, Status};
use crate::table::{Handle, Object};

/// One operation.
#[derive(Clone, Debug)]
pub enum Work {
    /// A launch of a kernel.
    Kernel(Launch),
    /// A copy.
    Copy(Cuboid),
    /// A fill of memory.
    Fill(Fill),
    /// A call of a client's function with data at an address.
    Host(HostFunction, u64),
    /// All nodes of a graph that belongs to the node.
    Graph(Handle<Graph>),
    /// Nothing.
    Empty,
    /// A wait for an event, which is complete: everything runs in order.
    Wait(Handle<Event>),
    /// A record of an event.
    Record(Handle<Event>),
    /// An allocation, whose address has been known since the node was made.
    Allocate {
        /// Address of the memory.
        address: u64,
        /// Size in bytes.
        bytes: u64,
    },
    /// The end of such an allocation.
    Free(u64),
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub function: Handle<Function>,
    /// Grid, block and dynamic shared memory.
    pub shape: Shape,
    /// The parameter block.
    pub block: Vec<u8>,
    /// Launch attributes, by number.
    pub attributes: Attributes,
}

/// A fill of rows of memory.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Address of the first row.
    pub address: u64,
    /// Distance between rows in bytes.
    pub pitch: u64,
    /// Value of an element; the lower bytes count.
    pub value: u32,
    /// Size of an element: 1, 2 or 4 bytes.
    pub element: u32,
    /// Elements in a row.
    pub width: u64,
    /// Number of rows.
    pub rows: u64,
}

impl Work {
    /// The `CUgraphNodeType` of a node with this operation.
    pub fn kind(&self) -> u32 {
        match self {
            Work::Kernel(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host(..) => 3,
            Work::Graph(_) => 4,
            Work::Empty => 5,
            Work::Wait(_) => 6,
            Work::Record(_) => 7,
            Work::Allocate { .. } => 10,
            Work::Free(_) => 11,
        }
    }
}

/// `CUgraphEdgeData`: ports of both ends and the type of the dependency.
pub type EdgeData = [u8; 8];

/// What must be done before what.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The node that comes first.
    pub from: Handle<Node>,
    /// The node that waits for it.
    pub to: Handle<Node>,
    /// Data of the edge. Every operation is complete before the next begins, whatever the data says.
    pub data: EdgeData,
}

/// A node of a graph.
#[derive(Debug)]
pub struct Node {
    /// The graph that the node belongs to.
    pub graph: Handle<Graph>,
    /// What it does.
    pub work: Work,
    /// Number of the node within its graph.
    pub number: u32,
    /// The node that this one was copied from.
    pub original: Option<Handle<Node>>,
    /// The arguments that a client was shown last: it reads them at their address for as long as they are here.
    pub shown: Shown,
}

/// Arguments of a launch as a client reads them: the parameter block, and the address of each argument in it.
pub type Shown = (Box<[u8]>, Box<[u64]>);

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// Unique number of the graph.
    pub number: u64,
    /// Its nodes in the order in which they were added.
    pub nodes: Vec<Handle<Node>>,
    /// Its edges in the order in which they were added.
    pub edges: Vec<Edge>,
    /// The node that the graph belongs to, if any.
    pub parent: Option<Handle<Node>>,
    /// Whether the graph is that of an executable one, which clients do not see.
    pub hidden: bool,
    /// References to users' objects.
    pub objects: BTreeMap<Handle<UserObject>, u32>,
    /// The number of the next node.
    pub next: u32,
}

impl Graph {
    /// The edges that lead to a node.
    pub fn before(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.to == node)
    }

    /// The edges that lead from a node.
    pub fn behind(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == node)
    }

    /// The nodes in an order in which each comes behind all that it waits for: of those that may be next, the one
    /// that was added first. `None` if there is a cycle.
    pub fn order(&self) -> Option<Vec<Handle<Node>>> {
        let place: BTreeMap<_, _> =
            self.nodes.iter().enumerate().map(|(place, node)| (*node, place)).collect();
        let mut waits = vec![0_usize; self.nodes.len()];
        let mut behind = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            waits[place[&edge.to]] += 1;
            behind[place[&edge.from]].push(place[&edge.to]);
        }
        let mut ready: std::collections::BTreeSet<usize> =
            (0..waits.len()).filter(|place| waits[*place] == 0).collect();
        let mut order = Vec::with_capacity(waits.len());
        while let Some(next) = ready.pop_first() {
            order.push(self.nodes[next]);
            for then in &behind[next] {
                waits[*then] -= 1;
                if waits[*then] == 0 {
                    ready.insert(*then);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }
}

/// An executable graph.
#[derive(Debug)]
pub struct Executable {
    /// Unique number.
    pub number: u64,
    /// A copy of the graph, which clients do not see.
    pub graph: Handle<Graph>,
    /// The graph that it was made from.
    pub from: Handle<Graph>,
    /// The copy of each node of that graph and of graphs within it.
    pub copies: BTreeMap<Handle<Node>, Handle<Node>>,
    /// Copies that do nothing.
    pub disabled: BTreeSet<Handle<Node>>,
    /// Flags of the instantiation.
    pub flags: u64,
}

/// Memory of a node.
#[derive(Debug, Default)]
pub struct Lent {
    /// Whether it has been allocated by a launch and not been freed since.
    pub live: bool,
    /// Nodes that allocate it: that of a graph, and its copy in an executable graph.
    pub owners: u32,
}

/// A client's object.
#[derive(Debug)]
pub struct UserObject {
    /// The destructor.
    pub destroy: HostFunction,
    /// The address that the destructor gets.
    pub data: u64,
    /// References: the client's and those of graphs.
    pub references: u32,
}

/// Which calls a capture forbids while it goes on: `CUstreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// Unsafe calls of all threads.
    Global,
    /// Unsafe calls of the capture's thread.
    ThreadLocal,
    /// None.
    Relaxed,
}

impl Mode {
    /// The mode with a number.
    pub fn of(number: u32) -> Answer<Mode> {
        match number {
            0 => Ok(Mode::Global),
            1 => Ok(Mode::ThreadLocal),
            2 => Ok(Mode::Relaxed),
            _ => Err(Status::InvalidValue),
        }
    }
}

/// Nodes that the next operation of a stream waits for.
pub type Dependencies = Vec<(Handle<Node>, EdgeData)>;

/// A capture in progress.
#[derive(Debug)]
pub struct Capture {
    /// The graph that it makes.
    pub graph: Handle<Graph>,
    /// Whether the graph was the client's before.
    pub given: bool,
    /// Which calls it forbids.
    pub mode: Mode,
    /// The thread that began it.
    pub thread: ThreadId,
    /// The stream in which it began.
    pub origin: Name,
    /// Whether an error has ended it. It is there until the stream in which it began ends it.
    pub invalid: bool,
    /// What the next operation of each captured stream waits for.
    pub streams: BTreeMap<Name, Dependencies>,
    /// Nodes that it has made.
    pub made: BTreeSet<Handle<Node>>,
    /// The dependencies that a client was shown last, at a fixed address.
    pub shown: (Box<[u64]>, Box<[EdgeData]>),
}

/// A stream, by its handle; the default stream of a thread also by that thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(pub Handle<Stream>, pub u64);

impl Object for Graph {
    const KIND: u8 = 0x77;
    const MISSING: Status = Status::InvalidValue;
}

impl Object for Node {
    const KIND: u8 = 0x78;
    const MISSING: Status = Status::InvalidValue;
}

impl Object for Executable {
    const KIND: u8 = 0x79;
    const MISSING: Status = Status::InvalidValue;
}

impl Object for UserObject {
    const KIND: u8 = 0x7a;
    const MISSING: Status = Status::InvalidValue;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_each_node_behind_those_it_waits_for_and_a_cycle_has_none() {
        let node = |n: u64| Handle::from_bits(n);
        let edge = |from, to| Edge { from: node(from), to: node(to), data: [0; 8] };
        let mut graph = Graph { nodes: (0..4).map(node).collect(), ..Graph::default() };
        graph.edges = vec![edge(3, 0), edge(0, 1), edge(3, 2)];
        assert_eq!(graph.order(), Some(vec![node(3), node(0), node(1), node(2)]));
        graph.edges.push(edge(1, 3));
        assert_eq!(graph.order(), None);
    }
}
