//! Accesses past the cache: atomics, and loads and stores that ask for it.

use strata_engine::Cycle;
use strata_memory::Body;
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, Action, Completion, Refusal};

use super::{Chassis, Store};

impl<S: Store> Chassis<S> {
    /// Whether a new access can go past the cache now.
    ///
    /// # Errors
    /// Returns what the access has to wait for.
    pub fn past_room(&self, access: &Access, frame: Option<FrameId>) -> Result<(), Refusal> {
        if self.replay_stalled {
            return Err(Refusal::Network);
        }
        self.past_room_for_old(access, frame)
    }

    /// Whether an access can go past the cache now: room for the line's dirty bytes, if any, and for itself.
    pub(super) fn past_room_for_old(&self, access: &Access, frame: Option<FrameId>) -> Result<(), Refusal> {
        let store = matches!(access.action, Action::Store(_));
        if !store && self.bypasses.is_full() {
            return Err(Refusal::Mshr);
        }
        let dirty = frame.is_some_and(|frame| !self.cache.frames().dirty(frame).is_empty());
        let (packets, writes) = (1 + usize::from(dirty), usize::from(dirty) + usize::from(store));
        if !self.network_room(packets) || !self.write_room(writes) {
            return Err(Refusal::Network);
        }
        Ok(())
    }

    /// Sends the line's dirty bytes, drops the copy and then sends the access. All requests to a line leave
    /// through one queue and stay in order until they are performed, so the access sees earlier writes and
    /// later fetches see its own. A store finishes immediately and returns its completion; other accesses
    /// complete when their replies arrive. [`Chassis::past_room`] must have succeeded.
    pub fn go_past(&mut self, access: Access, frame: Option<FrameId>, now: Cycle) -> Option<Completion> {
        if let Some(frame) = frame {
            self.write_back(frame, now);
            self.cache.store.invalidate(frame);
        }
        let origin = access.origin();
        let (body, bytes) = match access.action {
            Action::Store(tray) => {
                let action = Action::Store(self.send_through(access.line, access.bytes, tray, origin, now));
                return Some(Completion { token: access.token, action });
            }
            Action::Load(tray) => {
                (Body::Read(tray), access.bytes.to_sectors(self.parameters.bypass_sector_bytes))
            }
            Action::Atomic(batch) => (Body::Atomic(batch), access.bytes),
        };
        self.send_past(access.line, bytes, access.token, (origin, body), now);
        None
    }
}
