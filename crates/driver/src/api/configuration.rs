//! Launch configurations: shape, stream and attributes.

use strata_workloads::Shape;

use crate::client::Bytes;
use crate::log;
use crate::objects::{Attributes, Stream};
use crate::status::{Answer, Status};
use crate::table::Handle;
use crate::work::launch::{attribute, word};

/// Size of a launch attribute in bytes: number, padding, 64 bytes of value.
const ATTRIBUTE_BYTES: usize = 72;
/// Maximum number of attributes accepted; the driver API defines fewer kinds.
const MOST_ATTRIBUTES: u32 = 1024;

/// Shape, stream and attributes of a launch configuration.
pub fn configured(config: Bytes) -> Answer<(Shape, Handle<Stream>, Attributes)> {
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
    let attributes = attributes(Bytes::at(words.at(5)?), numbers.at(12)?)?;
    Ok((Shape::new([x, y, z], [bx, by, bz]).with_shared(shared), stream, attributes))
}

/// Reads a list of launch attributes: 72 bytes each, a number, padding, and 64 bytes of value.
fn attributes(list: Bytes, count: u32) -> Answer<Attributes> {
    if count > MOST_ATTRIBUTES {
        return Err(Status::InvalidValue);
    }
    let mut found = Attributes::new();
    for attribute in list.read(ATTRIBUTE_BYTES * count as usize)?.chunks_exact(ATTRIBUTE_BYTES) {
        let (Some(number), Some(value)) = (attribute.first_chunk(), attribute.last_chunk()) else { continue };
        set_attribute(&mut found, u32::from_le_bytes(*number), *value)?;
    }
    Ok(found)
}

/// Sets a launch attribute.
pub fn set_attribute(attributes: &mut Attributes, number: u32, value: [u8; 64]) -> Answer {
    match number {
        attribute::DEVICE_UPDATABLE if word(&value, 0) != 0 => {
            log::once("nodes that kernels change are not supported".into());
            return Err(Status::NotSupported);
        }
        attribute::IGNORE => return Ok(()),
        attribute::LAST.. => return Err(Status::InvalidValue),
        _ => {}
    }
    attributes.insert(number, value);
    Ok(())
}
