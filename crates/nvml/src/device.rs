//! The devices, as the driver describes them.

use strata_abi::{Plain, plain_structs};

use crate::api;
use crate::cuda::{self, Driver};
use crate::status::{Answer, Bytes, Out, Status, Text};
use crate::system::{put_text, ready, written};

/// A device: a mark that makes its bits an invalid address, and its ordinal.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Device(u64);

/// The mark of a device.
const MARK: u64 = 0x7b << 56;

#[allow(unsafe_code)]
// SAFETY: a transparent integer.
unsafe impl Plain for Device {}

plain_structs! {
    /// `nvmlMemory_t`, in bytes.
    Memory {
        /// All memory.
        total: u64,
        /// Memory that is not allocated.
        free: u64,
        /// Memory that is.
        used: u64,
    }
    /// `nvmlMemory_v2_t`, in bytes.
    Memory2 {
        /// Version and size of this structure.
        version: u32,
        /// All memory.
        total: u64,
        /// Memory that the system keeps for itself.
        reserved: u64,
        /// Memory that is not allocated.
        free: u64,
        /// Memory that is.
        used: u64,
    }
    /// `nvmlPciInfo_t`. The second version ends before `bus_id`, with four reserved words.
    Pci {
        /// Address on the bus, with four digits of the domain.
        short_bus_id: [u8; 16],
        /// Number of the domain.
        domain: u32,
        /// Number of the bus.
        bus: u32,
        /// Number on the bus.
        device: u32,
        /// Numbers of device and vendor; none.
        kind: u32,
        /// Numbers of the board and its vendor; none.
        board: u32,
        /// Address on the bus, with eight digits of the domain.
        bus_id: [u8; 32],
    }
}

/// Version and size of [`Memory2`], as clients write them (`NVML_STRUCT_VERSION`).
const MEMORY_2: u32 = size_of::<Memory2>() as u32 | 2 << 24;

/// Attributes of the driver API.
mod attribute {
    pub const CORE_KHZ: u32 = 13;
    pub const MEMORY_KHZ: u32 = 36;
    pub const BUS_WIDTH: u32 = 37;
    pub const MAJOR: u32 = 75;
    pub const MINOR: u32 = 76;
}

/// Number of devices.
fn count(driver: &Driver) -> Answer<u32> {
    let mut count = 0;
    driver.cuDeviceGetCount(&mut count)?;
    Ok(count.unsigned_abs())
}

/// The driver, and the ordinal of a device.
fn known(device: Device) -> Answer<(&'static Driver, i32)> {
    ready()?;
    let driver = cuda::get()?;
    let ordinal = device.0 ^ MARK;
    let is_one = ordinal < u64::from(count(driver)?);
    if is_one { Ok((driver, ordinal as i32)) } else { Err(Status::InvalidArgument) }
}

fn attribute(device: Device, number: u32) -> Answer<i32> {
    let (driver, ordinal) = known(device)?;
    let mut value = 0;
    driver.cuDeviceGetAttribute(&mut value, number, ordinal)?;
    Ok(value)
}

/// A device's UUID as this library writes it.
fn uuid(driver: &Driver, ordinal: i32) -> Answer<String> {
    let mut bytes = [0; 16];
    driver.cuDeviceGetUuid_v2(&mut bytes, ordinal)?;
    let mut text = "GPU".to_owned();
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    Ok(text)
}

/// Domain, bus and number on the bus.
fn address(driver: &Driver, ordinal: i32) -> Answer<[u32; 3]> {
    let mut bytes = [0; 32];
    driver.cuDeviceGetPCIBusId(&mut bytes, 32, ordinal)?;
    parts(written(&bytes)?).ok_or(Status::Unknown)
}

/// Domain, bus and number of a text as `0000:01:00.0`. The domain may be absent.
fn parts(text: &str) -> Option<[u32; 3]> {
    let text = text.strip_suffix(".0").unwrap_or(text);
    let fields: Vec<u32> =
        text.split(':').map(|field| u32::from_str_radix(field, 16)).collect::<Result<_, _>>().ok()?;
    match fields[..] {
        [bus, device] => Some([0, bus, device]),
        [domain, bus, device] => Some([domain, bus, device]),
        _ => None,
    }
}

/// Finds the device for which `is_it` holds.
fn find(to: Out<Device>, is_it: impl Fn(&Driver, i32) -> Answer<bool>) -> Answer {
    ready()?;
    let place = to.place()?;
    let driver = cuda::get()?;
    for ordinal in 0..count(driver)? as i32 {
        if is_it(driver, ordinal)? {
            place.put(Device(MARK | ordinal as u64));
            return Ok(());
        }
    }
    Err(Status::NotFound)
}

fn by_index(index: u32, to: Out<Device>) -> Answer {
    match find(to, |_, ordinal| Ok(ordinal as u32 == index)) {
        Err(Status::NotFound) => Err(Status::InvalidArgument),
        other => other,
    }
}

/// Memory in bytes: total, free and used. Without a context in this thread nothing is in use that this library could know.
fn memory(device: Device) -> Answer<Memory> {
    let (driver, ordinal) = known(device)?;
    let mut total = 0;
    driver.cuDeviceTotalMem_v2(&mut total, ordinal)?;
    let mut free = 0;
    if driver.cuMemGetInfo_v2(&mut free, &mut 0).is_err() {
        free = total;
    }
    Ok(Memory { total, free, used: total.saturating_sub(free) })
}

fn pci(device: Device) -> Answer<Pci> {
    let (driver, ordinal) = known(device)?;
    let [domain, bus, device] = address(driver, ordinal)?;
    let mut pci = Pci { domain, bus, device, ..Pci::default() };
    let texts =
        [format!("{domain:04X}:{bus:02X}:{device:02X}.0"), format!("{domain:08X}:{bus:02X}:{device:02X}.0")];
    pci.short_bus_id[..texts[0].len()].copy_from_slice(texts[0].as_bytes());
    pci.bus_id[..texts[1].len()].copy_from_slice(texts[1].as_bytes());
    Ok(pci)
}

/// The second version of the structure: short address, four numbers, the board, four reserved words.
fn old_pci(device: Device, to: Bytes) -> Answer {
    let pci = pci(device)?;
    let to = to.write(52)?;
    to.fill(0);
    to[..16].copy_from_slice(&pci.short_bus_id);
    for (place, number) in [pci.domain, pci.bus, pci.device].into_iter().enumerate() {
        to[16 + 4 * place..][..4].copy_from_slice(&number.to_le_bytes());
    }
    Ok(())
}

/// The clock in MHz of a domain: graphics, SM, memory, video.
fn clock(device: Device, domain: u32) -> Answer<u32> {
    let number = match domain {
        0 | 1 => attribute::CORE_KHZ,
        2 => attribute::MEMORY_KHZ,
        3 => return Err(Status::NotSupported),
        _ => return Err(Status::InvalidArgument),
    };
    Ok(attribute(device, number)?.unsigned_abs() / 1000)
}

api! {
    /// Writes the number of devices.
    nvmlDeviceGetCount | nvmlDeviceGetCount_v2 (to: Out<u32>) {
        ready()?;
        let place = to.place()?;
        place.put(count(cuda::get()?)?);
        Ok(())
    }

    /// Finds a device by its ordinal.
    nvmlDeviceGetHandleByIndex | nvmlDeviceGetHandleByIndex_v2 (index: u32, to: Out<Device>) {
        by_index(index, to)
    }

    /// Finds a device by its UUID.
    nvmlDeviceGetHandleByUUID(name: Text, to: Out<Device>) {
        let name = name.get()?;
        find(to, |driver, ordinal| Ok(uuid(driver, ordinal)? == name))
    }

    /// Finds a device by its address on the bus.
    nvmlDeviceGetHandleByPciBusId | nvmlDeviceGetHandleByPciBusId_v2 (name: Text, to: Out<Device>) {
        let wanted = parts(name.get()?).ok_or(Status::InvalidArgument)?;
        find(to, |driver, ordinal| Ok(address(driver, ordinal)? == wanted))
    }

    /// Writes a device's name.
    nvmlDeviceGetName(device: Device, to: Bytes, room: u32) {
        let (driver, ordinal) = known(device)?;
        let mut bytes = [0; 96];
        driver.cuDeviceGetName(&mut bytes, 96, ordinal)?;
        put_text(written(&bytes)?, to, room)
    }

    /// Writes a device's UUID.
    nvmlDeviceGetUUID(device: Device, to: Bytes, room: u32) {
        let (driver, ordinal) = known(device)?;
        put_text(&uuid(driver, ordinal)?, to, room)
    }

    /// Writes a device's ordinal, which is also the number of its file.
    nvmlDeviceGetIndex | nvmlDeviceGetMinorNumber (device: Device, to: Out<u32>) {
        let (_, ordinal) = known(device)?;
        to.put(ordinal.unsigned_abs())
    }

    /// Writes a device's memory; see `memory`.
    nvmlDeviceGetMemoryInfo(device: Device, to: Out<Memory>) {
        let place = to.place()?;
        place.put(memory(device)?);
        Ok(())
    }

    /// Writes a device's memory; see `memory`. The client says which version of the structure it has.
    nvmlDeviceGetMemoryInfo_v2(device: Device, to: Out<Memory2>) {
        if to.before().get()?.version != MEMORY_2 {
            return Err(Status::InvalidArgument);
        }
        let Memory { total, free, used } = memory(device)?;
        to.put(Memory2 { version: MEMORY_2, total, reserved: 0, free, used })
    }

    /// Writes the compute capability: major and minor.
    nvmlDeviceGetCudaComputeCapability(device: Device, major: Out<i32>, minor: Out<i32>) {
        let (major, minor) = (major.place()?, minor.place()?);
        let found = (attribute(device, attribute::MAJOR)?, attribute(device, attribute::MINOR)?);
        major.put(found.0);
        minor.put(found.1);
        Ok(())
    }

    /// Writes a device's address on the bus.
    nvmlDeviceGetPciInfo_v3(device: Device, to: Out<Pci>) {
        let place = to.place()?;
        place.put(pci(device)?);
        Ok(())
    }

    /// Writes a device's address on the bus, in the structure's older version.
    nvmlDeviceGetPciInfo | nvmlDeviceGetPciInfo_v2 (device: Device, to: Bytes) {
        old_pci(device, to)
    }

    /// Writes a clock in MHz: clocks do not change.
    nvmlDeviceGetClockInfo | nvmlDeviceGetMaxClockInfo (device: Device, domain: u32, to: Out<u32>) {
        let place = to.place()?;
        place.put(clock(device, domain)?);
        Ok(())
    }

    /// Writes the width of the path to memory in bits.
    nvmlDeviceGetMemoryBusWidth(device: Device, to: Out<u32>) {
        let place = to.place()?;
        place.put(attribute(device, attribute::BUS_WIDTH)?.unsigned_abs());
        Ok(())
    }

    /// Writes 0: any number of threads may use a device.
    nvmlDeviceGetComputeMode(device: Device, to: Out<u32>) {
        known(device)?;
        to.put(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_domain_or_none() {
        assert_eq!(parts("0000:01:00.0"), Some([0, 1, 0]));
        assert_eq!(parts("00000002:0A:1f.0"), Some([2, 10, 31]));
        assert_eq!(parts("01:00"), Some([0, 1, 0]));
        for wrong in ["", "1", "g:0", "0:0:0:0", "0000:01:00.1"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }
}
