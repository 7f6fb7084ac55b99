//! Graphs as Graphviz's DOT draws them.

use std::fmt::Write;

use crate::graph::parts::{Graph, Work};
use crate::state::State;
use crate::status::Answer;
use crate::table::Handle;

impl State {
    /// A graph in DOT, graphs within it as clusters. With handles, nodes are named by these.
    pub fn dot(&self, graph: Handle<Graph>, handles: bool) -> Answer<String> {
        let mut text = "digraph dot {\n".to_owned();
        self.dot_part(graph, handles, &mut text)?;
        text.push_str("}\n");
        Ok(text)
    }

    fn dot_part(&self, graph: Handle<Graph>, handles: bool, text: &mut String) -> Answer {
        let held = self.graphs.get(graph)?;
        let number = held.number;
        let mut line = |line: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        };
        line(format_args!("subgraph cluster_{number} {{\nlabel=\"graph_{number}\""));
        let mut within = Vec::new();
        for node in &held.nodes {
            let found = self.nodes.get(*node)?;
            let what = self.label(&found.work)?;
            let handle = if handles { format!("\\n{node:?}") } else { String::new() };
            line(format_args!(
                "\"graph_{number}_node_{}\" [label=\"{}: {what}{handle}\"]",
                found.number, found.number
            ));
            if let Work::Graph(child) = found.work {
                within.push(child);
            }
        }
        for edge in &held.edges {
            let (from, to) = (self.nodes.get(edge.from)?.number, self.nodes.get(edge.to)?.number);
            line(format_args!("\"graph_{number}_node_{from}\" -> \"graph_{number}_node_{to}\""));
        }
        line(format_args!("}}"));
        within.into_iter().try_for_each(|child| self.dot_part(child, handles, text))
    }

    /// What a node does, in a few words.
    fn label(&self, work: &Work) -> Answer<String> {
        Ok(match work {
            Work::Kernel(launch) => {
                let name = &self.functions.get(launch.function)?.entry.kernel.name;
                format!("kernel {name} {:?} x {:?}", launch.shape.grid, launch.shape.block)
            }
            Work::Copy(what) => format!("copy {} x {} x {} bytes", what.width_bytes, what.height, what.depth),
            Work::Fill(fill) => {
                format!("fill {} x {} elements of {} bytes", fill.width, fill.rows, fill.element)
            }
            Work::Host(..) => "host function".into(),
            Work::Graph(child) => format!("graph_{}", self.graphs.get(*child)?.number),
            Work::Empty => "empty".into(),
            Work::Wait(event) => format!("wait for event {event:?}"),
            Work::Record(event) => format!("record event {event:?}"),
            Work::Allocate { address, bytes } => format!("allocate {bytes} bytes at {address:#x}"),
            Work::Free(address) => format!("free {address:#x}"),
        })
    }
}
