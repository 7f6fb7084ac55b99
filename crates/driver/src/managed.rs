//! Managed variables, which host and kernels share by name.

use strata_workloads::DevicePtr;

use crate::client::Bytes;
use crate::objects::{Managed, Module};
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

impl State {
    /// Whether a module declares a managed variable of this name.
    pub fn is_managed(&self, module: Handle<Module>, name: &str) -> Answer<bool> {
        Ok(self.modules.get(module)?.managed_names.contains(name))
    }

    /// A managed variable for the host to use, with the variable's value when the host first asks.
    pub fn managed(&mut self, module: Handle<Module>, name: &str) -> Answer<Managed> {
        let Module { context, id, managed, .. } = self.modules.get(module)?;
        if let Some(known) = managed.get(name) {
            return Ok(*known);
        }
        let (context, id) = (*context, *id);
        let (DevicePtr(variable), bytes) = self.card()?.variable(id, name).map_err(|_| Status::NotFound)?;
        let buffer = self.mirrored(context, bytes, true, 1)?;
        let host = Bytes::at(buffer).write(usize::try_from(bytes).map_err(|_| Status::OutOfMemory)?)?;
        self.card()?.read(DevicePtr(variable), host).map_err(|_| Status::Unknown)?;
        let made = Managed { buffer, variable, bytes };
        self.modules.get_mut(module)?.managed.insert(name.to_owned(), made);
        Ok(made)
    }

    /// Frees what [`State::managed`] made for a module, unless the client has.
    pub fn free_managed(&mut self, module: &Module) -> Answer {
        for made in module.managed.values() {
            if self.allocations.contains_key(&made.buffer) {
                self.free(made.buffer)?;
            }
        }
        Ok(())
    }

    /// The managed variables that the host uses and has not freed: device address, host address and size of each.
    pub fn managed_mirrors(&self) -> Vec<(u64, u64, u64)> {
        let all = self.modules.iter().flat_map(|(_, module)| module.managed.values());
        all.filter(|made| self.allocations.contains_key(&made.buffer))
            .map(|made| (made.variable, made.buffer, made.bytes))
            .collect()
    }
}
