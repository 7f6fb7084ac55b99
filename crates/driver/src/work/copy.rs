//! A copy of rows of bytes.

use strata_abi::driver::{Corner, Cuboid, memory};

use crate::client::Bytes;
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::transfer::{self, Where};

/// The start of a row on one side of a copy; `y` and `z` count from the side's corner.
fn row(of: &Corner, state: &mut State, width: u64, y: u64, z: u64) -> Answer<Where> {
    let overflow = Status::InvalidValue;
    let (y, z) = of.y.checked_add(y).zip(of.z.checked_add(z)).ok_or(overflow)?;
    if of.kind == memory::ARRAY {
        let image = state.arrays.get(Handle::from_bits(of.array))?.image;
        return transfer::in_array(image, (of.x_bytes, y, z));
    }
    let pitch = if of.pitch == 0 { width } else { of.pitch };
    let rows = z.checked_mul(of.height).and_then(|rows| rows.checked_add(y));
    let at = rows.and_then(|rows| rows.checked_mul(pitch)?.checked_add(of.x_bytes)).ok_or(overflow)?;
    let on_device = of.device.checked_add(at).ok_or(overflow);
    match of.kind {
        memory::HOST => Where::Host(Bytes::at(of.host)).offset(at),
        memory::DEVICE => state.on_device(on_device?, width),
        memory::UNIFIED => state.anywhere(on_device?, width),
        _ => Err(Status::InvalidValue),
    }
}

/// Refuses a copy whose rows overlap, or that names no kind of memory.
pub fn check(state: &State, what: &Cuboid) -> Answer {
    for side in [&what.from, &what.to] {
        match side.kind {
            memory::ARRAY => state.arrays.get(Handle::from_bits(side.array)).map(|_| ())?,
            memory::HOST | memory::DEVICE | memory::UNIFIED => {}
            _ => return Err(Status::InvalidValue),
        }
        if side.kind != memory::ARRAY && side.pitch != 0 && side.pitch < what.width_bytes && what.height > 1 {
            return Err(Status::InvalidValue);
        }
    }
    Ok(())
}

/// Copies row by row.
pub fn run(state: &mut State, what: &Cuboid) -> Answer {
    let Cuboid { from, to, width_bytes, height, depth } = what;
    if *width_bytes == 0 || *height == 0 {
        return Ok(());
    }
    for z in 0..*depth {
        for y in 0..*height {
            let to = row(to, state, *width_bytes, y, z)?;
            let from = row(from, state, *width_bytes, y, z)?;
            state.copy(to, from, *width_bytes)?;
        }
    }
    Ok(())
}
