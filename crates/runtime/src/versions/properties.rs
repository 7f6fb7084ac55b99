//! `cudaDeviceProp`, whose layout changed with every major version.

use crate::client::Bytes;
use crate::context::check;
use crate::driver::Driver;
use crate::error::{Answer, Error};

/// A version's layout of `cudaDeviceProp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Version 11; in version 12, the structure of the unversioned function.
    V11,
    /// Version 12: version 11's fields and more after them.
    V12,
    /// Version 13: version 12's without the fields that attributes also provide.
    V13,
}

/// A field, aligned to its size.
#[derive(Clone, Copy)]
enum Field {
    Name,
    Uuid,
    /// A number of bytes without meaning here.
    Zero(usize),
    Memory,
    /// The value of a device attribute, as 32 bits.
    Int(u32),
    /// The value of a device attribute, as 64 bits.
    Wide(u32),
}
use Field::{Int, Memory, Name, Uuid, Wide, Zero};

/// The versions that have a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    All,
    /// Versions 11 and 12.
    Old,
    /// Versions 12 and 13.
    New,
    Only12,
    Only13,
}
use In::{All, New, Old, Only12, Only13};

/// The fields in order, from the header `driver_types.h` of 11.8, 12.9 and 13.5. Numbers are those of
/// `CUdevice_attribute`.
const FIELDS: &[(In, &[Field])] = &[
    // Name, UUID, LUID and its mask.
    (All, &[Name, Uuid, Zero(8), Zero(4)]),
    // Memory; shared memory, registers, warp, pitch, threads, block, grid.
    (
        All,
        &[
            Memory,
            Wide(8),
            Int(12),
            Int(10),
            Wide(11),
            Int(1),
            Int(2),
            Int(3),
            Int(4),
            Int(5),
            Int(6),
            Int(7),
        ],
    ),
    // Clock.
    (Old, &[Int(13)]),
    // Constant memory, capability, alignments.
    (All, &[Wide(9), Int(75), Int(76), Wide(14), Wide(51)]),
    // Copies beside kernels.
    (Old, &[Int(15)]),
    // SMs.
    (All, &[Int(16)]),
    // Time-out.
    (Old, &[Int(17)]),
    // Integrated, maps host memory.
    (All, &[Int(18), Int(19)]),
    // Compute mode.
    (Old, &[Int(20)]),
    // Textures: 1D, mipmapped.
    (All, &[Int(21), Int(77)]),
    // Textures: linear.
    (Old, &[Int(69)]),
    // Textures: 2D, mipmapped, linear, gather, 3D, other 3D, cube map, layers.
    (
        All,
        &[
            Int(22),
            Int(23),
            Int(73),
            Int(74),
            Int(70),
            Int(71),
            Int(72),
            Int(45),
            Int(46),
            Int(24),
            Int(25),
            Int(26),
        ],
    ),
    (
        All,
        &[Int(47), Int(48), Int(49), Int(52), Int(42), Int(43), Int(27), Int(28), Int(29), Int(53), Int(54)],
    ),
    // Surfaces: 1D, 2D, 3D, layers, cube maps.
    (
        All,
        &[
            Int(55),
            Int(56),
            Int(57),
            Int(58),
            Int(59),
            Int(60),
            Int(61),
            Int(62),
            Int(63),
            Int(64),
            Int(65),
            Int(66),
        ],
    ),
    (All, &[Int(67), Int(68)]),
    // Alignment of surfaces, concurrency, ECC, PCI bus, device and domain, TCC, copy engines, one address space.
    (All, &[Wide(30), Int(31), Int(32), Int(33), Int(34), Int(50), Int(35), Int(40), Int(41)]),
    // Memory clock.
    (Old, &[Int(36)]),
    // Bus, L2, what may persist in it, threads, priorities, L1D, shared memory and registers of an SM, managed memory, boards,
    // atomics of the host.
    (
        All,
        &[
            Int(37),
            Int(38),
            Int(108),
            Int(39),
            Int(78),
            Int(79),
            Int(80),
            Wide(81),
            Int(82),
            Int(83),
            Int(84),
            Int(85),
        ],
    ),
    (All, &[Int(86)]),
    // Throughput of f32 over that of f64.
    (Old, &[Int(87)]),
    // Pageable and managed memory, preemption, registered memory, cooperative launches.
    (All, &[Int(88), Int(89), Int(90), Int(91), Int(95)]),
    // On several devices.
    (Old, &[Int(96)]),
    // Shared memory on request, page tables, managed memory from the host, CTAs, access policy, reserved shared memory.
    (All, &[Wide(97), Int(100), Int(101), Int(106), Int(109), Wide(111)]),
    // Registering, sparse arrays, read-only registering, semaphores, pools, RDMA, deferred mapping, IPC, clusters,
    // unified functions.
    (
        New,
        &[
            Int(99),
            Int(112),
            Int(113),
            Int(114),
            Int(115),
            Int(116),
            Int(117),
            Int(118),
            Int(119),
            Int(121),
            Int(125),
        ],
    ),
    (New, &[Int(120), Int(129)]),
    (Only12, &[Zero(63 * 4)]),
    // NUMA, MPS, NUMA of the host; PCI numbers and what is reserved.
    (Only13, &[Int(130), Int(131), Int(133), Int(134), Zero(3 * 4), Zero(56 * 4)]),
];

impl In {
    fn has(self, layout: Layout) -> bool {
        match self {
            All => true,
            Old => layout != Layout::V13,
            New => layout != Layout::V11,
            Only12 => layout == Layout::V12,
            Only13 => layout == Layout::V13,
        }
    }
}

/// A source of the field values.
trait Device {
    fn name(&self) -> Answer<[u8; 256]>;
    fn uuid(&self) -> Answer<[u8; 16]>;
    fn memory(&self) -> Answer<u64>;
    fn attribute(&self, number: u32) -> Answer<i32>;
}

impl Device for (&Driver, i32) {
    fn name(&self) -> Answer<[u8; 256]> {
        let mut name = [0; 256];
        self.0.cuDeviceGetName(&mut name, 256, self.1).map(|()| name)
    }

    fn uuid(&self) -> Answer<[u8; 16]> {
        let mut uuid = [0; 16];
        self.0.cuDeviceGetUuid_v2(&mut uuid, self.1).map(|()| uuid)
    }

    fn memory(&self) -> Answer<u64> {
        let mut bytes = 0;
        self.0.cuDeviceTotalMem_v2(&mut bytes, self.1).map(|()| bytes)
    }

    fn attribute(&self, number: u32) -> Answer<i32> {
        let mut value = 0;
        match self.0.cuDeviceGetAttribute(&mut value, number, self.1) {
            // A driver that does not know the attribute has nothing of that kind.
            Err(Error::InvalidValue) => Ok(0),
            answer => answer.map(|()| value),
        }
    }
}

fn lay_out(device: &impl Device, layout: Layout) -> Answer<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    let align = |bytes: &mut Vec<u8>, to: usize| bytes.resize(bytes.len().next_multiple_of(to), 0);
    for field in FIELDS.iter().filter(|(which, _)| which.has(layout)).flat_map(|(_, fields)| *fields) {
        match *field {
            Name => bytes.extend(device.name()?),
            Uuid => bytes.extend(device.uuid()?),
            Zero(count) => bytes.resize(bytes.len() + count, 0),
            Memory => {
                align(&mut bytes, 8);
                bytes.extend(device.memory()?.to_le_bytes());
            }
            Int(number) => bytes.extend(device.attribute(number)?.to_le_bytes()),
            Wide(number) => {
                align(&mut bytes, 8);
                bytes.extend(i64::from(device.attribute(number)?).to_le_bytes());
            }
        }
    }
    align(&mut bytes, 8);
    Ok(bytes)
}

/// Writes a device's `cudaDeviceProp` in a version's layout.
///
/// # Errors
/// If `to` is null, there is no such device, or the driver fails.
pub fn device_properties(to: Bytes, device: i32, layout: Layout) -> Answer {
    let driver = check(device)?;
    super::fill(to, &lay_out(&(driver, device), layout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports each attribute's number as its value.
    struct Numbers;

    impl Device for Numbers {
        fn name(&self) -> Answer<[u8; 256]> {
            Ok([b'n'; 256])
        }

        fn uuid(&self) -> Answer<[u8; 16]> {
            Ok([b'u'; 16])
        }

        fn memory(&self) -> Answer<u64> {
            Ok(u64::MAX)
        }

        fn attribute(&self, number: u32) -> Answer<i32> {
            Ok(number as i32)
        }
    }

    #[test]
    fn fields_stand_where_compilers_put_them() {
        // `sizeof`, then `offsetof` totalGlobalMem, warpSize, totalConstMem, major, multiProcessorCount, surfaceAlignment,
        // maxThreadsPerMultiProcessor, managedMemory, maxBlocksPerMultiProcessor, reservedSharedMemPerBlock, as a C++
        // compiler finds them with the headers of 11.8, 12.9 and 13.5.
        let expected = [
            (Layout::V11, 728, [288, 308, 352, 360, 388, 568, 624, 652, 712, 720]),
            (Layout::V12, 1032, [288, 308, 352, 360, 388, 568, 624, 652, 712, 720]),
            (Layout::V13, 1008, [288, 308, 352, 360, 384, 552, 604, 636, 688, 696]),
        ];
        for (layout, size, offsets) in expected {
            let bytes = lay_out(&Numbers, layout).unwrap();
            assert_eq!(bytes.len(), size, "{layout:?}");
            let numbers = [-1, 10, 9, 75, 16, 30, 39, 83, 106, 111];
            for (offset, number) in offsets.into_iter().zip(numbers) {
                let found = bytes[offset..].first_chunk().copied().map(i32::from_le_bytes);
                assert_eq!(found, Some(number), "{layout:?} at {offset}");
            }
        }
    }
}
