//! Clients' objects that graphs refer to. When nothing refers to one any more, its destructor is called.

use crate::client::{Bytes, HostFunction};
use crate::graph::parts::UserObject;
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Destructors to call when the driver's lock is released.
#[derive(Debug, Default)]
#[must_use]
pub struct Gone(Vec<(HostFunction, u64)>);

impl Gone {
    /// Takes over what another has.
    pub fn join(&mut self, other: Gone) {
        self.0.extend(other.0);
    }

    /// Calls the destructors, which may call the driver.
    pub fn finish(self) -> Answer {
        self.0.into_iter().try_for_each(|(destroy, data)| destroy.call(Bytes::at(data)))
    }
}

impl State {
    /// Adds references.
    pub fn retain(&mut self, object: Handle<UserObject>, count: u32) -> Answer {
        let object = self.user_objects.get_mut(object)?;
        object.references = object.references.checked_add(count).ok_or(Status::InvalidValue)?;
        Ok(())
    }

    /// Removes references.
    pub fn release(&mut self, object: Handle<UserObject>, count: u32) -> Answer<Gone> {
        let held = self.user_objects.get_mut(object)?;
        held.references = held.references.checked_sub(count).ok_or(Status::InvalidValue)?;
        if held.references > 0 {
            return Ok(Gone::default());
        }
        let gone = self.user_objects.remove(object)?;
        Ok(Gone(vec![(gone.destroy, gone.data)]))
    }
}
