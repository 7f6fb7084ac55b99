//! Edges of graphs, as clients list, add and remove them.

use crate::client::{In, Out};
use crate::graph::parts::{Dependencies, Edge, EdgeData, Graph, Node};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// More nodes than a client has room for.
const MOST: usize = 1 << 18;

/// Reads the nodes that another waits for, with the data of the edges if there is any.
pub fn dependencies(nodes: In<Handle<Node>>, data: In<EdgeData>, count: usize) -> Answer<Dependencies> {
    if count > MOST {
        return Err(Status::InvalidValue);
    }
    (0..count)
        .map(|index| {
            let data = if data.is_null() { EdgeData::default() } else { check(data.at(index)?)? };
            Ok((nodes.at(index)?, data))
        })
        .collect()
}

/// Refuses the data of an edge that has unknown ports or types.
fn check(data: EdgeData) -> Answer<EdgeData> {
    let [from, to, kind, reserved @ ..] = data;
    let is_known = from <= 2 && to == 0 && kind <= 1 && reserved == [0; 5];
    if is_known { Ok(data) } else { Err(Status::InvalidValue) }
}

/// No data of edges.
pub fn none() -> In<EdgeData> {
    crate::client::Bytes::at(0).values()
}

/// Where one property of the values of a list is written, and how it follows from a value.
type Column<'a, T> = (Out<u64>, &'a dyn Fn(T) -> u64);

/// Writes a list: its length if there is no place for it, else as many as there is room for. Places beyond the list get
/// `rest`.
pub fn list<T: Copy>(values: &[T], to: &[Column<'_, T>], count: Out<usize>, room: In<usize>) -> Answer {
    if to.iter().all(|(to, _)| (*to).place().is_err()) {
        return count.put(values.len());
    }
    let room = room.get()?;
    if room > MOST {
        return Err(Status::InvalidValue);
    }
    for (to, of) in to {
        if to.place().is_ok() {
            let rest = room.saturating_sub(values.len());
            let shown = values.iter().take(room).map(|value| of(*value));
            to.put_all(shown.chain(std::iter::repeat_n(0, rest)))?;
        }
    }
    count.put(values.len().min(room))
}

/// Writes nodes and the data of their edges.
fn with_data(
    found: &[(Handle<Node>, EdgeData)],
    nodes: Out<u64>,
    data: Out<u64>,
    count: Out<usize>,
    room: In<usize>,
) -> Answer {
    let node = |(node, _): (Handle<Node>, EdgeData)| node.bits();
    let edge = |(_, data): (Handle<Node>, EdgeData)| u64::from_le_bytes(data);
    list(found, &[(nodes, &node), (data, &edge)], count, room)
}

/// Writes the edges of a graph.
pub fn edges(
    graph: Handle<Graph>,
    ends: [Out<u64>; 2],
    data: Option<Out<u64>>,
    count: Out<usize>,
    room: In<usize>,
) -> Answer {
    state::with(|state| {
        let edges = &state.graph(graph)?.edges;
        refuse_lossy(edges.iter().map(|edge| edge.data), data, ends[0])?;
        let [from, to] = ends;
        let (of_from, of_to) = (|edge: Edge| edge.from.bits(), |edge: Edge| edge.to.bits());
        let of_data = |edge: Edge| u64::from_le_bytes(edge.data);
        let mut places: Vec<Column<'_, Edge>> = vec![(from, &of_from), (to, &of_to)];
        places.extend(data.map(|data| (data, &of_data as &dyn Fn(Edge) -> u64)));
        list(edges, &places, count, room)
    })
}

/// Refuses to show edges without their data where it matters (`CUDA_ERROR_LOSSY_QUERY`).
fn refuse_lossy(mut data: impl Iterator<Item = EdgeData>, to: Option<Out<u64>>, nodes: Out<u64>) -> Answer {
    let is_lost = nodes.place().is_ok() && to.is_none_or(|to| to.place().is_err());
    if is_lost && data.any(|data| data != EdgeData::default()) { Err(Status::LossyQuery) } else { Ok(()) }
}

/// Writes the nodes on the other end of a node's edges: those before it, or those behind it.
pub fn neighbours(
    node: Handle<Node>,
    is_before: bool,
    (nodes, data): (Out<u64>, Option<Out<u64>>),
    count: Out<usize>,
    room: In<usize>,
) -> Answer {
    state::with(|state| {
        let graph = state.graph(state.nodes.get(node)?.graph)?;
        let found: Vec<_> = match is_before {
            true => graph.before(node).map(|edge| (edge.from, edge.data)).collect(),
            false => graph.behind(node).map(|edge| (edge.to, edge.data)).collect(),
        };
        refuse_lossy(found.iter().map(|(_, data)| *data), data, nodes)?;
        with_data(&found, nodes, data.unwrap_or(nothing()), count, room)
    })
}

/// A place where nothing is written.
pub fn nothing() -> Out<u64> {
    crate::client::Bytes::at(0).out()
}

/// Reads the edges that a client lists.
pub fn listed(
    from: In<Handle<Node>>,
    to: In<Handle<Node>>,
    data: In<EdgeData>,
    count: usize,
) -> Answer<Vec<Edge>> {
    let from = dependencies(from, data, count)?;
    from.into_iter()
        .enumerate()
        .map(|(index, (from, data))| Ok(Edge { from, to: to.at(index)?, data }))
        .collect()
}

/// Checks that a graph can change and that all ends of edges are its nodes.
fn changeable(state: &State, graph: Handle<Graph>, edges: &[Edge]) -> Answer {
    state.graph(graph)?;
    for end in edges.iter().flat_map(|edge| [edge.from, edge.to]) {
        if state.nodes.get(end)?.graph != graph {
            return Err(Status::InvalidValue);
        }
    }
    // Memory is used in the order of the edges that were there when its nodes were made.
    if !edges.is_empty() && state.has_memory(graph)? { Err(Status::NotSupported) } else { Ok(()) }
}

pub fn add(graph: Handle<Graph>, edges: Answer<Vec<Edge>>) -> Answer {
    state::with(|state| {
        let edges = edges?;
        let known = &state.graph(graph)?.edges;
        let is_there = |edge: &Edge| known.iter().any(|other| (other.from, other.to) == (edge.from, edge.to));
        if edges.iter().any(|edge| edge.from == edge.to || is_there(edge)) {
            return Err(Status::InvalidValue);
        }
        for edge in &edges {
            if state.nodes.get(edge.from)?.graph != graph || state.nodes.get(edge.to)?.graph != graph {
                return Err(Status::InvalidValue);
            }
        }
        state.graphs.get_mut(graph)?.edges.extend(edges);
        Ok(())
    })
}

pub fn remove(graph: Handle<Graph>, edges: Answer<Vec<Edge>>) -> Answer {
    state::with(|state| {
        let edges = edges?;
        changeable(state, graph, &edges)?;
        let held = state.graphs.get_mut(graph)?;
        for gone in edges {
            let place = held.edges.iter().position(|edge| (edge.from, edge.to) == (gone.from, gone.to));
            held.edges.remove(place.ok_or(Status::InvalidValue)?);
        }
        Ok(())
    })
}
