//! Islands: parts of the machine that share nothing and talk over links.

use crate::link::{Doorbell, Window};
use crate::time::Cycle;

/// A part of the machine that runs a whole window on its own.
pub trait Island: Send {
    /// Hangs a bell at every end of a link that the island holds. An island whose bell is silent and whose
    /// [`Island::next_event`] has not come is left alone for whole windows.
    fn hang(&mut self, bell: &Doorbell);

    /// Takes what its links brought in the window before.
    fn collect(&mut self, window: Window);

    /// One cycle. Cycles in which [`Island::next_event`] promised that nothing can change are left out; the
    /// island accounts for them from the gap to the cycle before.
    fn tick(&mut self, now: Cycle);

    /// The earliest cycle after `now`, or at it when `now` was not ticked yet, at which a tick could change
    /// anything, going by what is known inside. Never later than the truth; earlier costs only host time.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Hands over what was sent in this window; the earliest cycle at which it has an effect elsewhere.
    fn flush(&mut self, window: Window) -> Cycle;

    /// A count that rises whenever something useful moved; the watchdog looks at it.
    fn progress(&self) -> u64;

    /// Who waits for what, a sentence each: asked only when nothing moves any more.
    fn waits(&self, report: &mut Vec<String>);

    /// Whether the island must stop the run (a program error): asked after each window.
    fn failed(&self) -> bool {
        false
    }
}
