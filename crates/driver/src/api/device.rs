//! The one device, as the machine file describes it.

use crate::api::api;
use crate::client::{Bytes, Out, Text};
use crate::state::{self, State};
use crate::status::{Answer, Status};

/// Refuses every ordinal but the device's.
pub fn check(device: i32) -> Answer {
    if device == 0 { Ok(()) } else { Err(Status::InvalidDevice) }
}

/// Name of the device.
fn name(state: &State) -> String {
    let machine = &state.settings.machine;
    match machine.system_name() {
        Some(system) => format!("Strata {} with {system}", machine.name()),
        None => format!("Strata {}", machine.name()),
    }
}

/// An identifier derived from the machine and its systems; the same in every process.
pub fn uuid(state: &State) -> [u8; 16] {
    let mut hash = strata_engine::hash::Fnv::default();
    hash.write(name(state).as_bytes());
    let mut bytes = *b"strata\0\0\0\0\0\0\0\0\0\0";
    bytes[8..].copy_from_slice(&hash.finish().to_le_bytes());
    bytes
}

/// The PCI address that the device reports: domain, bus and device.
pub const PCI: [i32; 3] = [0, 1, 0];
/// The same as text.
const PCI_ADDRESS: &str = "0000:01:00.0";

/// Maximum pitch in bytes of a pitched buffer: the largest 32-bit value.
const MAX_PITCH: i32 = i32::MAX;

/// The last `CUdevice_attribute` of API version 13.5.
const LAST_ATTRIBUTE: u32 = 161;

/// The value of a `CUdevice_attribute`, taken from the machine file where possible. A feature that no machine
/// has reads as 0.
fn attribute(state: &State, attribute: u32) -> Answer<i32> {
    let file = state.settings.machine.file();
    let (gpu, sm, clocks, dram) = (&file.gpu, &file.sm, &file.clocks, &file.dram);
    let most = |value: u64| i32::try_from(value).unwrap_or(i32::MAX);
    let shared = most(u64::from(*sm.shared_bytes));
    Ok(match attribute {
        // Threads per block, in total and by axis; blocks per grid (CUDA C programming guide, technical
        // specifications).
        1..=3 => 1024,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 | 81 | 97 => shared,
        // Bytes of constant memory.
        9 => 64 << 10,
        10 => 32,
        11 => MAX_PITCH,
        12 | 82 => most(u64::from(*sm.registers)),
        // Core clock in kHz.
        13 => most(1000 * u64::from(*clocks.core_mhz)),
        36 => most(1000 * u64::from(*clocks.dram_mhz)),
        // Alignment of textures and surfaces in bytes.
        14 => crate::api::reference::ALIGN as i32,
        30 => 512,
        51 => 32,
        16 => i32::from(*gpu.sms),
        // Host memory can be mapped, managed and registered.
        19 | 83 | 99 => 1,
        // Pinned memory has the same address on host and device.
        41 => 1,
        // PCI bus; device and domain are 0.
        33 => 1,
        // Bus width: bits that all channels carry per cycle of the DRAM clock.
        37 => most(8 * *dram.atom_bytes as u64 / (*dram.burst_cycles).max(1) * u64::from(*gpu.channels)),
        38 => most(state.settings.machine.llc_bytes()),
        39 => most(32 * u64::from(*sm.warp_slots)),
        75 => state.settings.capability.major,
        76 => state.settings.capability.minor,
        // Stream priorities are accepted, without effect.
        78 => 1,
        // Loads of global and local memory go through the L1D.
        79 | 80 => 1,
        // Ratio of f32 to f64 throughput; the machine file has no such value.
        87 => 2,
        106 => most(u64::from(*sm.cta_slots)),
        // All CTAs of a launch can be resident together, and synchronise.
        95 => 1,
        // Memory pools are supported; all share one heap.
        115 => 1,
        // Clusters and tensor maps, for programs that look for compute capability 9.0.
        120 | 127 => i32::from(state.settings.capability.major >= 9),
        // NUMA node of the device and of the host: none.
        131 | 134 => -1,
        other if other <= LAST_ATTRIBUTE && other > 0 => texture_limit(other).unwrap_or(0),
        _ => return Err(Status::InvalidValue),
    })
}

/// The limits on texture and surface sizes (CUDA C++ Programming Guide, "Technical Specifications", compute
/// capability 8.0); `None` for other attributes.
fn texture_limit(attribute: u32) -> Option<i32> {
    Some(match attribute {
        // 1D, 2D, 3D.
        21 | 22 => 131_072,
        23 => 65_536,
        24..=26 => 16_384,
        // Layered 2D and 1D, then cubes.
        27 | 28 | 42 | 52 | 53 => 32_768,
        29 | 43 => 2_048,
        54 => 2_046,
        // Surfaces: 1D, 2D, 3D, layered, cubes.
        55 | 61 | 63 | 64 | 66 | 67 => 32_768,
        56 => 131_072,
        57 => 65_536,
        58..=60 => 16_384,
        62 | 65 => 2_048,
        68 => 2_046,
        // Linear memory: texels of a row, then a pitched rectangle and its pitch.
        69 => 1 << 28,
        70 => 131_072,
        71 => 65_000,
        72 => 2_097_120,
        // `tld4`.
        45 | 46 => 32_768,
        _ => return None,
    })
}

/// Writes a text with its NUL, truncated to `room` bytes.
fn put_text(text: &str, to: Bytes, room: i32) -> Answer {
    let room = usize::try_from(room).ok().filter(|room| *room > 0).ok_or(Status::InvalidValue)?;
    let length = text.len().min(room - 1);
    let to = to.write(length + 1)?;
    to[..length].copy_from_slice(&text.as_bytes()[..length]);
    to[length] = 0;
    Ok(())
}

api! {
    /// Writes the device with an ordinal; the two are equal.
    cuDeviceGet = "cuDeviceGet" 2000 (device: Out<i32>, ordinal: i32) {
        state::with(|_| Ok(()))?;
        check(ordinal)?;
        device.put(ordinal)
    }

    /// Writes 1, the number of devices.
    cuDeviceGetCount = "cuDeviceGetCount" 2000 (count: Out<i32>) {
        state::with(|_| count.put(1))
    }

    /// Writes the device's name: `Strata` and the machine's name.
    cuDeviceGetName = "cuDeviceGetName" 2000 (text: Bytes, room: i32, device: i32) {
        state::with(|state| {
            check(device)?;
            put_text(&name(state), text, room)
        })
    }

    /// Writes the device's UUID, the same in every process for the same machine.
    cuDeviceGetUuid = "cuDeviceGetUuid" 9020 (to: Out<[u8; 16]>, device: i32) {
        state::with(|state| {
            check(device)?;
            to.put(uuid(state))
        })
    }

    /// Writes the device's UUID, the same in every process for the same machine.
    cuDeviceGetUuid_v2 = "cuDeviceGetUuid" 11040 (to: Out<[u8; 16]>, device: i32) {
        state::with(|state| {
            check(device)?;
            to.put(uuid(state))
        })
    }

    /// Writes the size of device memory, from the machine file.
    cuDeviceTotalMem_v2 = "cuDeviceTotalMem" 3020 (bytes: Out<usize>, device: i32) {
        state::with(|state| {
            check(device)?;
            bytes.put((*state.settings.machine.file().gpu.memory_mib << 20) as usize)
        })
    }

    /// Writes a device attribute, from the machine file where possible.
    cuDeviceGetAttribute = "cuDeviceGetAttribute" 2000 (value: Out<i32>, number: u32, device: i32) {
        state::with(|state| {
            let value = value.place()?;
            check(device)?;
            value.put(attribute(state, number)?);
            Ok(())
        })
    }

    /// Writes the compute capability: major and minor.
    cuDeviceComputeCapability = "cuDeviceComputeCapability" 2000 (
        major: Out<i32>, minor: Out<i32>, device: i32,
    ) {
        state::with(|state| {
            let (major, minor) = (major.place()?, minor.place()?);
            check(device)?;
            major.put(state.settings.capability.major);
            minor.put(state.settings.capability.minor);
            Ok(())
        })
    }

    /// Writes the device's PCI address.
    cuDeviceGetPCIBusId = "cuDeviceGetPCIBusId" 4010 (text: Bytes, room: i32, device: i32) {
        state::with(|_| {
            check(device)?;
            put_text(PCI_ADDRESS, text, room)
        })
    }

    /// Finds the device with a PCI address.
    cuDeviceGetByPCIBusId = "cuDeviceGetByPCIBusId" 4010 (device: Out<i32>, address: Text) {
        state::with(|_| {
            let device = device.place()?;
            if address.get()? != PCI_ADDRESS {
                return Err(Status::InvalidDevice);
            }
            device.put(0);
            Ok(())
        })
    }

    /// Writes 0: there is no other device.
    cuDeviceCanAccessPeer = "cuDeviceCanAccessPeer" 4000 (can: Out<i32>, device: i32, peer: i32) {
        state::with(|_| {
            check(device)?;
            check(peer)?;
            can.put(0)
        })
    }

    /// Fails: there is no other device.
    cuDeviceGetP2PAttribute = "cuDeviceGetP2PAttribute" 8000 (
        value: Out<i32>, _attribute: u32, device: i32, peer: i32,
    ) {
        state::with(|_| {
            check(device)?;
            check(peer)?;
            value.put(0)?;
            Err(Status::InvalidDevice)
        })
    }
}
