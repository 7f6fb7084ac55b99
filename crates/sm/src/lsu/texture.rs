//! The texture unit: from coordinates to texels through the L1D, and from texels to results.
//!
//! ```text
//!          passes, then address_latency        one access a cycle            filter_latency     writeback_latency
//!   begin ------------------------------> first access offered ... last one --------------> end ----------> write-back
//! ```
//!
//! The unit takes the lanes of a fetch a few at a time: a pass for every `lanes_per_cycle` active lanes and every
//! `texels_per_cycle` texels of a lane. Fetches pass one after the other. Their texels are read through the L1D as weak
//! loads: those of all lanes in one segment make one access. The L1D takes one access a cycle, in turn of the texture unit
//! and the rest of the load/store unit where both have one. When the last texel is here, the results are filtered from the
//! bytes that came.

use std::sync::Arc;

use strata_engine::{Cycle, DelayLine};
use strata_memory::{Address, ByteMask, Line};
use strata_ptx::isa::TextureFetch;
use strata_ptx::lanes::{LaneMask, Row, WARP_LANES, lanes_of};
use strata_ptx::texture::filter::resolve;
use strata_ptx::texture::{Footprint, Header, Headers, MAX_TEXEL_BYTES, MAX_TEXELS};

use super::coalesce::Group;
use super::config::TextureConfig;
use super::entry::Place;
use crate::launch::Launch;

/// What the unit knows of a fetch in flight. Large, and never moved.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The instruction; none for a query.
    what: Option<TextureFetch>,
    /// By lane: place of its texture among the launch's headers.
    headers: [u32; WARP_LANES],
    footprints: [Footprint; WARP_LANES],
    /// By texel: lanes whose bytes are still to be asked for.
    left: [LaneMask; MAX_TEXELS],
    texels: [[[u8; MAX_TEXEL_BYTES]; MAX_TEXELS]; WARP_LANES],
}

impl Fetch {
    const EMPTY: Fetch = Fetch {
        what: None,
        headers: [0; WARP_LANES],
        footprints: [Footprint::EMPTY; WARP_LANES],
        left: [0; MAX_TEXELS],
        texels: [[[0; MAX_TEXEL_BYTES]; MAX_TEXELS]; WARP_LANES],
    };

    /// Becomes a query, which reads no texels.
    pub fn begin_query(&mut self) {
        self.what = None;
        self.left = [0; MAX_TEXELS];
    }

    /// Becomes a fetch whose lanes are still to be put in.
    pub fn begin(&mut self, what: TextureFetch) {
        self.what = Some(what);
        self.left = [0; MAX_TEXELS];
    }

    /// What a lane reads, of the texture at a place among the launch's headers.
    pub fn put(&mut self, lane: usize, header: usize, footprint: Footprint) {
        self.headers[lane] = header as u32;
        self.footprints[lane] = footprint;
        for (texel, left) in self.left.iter_mut().enumerate() {
            *left |= LaneMask::from(footprint.inside >> texel & 1) << lane;
        }
    }

    /// Most texels of a lane.
    fn most_texels(&self, lanes: LaneMask) -> u32 {
        if self.what.is_none() {
            return 1;
        }
        lanes_of(lanes).map(|lane| self.footprints[lane].texels.into()).max().unwrap_or(1)
    }

    /// Whether bytes are still to be asked for.
    #[inline]
    pub fn has_left(&self) -> bool {
        self.left.iter().fold(0, |any, lanes| any | lanes) != 0
    }

    /// Texels that are read.
    fn count(&self) -> u64 {
        self.left.iter().map(|lanes| u64::from(lanes.count_ones())).sum()
    }

    /// Takes the next access: all texels left in the segment of the first. Also the segment's address, and the bytes that
    /// lanes ask for. Call while there are some left.
    pub fn next_group(&mut self, segment_bytes: usize) -> (Group, u64, u64) {
        let first = self.left.iter().position(|lanes| *lanes != 0).expect("texels are left");
        let lane = self.left[first].trailing_zeros() as usize;
        let mask = !(segment_bytes as u64 - 1);
        let segment = self.footprints[lane].addresses[first] & mask;
        let line = Address(segment).line();
        let mut group = Group { line, bytes: ByteMask::NONE, lanes: 0 };
        let mut requested = 0;
        for (texel, left) in self.left.iter_mut().enumerate().skip(first) {
            for lane in lanes_of(*left) {
                let footprint = &self.footprints[lane];
                let address = footprint.addresses[texel];
                if address & mask == segment {
                    let bytes = usize::from(footprint.bytes);
                    group.bytes |= ByteMask::range(Address(address).offset(), bytes);
                    group.lanes |= 1 << lane;
                    requested += bytes as u64;
                    *left &= !(1 << lane);
                }
            }
        }
        (group, segment, requested)
    }

    /// Takes the bytes of an access: those of every texel in its segment.
    pub fn take(&mut self, line: &Line, segment: u64, segment_bytes: usize, lanes: LaneMask) {
        let mask = !(segment_bytes as u64 - 1);
        for lane in lanes_of(lanes) {
            let footprint = &self.footprints[lane];
            for texel in 0..usize::from(footprint.texels) {
                let address = footprint.addresses[texel];
                if footprint.inside >> texel & 1 == 1 && address & mask == segment {
                    let (at, bytes) = (Address(address).offset(), usize::from(footprint.bytes));
                    self.texels[lane][texel][..bytes].copy_from_slice(&line.0[at..at + bytes]);
                }
            }
        }
    }
}

/// The texture unit of an SM.
#[derive(Clone, Debug)]
pub struct TextureUnit {
    /// By place of the instruction; made when first used.
    fetches: Vec<Fetch>,
    headers: Arc<Headers>,
    /// Fetches with texels to be asked for, oldest first.
    pub queue: DelayLine<Place>,
    /// Fetches whose results are being filtered.
    pub filtering: DelayLine<Place>,
    /// When the unit can take the next fetch.
    free_at: Cycle,
    lanes_per_cycle: u32,
    texels_per_cycle: u32,
    filter_latency: u64,
}

impl TextureUnit {
    /// For so many instructions in flight.
    pub fn new(config: &TextureConfig, instructions: usize) -> TextureUnit {
        TextureUnit {
            fetches: Vec::new(),
            headers: Arc::default(),
            queue: DelayLine::growing(instructions),
            filtering: DelayLine::growing(instructions),
            free_at: Cycle::ZERO,
            lanes_per_cycle: *config.lanes_per_cycle,
            texels_per_cycle: *config.texels_per_cycle,
            filter_latency: u64::from(*config.filter_latency_cycles),
        }
    }

    /// Makes ready for a launch.
    pub fn prepare(&mut self, launch: &Launch) {
        self.headers = launch.headers.clone();
    }

    /// The fetch of the instruction at a place.
    #[inline]
    pub fn get_mut(&mut self, place: Place) -> &mut Fetch {
        let place = usize::from(place);
        if place >= self.fetches.len() {
            self.fetches.resize(place + 1, Fetch::EMPTY);
        }
        &mut self.fetches[place]
    }

    /// Lines a fetch up behind the others: its first access is made after its passes and `address_latency`. Returns its
    /// passes and texels.
    pub fn push(&mut self, place: Place, lanes: LaneMask, now: Cycle, address_latency: u64) -> (u64, u64) {
        let fetch = &self.fetches[usize::from(place)];
        let passes = lanes.count_ones().div_ceil(self.lanes_per_cycle)
            * fetch.most_texels(lanes).div_ceil(self.texels_per_cycle);
        let texels = fetch.count();
        let passes = u64::from(passes);
        self.free_at = self.free_at.max(now) + passes;
        let ready = self.free_at + (address_latency - 1);
        self.queue.push(ready, place).expect("the queue has room for every instruction in flight");
        (passes, texels)
    }

    /// A fetch has all its bytes: its results follow after the filter's latency.
    pub fn filter(&mut self, place: Place, now: Cycle) {
        self.filtering
            .push(now + self.filter_latency, place)
            .expect("there is room for every instruction in flight");
    }

    /// The results of a fetch, row by row. Those of a query are in the rows already.
    pub fn results(&self, place: Place, lanes: LaneMask, rows: &mut [Row]) {
        let fetch = &self.fetches[usize::from(place)];
        let Some(what) = &fetch.what else { return };
        for lane in lanes_of(lanes) {
            let Header::Texture(texture) = self.headers.at(fetch.headers[lane] as usize) else {
                unreachable!("only textures are fetched from")
            };
            let results = resolve(texture, what, &fetch.footprints[lane], &fetch.texels[lane]);
            for (row, result) in rows.iter_mut().zip(results) {
                row.0[lane] = result;
            }
        }
    }
}
