//! The buffers in which lines travel.

use std::sync::{Mutex, PoisonError};

use crate::line::Line;

/// A tray: the buffer in which a line's bytes travel.
///
/// A read request carries an empty tray, which its reply returns full. A write carries a full tray, which its
/// acknowledgement returns. The sender of a request therefore owns its tray before and after, and packets stay
/// small however many bytes they carry.
pub type Tray = Box<Line>;

/// A stock of trays of which only so many may be out at once. A tray is allocated when it is first needed, so that a
/// large machine that is hardly used is cheap.
///
/// ```
/// use strata_memory::tray::Trays;
///
/// let mut trays = Trays::new(1);
/// let tray = trays.take();
/// assert_eq!(trays.left(), 0);
/// trays.put(tray);
/// assert_eq!(trays.left(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Trays {
    here: Vec<Tray>,
    unmade: usize,
}

impl Trays {
    /// A stock of `count` trays.
    pub fn new(count: usize) -> Trays {
        Trays { here: Vec::new(), unmade: count }
    }

    /// Number of trays that can be taken.
    #[inline]
    pub fn left(&self) -> usize {
        self.here.len() + self.unmade
    }

    /// A tray with any bytes.
    ///
    /// # Panics
    /// If none is left.
    #[inline]
    pub fn take(&mut self) -> Tray {
        self.here.pop().unwrap_or_else(|| self.make())
    }

    #[cold]
    fn make(&mut self) -> Tray {
        self.unmade = self.unmade.checked_sub(1).expect("a tray is taken while one is left");
        Box::new(Line::ZERO)
    }

    /// Puts a tray back.
    #[inline]
    pub fn put(&mut self, tray: Tray) {
        self.here.push(tray);
    }
}

/// Trays that belong to nobody. A read whose words lie with several owners is answered by several packets, each with a tray:
/// more come to the requester than it has sent. Those that are missing at the registry are taken here and those that are left over at
/// the requester put here.
///
/// All machines of the process share it, since a tray's bytes mean nothing when it is taken; nobody's results depend on who
/// gets which.
static LOOSE: Mutex<Vec<Tray>> = Mutex::new(Vec::new());

/// Takes a tray that belongs to nobody, with any bytes.
pub fn take_loose() -> Tray {
    let tray = LOOSE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    tray.unwrap_or_else(|| Box::new(Line::ZERO))
}

/// Puts a tray away that belongs to nobody.
pub fn put_loose(tray: Tray) {
    LOOSE.lock().unwrap_or_else(PoisonError::into_inner).push(tray);
}
