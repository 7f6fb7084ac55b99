//! Copies and fills between the device and the client's memory.

use strata_ptx::texture::Image;
use strata_workloads::DevicePtr;

use crate::buffer::Kind;
use crate::client::Bytes;
use crate::state::State;
use crate::status::{Answer, Status};

/// Where bytes lie: in device memory, the client's memory or an image.
#[derive(Clone, Copy)]
pub enum Where {
    /// In a buffer or variable on the device.
    Device(DevicePtr),
    /// In the client's process.
    Host(Bytes),
    /// In a row of an array.
    Array {
        /// Layout and place of the array's texels.
        image: Image,
        /// Byte of the row.
        x: u64,
        /// Row within the slice.
        y: u32,
        /// Index of the slice or layer.
        z: u32,
    },
}

impl Where {
    /// The place so many bytes further on.
    pub fn offset(self, bytes: u64) -> Answer<Where> {
        Ok(match self {
            Where::Device(ptr) => {
                Where::Device(DevicePtr(ptr.0.checked_add(bytes).ok_or(Status::InvalidValue)?))
            }
            Where::Array { image, x, y, z } => {
                Where::Array { image, x: x.checked_add(bytes).ok_or(Status::InvalidValue)?, y, z }
            }
            Where::Host(at) => {
                Where::Host(Bytes::at(at.address().checked_add(bytes).ok_or(Status::InvalidValue)?))
            }
        })
    }
}

/// The start of a row, or a position within one, in an array.
pub fn in_array(image: Image, (x, y, z): (u64, u64, u64)) -> Answer<Where> {
    let side = |value| u32::try_from(value).map_err(|_| Status::InvalidValue);
    Ok(Where::Array { image, x, y: side(y)?, z: side(z)? })
}

impl State {
    /// The place of a range at a device address. Fails if the range is not within one buffer.
    pub fn on_device(&mut self, address: u64, bytes: u64) -> Answer<Where> {
        let end = address.checked_add(bytes).ok_or(Status::InvalidValue)?;
        if let Some((start, allocation)) = self.allocation(address) {
            if end > start + allocation.bytes {
                return Err(Status::InvalidValue);
            }
            return Ok(match &allocation.kind {
                Kind::Device => Where::Device(DevicePtr(address)),
                // The host's bytes are authoritative.
                Kind::Mirrored(mirror) => Where::Host(Bytes::at(mirror.host + (address - start))),
            });
        }
        match self.variable(address)? {
            Some((start, size)) if end <= start + size => Ok(Where::Device(DevicePtr(address))),
            _ => Err(Status::InvalidValue),
        }
    }

    /// Start and size of the module variable that contains an address.
    pub fn variable(&mut self, address: u64) -> Answer<Option<(u64, u64)>> {
        let found = self.card()?.buffer_of(DevicePtr(address)).map(|buffer| (buffer.start, buffer.bytes));
        // Skip blocks and mirrors: their unused bytes belong to no client.
        let nobodys = |start: &u64| {
            self.blocks.contains(*start)
                || self.allocations.contains_key(start)
                || self.workspace.is_some_and(|workspace| workspace.0 == *start)
        };
        Ok(found.filter(|(start, _)| !nobodys(start)))
    }

    /// The place of a range at an address: on the device if a buffer contains it, else on the host.
    pub fn anywhere(&mut self, address: u64, bytes: u64) -> Answer<Where> {
        if self.allocation(address).is_some() || self.variable(address)?.is_some() {
            return self.on_device(address, bytes);
        }
        Ok(Where::Host(Bytes::at(address)))
    }

    /// Copies `bytes` bytes; the ranges may overlap.
    pub fn copy(&mut self, to: Where, from: Where, bytes: u64) -> Answer {
        let size = usize::try_from(bytes).map_err(|_| Status::InvalidValue)?;
        let card = self.card()?;
        match (to, from) {
            (Where::Array { .. }, _) | (_, Where::Array { .. }) => {
                let bytes = self.bytes_at(from, size)?;
                self.put_bytes(to, &bytes)
            }
            (Where::Device(to), Where::Device(from)) => {
                card.copy(to, from, bytes).map_err(|_| Status::InvalidValue)
            }
            (Where::Device(to), Where::Host(from)) => {
                card.write(to, from.read(size)?).map_err(|_| Status::InvalidValue)
            }
            (Where::Host(to), Where::Device(from)) => {
                card.read(from, to.write(size)?).map_err(|_| Status::InvalidValue)
            }
            (Where::Host(to), Where::Host(from)) => {
                let bytes = from.read(size)?.to_vec();
                to.write(size)?.copy_from_slice(&bytes);
                Ok(())
            }
        }
    }

    /// Reads the bytes at a place.
    pub fn bytes_at(&mut self, from: Where, bytes: usize) -> Answer<Vec<u8>> {
        let mut data = vec![0; bytes];
        match from {
            Where::Device(ptr) => self.card()?.read(ptr, &mut data).map_err(|_| Status::InvalidValue)?,
            Where::Host(at) => data.copy_from_slice(at.read(bytes)?),
            Where::Array { image, x, y, z } => {
                self.card()?.read_row(&image, (x, y, z), &mut data).map_err(|_| Status::InvalidValue)?;
            }
        }
        Ok(data)
    }

    /// Writes bytes to a place.
    pub fn put_bytes(&mut self, to: Where, data: &[u8]) -> Answer {
        match to {
            Where::Device(ptr) => self.card()?.write(ptr, data).map_err(|_| Status::InvalidValue),
            Where::Host(at) => {
                at.write(data.len())?.copy_from_slice(data);
                Ok(())
            }
            Where::Array { image, x, y, z } => {
                self.card()?.write_row(&image, (x, y, z), data).map_err(|_| Status::InvalidValue)
            }
        }
    }

    /// Fills a place with `count` copies of an element.
    pub fn set(&mut self, to: Where, element: &[u8], count: u64) -> Answer {
        /// Bytes written at a time, a multiple of every element's size.
        const PIECE: u64 = 1 << 16;
        let size = element.len() as u64;
        let bytes = count.checked_mul(size).ok_or(Status::InvalidValue)?;
        let piece = element.repeat((bytes.min(PIECE) / size) as usize);
        for at in (0..bytes).step_by(PIECE as usize) {
            let piece = &piece[..(bytes - at).min(PIECE) as usize];
            match to.offset(at)? {
                Where::Device(to) => self.card()?.write(to, piece).map_err(|_| Status::InvalidValue)?,
                to => self.put_bytes(to, piece)?,
            }
        }
        Ok(())
    }

    /// Copies all mirrored memory from the host to the device.
    pub fn mirror_to_device(&mut self) -> Answer {
        self.mirrors(|to, host, device, card| {
            let bytes = host.read(to)?;
            card.write(device, bytes).map_err(|_| Status::Unknown)
        })
    }

    /// Copies all mirrored memory from the device to the host.
    pub fn mirror_to_host(&mut self) -> Answer {
        self.mirrors(|to, host, device, card| {
            let bytes = host.write(to)?;
            card.read(device, bytes).map_err(|_| Status::Unknown)
        })
    }

    fn mirrors(
        &mut self,
        mut each: impl FnMut(
            usize,
            Bytes,
            DevicePtr,
            &mut strata_gpu::device::Card<crate::engine::Engine>,
        ) -> Answer,
    ) -> Answer {
        let all: Vec<(u64, u64, u64)> = self
            .allocations
            .iter()
            .filter_map(|(start, allocation)| match &allocation.kind {
                Kind::Mirrored(mirror) => Some((*start, mirror.host, mirror.bytes)),
                Kind::Device => None,
            })
            // After the buffers, since kernels use these by name.
            .chain(self.managed_mirrors())
            .collect();
        for (start, host, bytes) in all {
            each(bytes as usize, Bytes::at(host), DevicePtr(start), self.card()?)?;
        }
        Ok(())
    }
}
