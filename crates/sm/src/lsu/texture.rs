//! The texture unit: turns coordinates into texel reads through the L1D, and texels into filtered results.
//!
//! ```text
//!          passes, then address_latency        one access a cycle            filter or point    writeback_latency
//!   begin ------------------------------> first access offered ... last one --------------> end ----------> write-back
//! ```
//!
//! A fetch takes one pass for every `lanes_per_cycle` active lanes and every `texels_per_cycle` texels per lane;
//! fetches pass one after another. Texels are read through the L1D as weak loads, and all lanes' texels in one
//! segment share an access. The L1D accepts one access per cycle; when both the texture unit and the rest of the
//! load/store unit have one ready, they alternate. Once the last texel has arrived, the results are made of the bytes
//! received: after the filter's latency where a lane blends texels, after that of points where none does.

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

/// State of a fetch in flight. Fetches are large and stay in place for their whole life.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The fetch instruction; `None` for a query.
    what: Option<TextureFetch>,
    /// Per lane: index of its texture among the launch's headers.
    headers: [u32; WARP_LANES],
    footprints: [Footprint; WARP_LANES],
    /// Per texel: lanes whose bytes have yet to be requested.
    left: [LaneMask; MAX_TEXELS],
    /// The texel of each of these lanes that a load of global memory is to bring.
    loading: (usize, LaneMask),
    texels: [[[u8; MAX_TEXEL_BYTES]; MAX_TEXELS]; WARP_LANES],
}

impl Fetch {
    const EMPTY: Fetch = Fetch {
        what: None,
        headers: [0; WARP_LANES],
        footprints: [Footprint::EMPTY; WARP_LANES],
        left: [0; MAX_TEXELS],
        loading: (0, 0),
        texels: [[[0; MAX_TEXEL_BYTES]; MAX_TEXELS]; WARP_LANES],
    };

    /// Resets the state for a query, which reads no texels.
    pub fn begin_query(&mut self) {
        self.what = None;
        self.left = [0; MAX_TEXELS];
    }

    /// Resets the state for a fetch; [`Fetch::put`] then adds its lanes.
    pub fn begin(&mut self, what: TextureFetch) {
        self.what = Some(what);
        self.left = [0; MAX_TEXELS];
    }

    /// Sets what a lane reads: `footprint` of the texture at index `header` of the launch's headers.
    pub fn put(&mut self, lane: usize, header: usize, footprint: Footprint) {
        self.headers[lane] = header as u32;
        self.footprints[lane] = footprint;
        for (texel, left) in self.left.iter_mut().enumerate() {
            *left |= LaneMask::from(footprint.inside >> texel & 1) << lane;
        }
    }

    /// The largest number of texels that any lane reads.
    fn most_texels(&self, lanes: LaneMask) -> u32 {
        if self.what.is_none() {
            return 1;
        }
        lanes_of(lanes).map(|lane| self.footprints[lane].texels.into()).max().unwrap_or(1)
    }

    /// Whether any lane's result is a blend of texels.
    fn blends(&self, lanes: LaneMask) -> bool {
        let is_blend = |lane: usize| self.footprints[lane].texels > 1;
        self.what.is_some_and(|what| what.gather.is_none()) && lanes_of(lanes).any(is_blend)
    }

    /// Whether texels have yet to be requested.
    #[inline]
    pub fn has_left(&self) -> bool {
        self.left.iter().fold(0, |any, lanes| any | lanes) != 0
    }

    /// Number of texels to be read, summed over lanes.
    pub fn count(&self) -> u64 {
        self.left.iter().map(|lanes| u64::from(lanes.count_ones())).sum()
    }

    /// Generates the next access: every remaining texel in the segment of the first one. Returns the access, the
    /// segment's address, and the number of bytes requested, counted per lane.
    ///
    /// # Panics
    /// When no texels remain; ask [`Fetch::has_left`] first.
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

    /// The next texels to be loaded together, of as many lanes as have one of the first's size: fills in their addresses,
    /// other lanes repeating one of them, and returns the lanes and the size in bytes.
    pub fn next_load(&mut self, addresses: &mut [u64; WARP_LANES]) -> Option<(LaneMask, u8)> {
        let texel = self.left.iter().position(|lanes| *lanes != 0)?;
        let first = &self.footprints[self.left[texel].trailing_zeros() as usize];
        let (bytes, repeated) = (first.bytes, first.addresses[texel]);
        addresses.fill(repeated);
        let mut lanes = 0;
        for lane in lanes_of(self.left[texel]).filter(|lane| self.footprints[*lane].bytes == bytes) {
            addresses[lane] = self.footprints[lane].addresses[texel];
            lanes |= 1 << lane;
        }
        self.left[texel] &= !lanes;
        self.loading = (texel, lanes);
        Some((lanes, bytes))
    }

    /// Takes the texels that [`Fetch::next_load`] named last out of the words that their load has brought.
    pub fn take_load(&mut self, words: &[Row; 8]) {
        let (texel, lanes) = std::mem::take(&mut self.loading);
        for lane in lanes_of(lanes) {
            let bytes = self.texels[lane][texel].chunks_exact_mut(4);
            bytes.zip(words).for_each(|(to, from)| to.copy_from_slice(&from.0[lane].to_le_bytes()));
        }
    }

    /// Copies the bytes of every texel of `lanes` that lies in the segment out of a completed access's line.
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
    /// Indexed by the instruction's place; grown on first use.
    fetches: Vec<Fetch>,
    headers: Arc<Headers>,
    /// Fetches with texels left to request, oldest first.
    pub queue: DelayLine<Place>,
    /// Fetches whose results are being filtered.
    filtering: DelayLine<Place>,
    /// Fetches that blend nothing, and queries, on their way to their results.
    points: DelayLine<Place>,
    /// First cycle in which the unit can start another fetch.
    free_at: Cycle,
    lanes_per_cycle: u32,
    texels_per_cycle: u32,
    filter_latency: u64,
    point_latency: u64,
}

impl TextureUnit {
    /// An idle unit for at most `instructions` instructions in flight.
    pub fn new(config: &TextureConfig, instructions: usize) -> TextureUnit {
        TextureUnit {
            fetches: Vec::new(),
            headers: Arc::default(),
            queue: DelayLine::growing(instructions),
            filtering: DelayLine::growing(instructions),
            points: DelayLine::growing(instructions),
            free_at: Cycle::ZERO,
            lanes_per_cycle: *config.lanes_per_cycle,
            texels_per_cycle: *config.texels_per_cycle,
            filter_latency: u64::from(*config.filter_latency_cycles),
            point_latency: u64::from(config.point_latency()),
        }
    }

    /// Loads the launch's texture and surface headers.
    pub fn prepare(&mut self, launch: &Launch) {
        self.headers = launch.headers.clone();
    }

    /// The fetch of the instruction at `place`.
    #[inline]
    pub fn get_mut(&mut self, place: Place) -> &mut Fetch {
        let place = usize::from(place);
        if place >= self.fetches.len() {
            self.fetches.resize(place + 1, Fetch::EMPTY);
        }
        &mut self.fetches[place]
    }

    /// Enqueues a fetch behind earlier ones; it makes its first access after its passes and `address_latency`.
    /// Returns its number of passes and of texels.
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

    /// Starts on the results of a fetch whose texels have all arrived.
    pub fn begin_results(&mut self, place: Place, lanes: LaneMask, now: Cycle) {
        let (line, latency) = if self.fetches[usize::from(place)].blends(lanes) {
            (&mut self.filtering, self.filter_latency)
        } else {
            (&mut self.points, self.point_latency)
        };
        line.push(now + latency, place).expect("there is room for every instruction in flight");
    }

    /// Takes a fetch whose results are there.
    #[inline]
    pub fn next_result(&mut self, now: Cycle) -> Option<Place> {
        self.filtering.pop(now).or_else(|| self.points.pop(now))
    }

    /// The cycle in which the next results are there.
    #[inline]
    pub fn next_event(&self) -> Cycle {
        self.filtering.next_ready().min(self.points.next_ready())
    }

    /// Writes a fetch's results into `rows`, one row per component. A query's results are in the rows
    /// already.
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
