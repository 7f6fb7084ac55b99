//! The integrity check: a keyed hash over what the runtime knows of the driver, by which it tells a driver from a
//! library that stands between the two.
//!
//! It is HMAC (RFC 2104) of MD2 (RFC 1319), whose key is as long as a block of MD2.

use md2::{Digest, Md2};

use crate::api::tables::{Slot, runtime, table};
use crate::api::{device, process};
use crate::client::{Out, thread};
use crate::state;

/// The key of the hash.
const KEY: [u8; 16] = 0x146a_ddae_53a9_a752_aa08_4136_0bf5_5a9f_u128.to_be_bytes();
/// The answers to runtimes whose version ends in 0, and in 1.
const CONSTANTS: [[u64; 2]; 2] =
    [[0x3341_181c_03cb_675c, 0x8ed3_83aa_1f4c_d1e8], [0x1841_181c_03cb_675c, 0x8ed3_83aa_1f4c_d1e8]];

/// What the hash is over, in this order.
struct Hashed {
    driver_version: i32,
    version: u32,
    process: u32,
    thread: u32,
    /// Addresses of the runtime's table, of this one, and of the function.
    addresses: [u64; 3],
    seconds: u64,
    /// UUID and PCI domain, bus and device.
    device: ([u8; 16], [i32; 3]),
}

impl Hashed {
    fn answer(&self) -> [u64; 2] {
        if let Some(constant) = CONSTANTS.get((self.version % 10) as usize) {
            return *constant;
        }
        let mut bytes = self.driver_version.to_le_bytes().to_vec();
        bytes.extend([self.version, self.process, self.thread].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.addresses.into_iter().chain([self.seconds]).flat_map(u64::to_le_bytes));
        bytes.extend(self.device.0);
        bytes.extend(self.device.1.into_iter().flat_map(i32::to_le_bytes));
        let padded = |pad: u8| Md2::new_with_prefix(KEY.map(|byte| byte ^ pad));
        let inner = padded(0x36).chain_update(bytes).finalize();
        let outer: [u8; 16] = padded(0x5c).chain_update(inner).finalize().into();
        let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| outer[at + byte]));
        [half(0), half(8)]
    }
}

table! {
    "integrity check", 0xd408_2055_bde6_704b_8d34_ba12_3c66_e1f2_u128.to_be_bytes(), Slot::size(3), 3 slots;

    /// Writes the hash.
    1 check(version: u32, seconds: u64, to: Out<[u64; 2]>) {
        let address = |slot: &'static Slot| std::ptr::from_ref(slot).addr() as u64;
        let (uuid, pci) = state::with(|state| Ok((device::uuid(state), device::PCI)))?;
        let hashed = Hashed {
            driver_version: process::VERSION,
            version,
            process: std::process::id(),
            thread: thread(),
            addresses: [
                address(&runtime::TABLE.slots[0]),
                address(&SLOTS[0]),
                SLOTS[1].0.addr() as u64,
            ],
            seconds,
            device: (uuid, pci),
        };
        to.put(hashed.answer())
    }

    unsupported 2;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(version: u32) -> Hashed {
        Hashed {
            driver_version: 13050,
            version,
            process: 0x2f_a423,
            thread: 0xf79c_1000,
            addresses: [0x7fff_f695_8240, 0x7fff_f695_8220, 0x7fff_f2aa_f4a0],
            seconds: 0x682b_9cee,
            device: (std::array::from_fn(|n| n as u8), [0, 1, 0]),
        }
    }

    /// Expected: a program that has MD2's table from the digits of pi and passes the tests of RFC 1319.
    #[test]
    fn the_hash_is_that_of_the_rfcs() {
        assert_eq!(hashed(12082).answer(), [0x6ba0_4fc0_1bce_e800, 0x64b3_3f4f_c090_a917]);
    }

    #[test]
    fn every_part_counts() {
        let change: [fn(&mut Hashed); 8] = [
            |hashed| hashed.driver_version += 1,
            |hashed| hashed.version += 10,
            |hashed| hashed.process += 1,
            |hashed| hashed.thread += 1,
            |hashed| hashed.addresses[2] += 1,
            |hashed| hashed.seconds += 1,
            |hashed| hashed.device.0[15] += 1,
            |hashed| hashed.device.1[2] += 1,
        ];
        for (number, change) in change.iter().enumerate() {
            let mut other = hashed(12082);
            change(&mut other);
            assert_ne!(other.answer(), hashed(12082).answer(), "part {number}");
        }
    }

    #[test]
    fn old_runtimes_get_constants() {
        assert_eq!(hashed(11080).answer(), CONSTANTS[0]);
        assert_eq!(hashed(12091).answer(), CONSTANTS[1]);
    }
}
