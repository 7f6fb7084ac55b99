//! Memory that graphs allocate and free. Its address is fixed when the node is made; the memory is the client's from
//! the launch of the node that allocates it until it is freed, by a graph or by the client.

use crate::state::State;
use crate::status::{Answer, Status};

impl State {
    /// Notes one more node that allocates the memory at an address.
    pub fn own(&mut self, address: u64) {
        self.lent.entry(address).or_default().owners += 1;
    }

    /// Notes that such a node is gone. Memory that no node allocates any more and that is not in use is freed.
    pub fn disown(&mut self, address: u64) -> Answer {
        // Gone with its context.
        let Some(lent) = self.lent.get_mut(&address) else { return Ok(()) };
        lent.owners -= 1;
        if lent.owners > 0 {
            return Ok(());
        }
        let live = lent.live;
        self.lent.remove(&address);
        // Live memory is an ordinary allocation from now on.
        if live { Ok(()) } else { self.free(address).map(|_| ()) }
    }

    /// A launched node allocates its memory, which must not be in use.
    pub fn begin_use(&mut self, address: u64) -> Answer {
        let lent = self.lent.get_mut(&address).ok_or(Status::InvalidValue)?;
        if lent.live {
            return Err(Status::InvalidValue);
        }
        lent.live = true;
        Ok(())
    }

    /// Frees memory: that of a node for its next launch, any other for good.
    pub fn end_use(&mut self, address: u64) -> Answer {
        match self.lent.get_mut(&address) {
            Some(lent) if lent.live => {
                lent.live = false;
                Ok(())
            }
            Some(_) => Err(Status::InvalidValue),
            None => self.free(address).map(|_| ()),
        }
    }

    /// Whether the memory of any of these addresses is in use.
    pub fn is_live(&self, address: u64) -> bool {
        self.lent.get(&address).is_some_and(|lent| lent.live)
    }
}
