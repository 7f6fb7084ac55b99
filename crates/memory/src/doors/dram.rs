//! The DRAM channel as an LLC slice sees it, and a slice's wait for room there.

use strata_engine::Cycle;

use crate::address::LineAddress;
use crate::line::{ByteMask, Line};
use crate::tray::Tray;

/// The DRAM channel as an LLC slice sees it.
///
/// Order: requests to one line take effect in the order in which they were offered, so a fetch that follows a
/// write-back reads the bytes written.
pub trait DramPort {
    /// Offers a read or write of bytes of a line. A full queue returns it. The answer carries the same `tag`.
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest>;

    /// Whether a request that was refused might now be accepted. If not, it need not be offered before the slice is ticked again,
    /// as it is when there is room. The default is of a port that does not say: it is offered the request in every cycle.
    fn has_room(&self) -> bool {
        true
    }

    /// Counts as many refusals as there were cycles in which a refused request was not offered again, for lack of
    /// [room](DramPort::has_room). The default is of a port that does not count them, or always says that it has room.
    fn count_refusals(&mut self, cycles: u64) {
        let _ = cycles;
    }

    /// Takes the next finished request of this slice: a read with its bytes, or a write with its free tray.
    fn completed(&mut self, now: Cycle) -> Option<DramRequest>;

    /// Reads a line in no time, past the queue: for slices whose design [never misses](super::LlcDesign::never_misses), which make no
    /// requests. The default is of a port in front of which none stands.
    fn peek(&self, line: LineAddress, into: &mut Line) {
        let _ = into;
        unreachable!("nobody reads line {line:?} past this port's queue");
    }

    /// Writes bytes of a line in no time, past the queue, for the same slices.
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        let _ = (bytes, data);
        unreachable!("nobody writes line {line:?} past this port's queue");
    }
}

/// A request from an LLC slice to its DRAM channel, and also the answer to it.
#[derive(Clone, Debug)]
pub struct DramRequest {
    /// Line to read or write, numbered within the slice.
    pub line: LineAddress,
    /// Bytes to read or write. DRAM transfers the whole atoms (bursts) that cover them.
    pub bytes: ByteMask,
    /// Whether it writes; otherwise it reads.
    pub write: bool,
    /// Identifies the request to the slice.
    pub tag: u32,
    /// The bytes to write, or the buffer for the bytes read.
    pub tray: Tray,
}

/// The wait of a client of a [`DramPort`] whose request was refused, and will be until there is room.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoomWait {
    /// The last cycle whose refusal is counted; `None` if the client does not wait.
    counted: Option<Cycle>,
}

impl RoomWait {
    /// Whether the request was refused when it was offered last, and there was no room for another.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.counted.is_some()
    }

    /// Whether the request would be refused again.
    #[inline]
    pub fn goes_on(&self, dram: &dyn DramPort) -> bool {
        self.is_on() && !dram.has_room()
    }

    /// Offers a request, and begins or ends the wait.
    ///
    /// # Errors
    /// Returns the request if it is refused.
    #[inline]
    pub fn offer(
        &mut self,
        request: DramRequest,
        dram: &mut dyn DramPort,
        now: Cycle,
    ) -> Result<(), DramRequest> {
        self.settle(dram, now);
        let offered = dram.offer(request, now);
        self.counted = (offered.is_err() && !dram.has_room()).then_some(now);
        offered
    }

    /// Has the port count the refusals in the cycles before `end` in which the request was not offered.
    #[inline]
    pub fn settle(&mut self, dram: &mut dyn DramPort, end: Cycle) {
        let Some(counted) = &mut self.counted else { return };
        let cycles = end.since(counted.next());
        dram.count_refusals(cycles);
        *counted += cycles;
    }
}
