//! The part of a design that is known before it is built: its parameters.

use std::any::Any;
use std::fmt;
use std::ops::Deref;

use crate::area::Component;
use crate::parameters::ParameterError;

/// Upper bound, in bytes of host memory, for one small item: a line with its tags, a queued packet or an MSHR
/// entry. Implementations of [`Design::host_bytes`] multiply it by their item counts.
pub const HOST_ITEM_BYTES: u64 = 256;

/// How the memories of a machine agree on who sees which bytes. All parts of a machine have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coherence {
    /// L1Ds know nothing of each other: at the end of a kernel and at fences they write back what was written and drop what
    /// they hold.
    #[default]
    Boundaries,
    /// Words have owners ([`crate::ownership`]): an L1D keeps the words that it has registered, the last-level cache knows who has
    /// which and sends requests on to them, and owners answer each other over a network of their own.
    Owners,
}

/// The parameters of a design, read from a machine file. Every design provides these methods, whatever its
/// door.
pub trait Design: Any + fmt::Debug + Send + Sync {
    /// Checks that the parameters can be built, each by itself and all together.
    ///
    /// # Errors
    /// Names the first wrong field, what was found and what was expected.
    fn check(&self) -> Result<(), ParameterError>;

    /// Describes size and organisation in a few words, for `strata list machines`.
    fn outline(&self) -> String;

    /// Upper bound of the host memory that one instance takes, in bytes. Call it only after [`Design::check`]
    /// succeeded.
    fn host_bytes(&self) -> u64;

    /// The rows of its area table, by the rules of its paper; empty if the paper gives none.
    fn area(&self) -> Vec<Component> {
        Vec::new()
    }
}

/// A design together with its registered name.
#[derive(Clone)]
pub struct Named<D> {
    /// The name that selects the design in a machine file.
    pub name: &'static str,
    /// The design's parameters.
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
            /// Downcasts the parameters to their concrete type; `None` if they are of another type.
            pub fn downcast<C: $design>(&self) -> Option<&C> {
                (self as &dyn std::any::Any).downcast_ref()
            }
        }
    };
}

pub(super) use downcast;
