//! Which node is at which router.

use std::ops::Range;

use strata_memory::ParameterError;

use super::parameters::{MeshConfig, Placement};

/// Routers of the nodes on the two sides of a network, by node number within the side.
#[derive(Debug)]
pub(super) struct Places {
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

impl Places {
    /// Places the nodes that send and those that receive. The side with the lower numbers are SMs, CPU cores and GMMUs;
    /// nodes that both send and receive count as SMs too.
    ///
    /// # Errors
    /// A list that is too short or names no router of the mesh, or rows that leave one side without a router.
    pub fn new(
        config: &MeshConfig,
        inputs: Range<usize>,
        outputs: Range<usize>,
    ) -> Result<Places, ParameterError> {
        let (sms, slices) =
            if inputs.start <= outputs.start { (&inputs, &outputs) } else { (&outputs, &inputs) };
        // Owners of words send to SMs and slices: the slices follow the SMs.
        let slices =
            &(if slices.end > sms.end { sms.end.max(slices.start) } else { slices.start }..slices.end);
        let rule = Rule { config, sms, slices };
        let side =
            |nodes: &Range<usize>| nodes.clone().map(|node| rule.router(node)).collect::<Result<_, _>>();
        Ok(Places { inputs: side(&inputs).map_err(refuse)?, outputs: side(&outputs).map_err(refuse)? })
    }
}

fn refuse(message: String) -> ParameterError {
    ParameterError::new("placement", message)
}

struct Rule<'a> {
    config: &'a MeshConfig,
    sms: &'a Range<usize>,
    slices: &'a Range<usize>,
}

impl Rule<'_> {
    fn router(&self, node: usize) -> Result<usize, String> {
        let routers = self.config.routers();
        let is_sm = self.sms.contains(&node);
        match &*self.config.placement {
            Placement::InOrder => Ok(node % routers),
            Placement::Together if is_sm => Ok((node - self.sms.start) % routers),
            Placement::Together => Ok((node - self.slices.start) % routers),
            Placement::TopAndBottom => self.by_row(node, is_sm),
            Placement::List(list) => self.listed(list, node),
        }
    }

    fn listed(&self, list: &[u16], node: usize) -> Result<usize, String> {
        let nodes = self.sms.end.max(self.slices.end);
        if list.len() != nodes {
            return Err(format!(
                "found a list of {} routers, expected one for each of {nodes} nodes",
                list.len()
            ));
        }
        let (router, routers) = (usize::from(list[node]), self.config.routers());
        if router >= routers {
            return Err(format!("found router {router} for node {node}, expected 0 to {}", routers - 1));
        }
        Ok(router)
    }

    fn by_row(&self, node: usize, is_sm: bool) -> Result<usize, String> {
        let (columns, routers) = (*self.config.columns, self.config.routers());
        let inner = routers.saturating_sub(2 * columns);
        if inner == 0 {
            return Err(format!(
                "found {} rows, expected at least 3, so that SMs have some between the first and the last",
                *self.config.rows
            ));
        }
        if is_sm {
            return Ok(columns + (node - self.sms.start) % inner);
        }
        // Alternately in the first and the last row, so that few slices are as spread as many.
        let turn = (node - self.slices.start) % (2 * columns);
        Ok(if turn.is_multiple_of(2) { turn / 2 } else { routers - columns + turn / 2 })
    }
}
