//! What a design says of itself before it is built.

use std::any::Any;
use std::fmt;
use std::ops::Deref;

use crate::area::Component;
use crate::parameters::ParameterError;

/// Bytes of this host that the largest small thing takes: a line with its tags, a packet in a queue, a place of an
/// MSHR. A bound for [`Design::host_bytes`].
pub const HOST_ITEM_BYTES: u64 = 256;

/// The numbers of a design, read from a machine file: whatever the door, this is what the house asks.
pub trait Design: Any + fmt::Debug + Send + Sync {
    /// Finds numbers that cannot be built, alone or together.
    ///
    /// # Errors
    /// The first field that is wrong, with what was found and what was expected.
    fn check(&self) -> Result<(), ParameterError>;

    /// A few words for `strata list machines`: size, organisation.
    fn outline(&self) -> String;

    /// An upper bound of the bytes of this host that one instance takes; the numbers have been checked.
    fn host_bytes(&self) -> u64;

    /// What it is made of, by the rules of its paper; empty where no rule is known.
    fn area(&self) -> Vec<Component> {
        Vec::new()
    }
}

/// A design and the name under which a machine file chose it.
#[derive(Clone)]
pub struct Named<D> {
    /// Its name in the registry.
    pub name: &'static str,
    /// Its numbers.
    pub design: D,
}

impl<D: fmt::Debug> fmt::Debug for Named<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.name, self.design)
    }
}

impl<D> Deref for Named<D> {
    type Target = D;
    fn deref(&self) -> &D {
        &self.design
    }
}

/// Gives the design face of a door a way back to the numbers' own type.
macro_rules! downcast {
    ($design:ident) => {
        impl dyn $design {
            /// The numbers as their own type, when they are of this one.
            pub fn downcast<C: $design>(&self) -> Option<&C> {
                (self as &dyn std::any::Any).downcast_ref()
            }
        }
    };
}

pub(super) use downcast;
