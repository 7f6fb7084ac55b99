//! Allocates, frees and finds buffers.

use crate::buffer::{Allocation, Kind, Mirror};
use crate::objects::Context;
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

impl State {
    /// Allocates a buffer on the device for a call of a function of this name.
    pub fn allocate(&mut self, context: Handle<Context>, bytes: u64, call: &str) -> Answer<u64> {
        let number = self.number();
        let name = self.allocation_name(call);
        let (card, blocks) = self.memory()?;
        let start = blocks.allocate(card, &name, bytes).map_err(|_| Status::OutOfMemory)?;
        self.allocated += 1;
        self.allocations.insert(start, Allocation { context, number, bytes, kind: Kind::Device });
        Ok(start)
    }

    /// Allocates a device buffer for host memory. The host memory is created once the buffer's address is
    /// known; the call fails if that returns `None`.
    pub fn allocate_mirrored(
        &mut self,
        context: Handle<Context>,
        bytes: u64,
        align: u64,
        call: &str,
        mirror: impl FnOnce(u64) -> Option<Mirror>,
    ) -> Answer<u64> {
        let number = self.number();
        let name = self.allocation_name(call);
        let (card, blocks) = self.memory()?;
        let start = blocks.allocate_alone(card, &name, bytes, align).map_err(|_| Status::OutOfMemory)?;
        let Some(mirror) = mirror(start) else {
            blocks.free_alone(card, start);
            return Err(Status::OutOfMemory);
        };
        self.allocated += 1;
        let kind = Kind::Mirrored(mirror);
        self.allocations.insert(start, Allocation { context, number, bytes, kind });
        Ok(start)
    }

    /// How messages name the next allocation: by its number, from 1, and the function that made it.
    fn allocation_name(&self, call: &str) -> String {
        format!("allocation {} ({call})", self.allocated + 1)
    }

    /// Frees the buffer that starts at an address.
    pub fn free(&mut self, start: u64) -> Answer<Allocation> {
        let allocation = self.allocations.remove(&start).ok_or(Status::InvalidValue)?;
        self.lent.remove(&start);
        let (card, blocks) = self.memory()?;
        let freed = match allocation.kind {
            Kind::Device => blocks.free(card, start),
            Kind::Mirrored(_) => blocks.free_alone(card, start),
        };
        if freed { Ok(allocation) } else { Err(Status::InvalidValue) }
    }

    /// The client's buffer that contains a device address, and the buffer's start.
    pub fn allocation(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (start, found) = self.allocations.range(..=address).next_back()?;
        (address - start < found.bytes.max(1)).then_some((*start, found))
    }

    /// The mirror that contains a host address, and its start on the device.
    pub fn mirror_of_host(&self, address: u64) -> Option<(u64, &Mirror)> {
        self.allocations.iter().find_map(|(start, allocation)| match &allocation.kind {
            Kind::Mirrored(mirror) if (mirror.host..mirror.host + mirror.bytes).contains(&address) => {
                Some((*start, mirror))
            }
            _ => None,
        })
    }
}
