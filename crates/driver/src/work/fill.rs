//! A fill of rows of memory.

use crate::graph::parts::Fill;
use crate::state::State;
use crate::status::{Answer, Status};

/// Refuses a fill whose rows overlap, or that has elements of another size than 1, 2 or 4 bytes.
pub fn check(fill: &Fill) -> Answer {
    let bytes = fill.width.checked_mul(u64::from(fill.element));
    let is_wrong = !matches!(fill.element, 1 | 2 | 4) || bytes.is_none();
    if is_wrong || fill.rows > 1 && bytes.is_none_or(|bytes| bytes > fill.pitch) {
        return Err(Status::InvalidValue);
    }
    Ok(())
}

/// Fills row by row.
pub fn run(state: &mut State, fill: &Fill) -> Answer {
    let Fill { address, pitch, value, element, width, rows } = *fill;
    // The number of rows does not matter if they are empty.
    let rows = if width == 0 { rows.min(1) } else { rows };
    for row in 0..rows {
        let at = row.checked_mul(pitch).and_then(|at| at.checked_add(address)).ok_or(Status::InvalidValue)?;
        if !at.is_multiple_of(u64::from(element)) {
            return Err(Status::InvalidValue);
        }
        let to = state.on_device(at, width * u64::from(element))?;
        state.set(to, &value.to_le_bytes()[..element as usize], width)?;
    }
    Ok(())
}
