//! Launch configurations: shape, stream and attributes.

use strata_workloads::Shape;

use crate::client::Bytes;
use crate::log;
use crate::objects::Stream;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Launch attributes that change the meaning of a launch.
mod attribute {
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER: u32 = 4;
    /// Size of an attribute in bytes: number, padding, 64 bytes of value.
    pub const BYTES: usize = 72;
    /// Maximum number of attributes accepted; the driver API defines fewer kinds.
    pub const MOST: u32 = 1024;
}

/// Shape and stream of a launch configuration.
pub fn configured(config: Bytes) -> Answer<(Shape, Handle<Stream>)> {
    // Grid, block, shared memory; then, aligned, stream, attributes and their count.
    let (numbers, words) = (config.values::<u32>(), config.values::<u64>());
    let [x, y, z, bx, by, bz, shared] = {
        let mut values = [0; 7];
        for (index, value) in values.iter_mut().enumerate() {
            *value = numbers.at(index)?;
        }
        values
    };
    let stream = Handle::from_bits(words.at(4)?);
    let attributes = words.at(5)?;
    let count = numbers.at(12)?;
    if count > attribute::MOST {
        return Err(Status::InvalidValue);
    }
    let attributes = Bytes::at(attributes).read(attribute::BYTES * count as usize)?;
    let mut shape = Shape::new([x, y, z], [bx, by, bz]).with_shared(shared);
    for attribute in attributes.chunks_exact(attribute::BYTES) {
        let word = |n: usize| attribute[4 * n..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        match word(0) {
            attribute::COOPERATIVE if word(2) != 0 => return Err(cooperative()),
            attribute::CLUSTER => shape = shape.with_cluster([word(2), word(3), word(4)]),
            _ => {}
        }
    }
    Ok((shape, stream))
}

/// Says that grids cannot synchronise.
pub fn cooperative() -> Status {
    log::once("a cooperative launch is not supported: grids cannot synchronise".into());
    Status::NotSupported
}
