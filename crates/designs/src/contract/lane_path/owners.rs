//! Who may touch which bytes: what makes a random program free of races.

use strata_engine::seed::Stream;
use strata_memory::doors::LaneSpace;
use strata_warp::WARP_LANES;

use super::Contract;

/// Aligned bytes with one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granule {
    /// The space in which they lie.
    pub space: LaneSpace,
    /// Their first address.
    pub address: u64,
    /// How many they are: a power of two up to 16.
    pub bytes: u64,
    /// The CTA to which they belong as long as the check runs.
    pub cta: u8,
    /// Who may use them until the next event that orders the threads concerned.
    pub owner: Owner,
}

/// Who may use bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A thread of the CTA, by warp and lane: it reads and writes them.
    Thread(u8, u8),
    /// Every thread of the CTA: they read them.
    Readers,
    /// Every thread of the CTA, for atomics only.
    Atomics,
}

/// The granules of all memory. Neighbours belong to different CTAs and threads, down to single bytes, so threads that
/// do not share a byte share lines, blocks and half-words.
pub struct Owners {
    granules: Vec<Granule>,
}

impl Owners {
    /// Cuts memory into granules of random sizes and owners.
    pub fn new(contract: &Contract, stream: &mut Stream) -> Owners {
        let mut granules = Vec::new();
        let mut cut = |space, from: u64, to: u64, cta: Option<u8>| {
            let mut address = from;
            while address < to {
                let most = (address | 16).trailing_zeros();
                let bytes = 1 << stream.below(u64::from(most) + 1);
                let cta = cta.unwrap_or_else(|| stream.below(u64::from(contract.ctas)) as u8);
                granules.push(Granule { space, address, bytes, cta, owner: Owner::Readers });
                address += bytes;
            }
        };
        cut(LaneSpace::Global, 0, contract.global_bytes, None);
        for cta in 0..contract.ctas {
            let first = u64::from(cta) * contract.shared_bytes;
            cut(LaneSpace::Shared, first, first + contract.shared_bytes, Some(cta));
        }
        let mut owners = Owners { granules };
        for cta in 0..contract.ctas {
            owners.pass_among_cta(cta, contract.warps_per_cta, stream);
        }
        owners
    }

    /// After a barrier of the CTA, any thread may own any of its bytes.
    pub fn pass_among_cta(&mut self, cta: u8, warps: u8, stream: &mut Stream) {
        for granule in self.granules.iter_mut().filter(|granule| granule.cta == cta) {
            granule.owner = match stream.below(8) {
                0 if granule.bytes >= 4 => Owner::Atomics,
                0 | 1 => Owner::Readers,
                _ => {
                    let lane = stream.below(WARP_LANES as u64) as u8;
                    Owner::Thread(stream.below(u64::from(warps)) as u8, lane)
                }
            };
        }
    }

    /// After a barrier of the warp, its threads may own each other's bytes.
    pub fn pass_among_warp(&mut self, cta: u8, warp: u8, stream: &mut Stream) {
        for granule in self.granules.iter_mut().filter(|granule| granule.cta == cta) {
            if matches!(granule.owner, Owner::Thread(of, _) if of == warp) {
                granule.owner = Owner::Thread(warp, stream.below(WARP_LANES as u64) as u8);
            }
        }
    }

    /// A random granule of at least `bytes` bytes in a space that belongs to the CTA, and whose owner is right.
    pub fn pick(
        &self,
        stream: &mut Stream,
        (space, cta, bytes): (LaneSpace, u8, u64),
        is_right: impl Fn(Owner) -> bool,
    ) -> Option<Granule> {
        let fits = |granule: &&Granule| {
            (granule.space, granule.cta) == (space, cta) && granule.bytes >= bytes && is_right(granule.owner)
        };
        let (before, from) = self.granules.split_at(stream.below(self.granules.len() as u64) as usize);
        from.iter().chain(before).find(fits).copied()
    }

    /// The granules of a CTA.
    pub fn of_cta(&self, cta: u8) -> impl Iterator<Item = &Granule> {
        self.granules.iter().filter(move |granule| granule.cta == cta)
    }
}
