//! Page policies: when a row that no queued request wants is closed. One file each.

mod closed;
mod open;
mod timeout;

pub use closed::Closed;
pub use open::Open;
pub use timeout::Timeout;

use std::fmt;

crate::policy_family! {
    PagePolicy:
    "open" => Open,
    "closed" => Closed,
    "timeout" => Timeout,
}

/// A page policy: it decides when a row is closed that no request in the queue wants.
///
/// A row that a queued request wants stays open for it, and one in whose bank another row is wanted is closed for that,
/// whatever the policy says. Closing takes a precharge on the command bus, in a cycle in which no request's command may be
/// issued.
///
/// The type that the policy is read as is its section of a machine file: its fields are the keys.
pub trait PagePolicy: fmt::Debug + Send + Sync {
    /// From which DRAM cycle on the row may be closed, if no request wants it until then; `None` leaves it open.
    /// `last_burst` is the cycle in which its last burst was commanded.
    fn closes_from(&self, last_burst: u64) -> Option<u64>;

    /// Whether it ever closes a row. If not, it is never asked.
    fn closes_rows(&self) -> bool {
        true
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
