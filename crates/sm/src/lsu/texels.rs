//! Issue of texture and surface instructions.

use strata_engine::Cycle;
use strata_memory::doors::{LaneAction, Policy};
use strata_ptx::exec::{Operands, memory};
use strata_ptx::isa::{CacheOp, Op, SurfaceMode, Ty};
use strata_ptx::lanes::{LaneMask, Row, lanes_of};
use strata_ptx::texture::{Beyond, Header, coordinates, details, footprint, handle, level, place};

use super::address::{Resolver, fault};
use super::coalesce::{self, Shape};
use super::constants::Destination;
use super::entry::{Operation, Place};
use super::instruction::MemoryInstruction;
use super::{Lsu, atomics};
use crate::launch::{Fault, FaultKind, Launch};

impl Lsu {
    /// Accepts a texture or surface instruction. A fault leaves the unit unchanged. Kept out of line so that the path
    /// of common instructions stays short.
    ///
    /// # Errors
    /// Returns the fault of the first lane with a bad handle, a freed image, or an access beyond the surface's edge
    /// or misaligned.
    ///
    /// # Panics
    /// On any other instruction.
    #[inline(never)]
    pub(super) fn issue_texels<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        now: Cycle,
    ) -> Result<(), Fault> {
        let (operation, surface) = match memory.instruction.op {
            Op::Texture(_) | Op::TextureQuery(_) => (Operation::Texture, None),
            Op::SurfaceLoad(mode) => (Operation::Load, Some(mode)),
            Op::SurfaceStore(mode) => (Operation::Store, Some(mode)),
            Op::SurfaceReduce { op, mode } => (Operation::Atomic { op, returns: false }, Some(mode)),
            op => panic!("line {}: {op:?} is not a texture instruction", memory.instruction.line),
        };
        match surface {
            _ if memory.lanes == 0 => self.skip(operation, memory, now),
            None => self.issue_fetch(memory, operands, launch, now),
            Some(mode) => self.issue_surface(memory, operands, launch, (operation, mode), now),
        }
    }

    /// Fills in the fields that every entry has, with no lane on any path yet.
    fn describe(&mut self, memory: &MemoryInstruction<'_>, operation: Operation, now: Cycle) {
        let entry = self.table.vacant();
        entry.operation = operation;
        entry.begin(memory);
        (entry.lanes, entry.issued, entry.policy) = (memory.lanes, now, Policy::Cached);
        entry.lane_action = LaneAction::Pass;
        (entry.global, entry.local, entry.local_left, entry.local_word) = (0, 0, 0, 0);
        (entry.shared, entry.constant, entry.shape) = (0, 0, Shape::Any);
    }

    fn issue_fetch<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        now: Cycle,
    ) -> Result<(), Fault> {
        let bad = |lane, what| fault(memory, launch, lane, FaultKind::Texture { what });
        let headers = &launch.headers;
        let at = self.table.next_place();
        match memory.instruction.op {
            Op::Texture(what) => {
                let fetch = self.textures.get_mut(at);
                fetch.begin(what);
                for lane in lanes_of(memory.lanes) {
                    let found = headers
                        .texture(handle(operands, lane), what.geometry)
                        .map_err(|what| bad(lane, what))?;
                    let Header::Texture(texture) = headers.at(found) else {
                        unreachable!("a texture was asked for")
                    };
                    let place = coordinates(operands, what.geometry.coordinates(), lane);
                    let footprint = footprint(texture, &what, place, details(operands, &what, lane));
                    if footprint.inside != 0 {
                        let whole = (texture.image.base, texture.bytes());
                        check_image(&mut self.resolver, whole, memory, launch, lane)?;
                    }
                    fetch.put(lane, found, footprint);
                }
                let entry = self.table.vacant();
                (entry.ty, entry.vector, entry.width) = (Ty::U32, what.results() as u8, 4);
            }
            Op::TextureQuery(query) => {
                self.textures.get_mut(at).begin_query();
                let entry = self.table.vacant();
                for lane in lanes_of(memory.lanes) {
                    let found = headers.any(handle(operands, lane)).map_err(|what| bad(lane, what))?;
                    entry.image.words[0].0[lane] =
                        headers.at(found).answer(query, level(operands, query, lane));
                }
                (entry.ty, entry.vector, entry.width) = (Ty::U32, 1, 4);
            }
            op => unreachable!("{op:?} fetches nothing"),
        }
        self.describe(memory, Operation::Texture, now);
        self.count(Operation::Texture);
        self.statistics.global_instructions += 1;
        let place = self.table.claim();
        debug_assert!(place == at, "the place that was vacant is claimed");
        self.fences.open(memory.warp);
        if self.read_only == Destination::Global {
            self.statistics.texels += self.textures.get_mut(place).count();
            self.table.get_mut(place).open = 0;
            if !self.load_texels(place, now) {
                self.begin_results(place, now);
            }
            return Ok(());
        }
        self.table.get_mut(place).open = 1;
        self.front += 1;
        let (passes, texels) = self.textures.push(place, memory.lanes, now, self.address_latency);
        self.statistics.texture_cycles += passes;
        self.statistics.texels += texels;
        Ok(())
    }

    /// Takes the texels that a load has brought, and starts the load of the next: one of each lane, where texels are loads of
    /// global memory. Returns false once all are here.
    pub(super) fn load_texels(&mut self, place: Place, now: Cycle) -> bool {
        let entry = self.table.get_mut(place);
        let fetch = self.textures.get_mut(place);
        fetch.take_load(&entry.image.words);
        let Some((lanes, bytes)) = fetch.next_load(&mut entry.addresses) else { return false };
        (entry.global, entry.width, entry.open) = (lanes, bytes, 1);
        entry.lane_action = LaneAction::Load;
        entry.shape = coalesce::shape(&entry.addresses, lanes, bytes.into());
        self.front += 1;
        self.enter_device(place, now + self.address_latency);
        true
    }

    fn issue_surface<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        (operation, mode): (Operation, SurfaceMode),
        now: Cycle,
    ) -> Result<(), Fault> {
        let (bytes, given) = (mode.bytes(), mode.geometry.coordinates());
        let entry = self.table.vacant();
        let mut inside: LaneMask = 0;
        for lane in lanes_of(memory.lanes) {
            let surface = handle(operands, lane);
            let bad = |kind| fault(memory, launch, lane, kind);
            let found = launch.headers.surface(surface, mode.geometry);
            let found = found.map_err(|what| bad(FaultKind::Texture { what }))?;
            let image = launch.headers.at(found).image();
            let address =
                place(image, &mode, coordinates(operands, given, lane)).map_err(|beyond| match beyond {
                    Beyond::Trap => {
                        let what = format!("access beyond the edge of the surface of handle {surface:#x}");
                        bad(FaultKind::Texture { what })
                    }
                    Beyond::Misaligned { byte } => {
                        bad(FaultKind::Misaligned { address: byte, bytes: bytes as u32 })
                    }
                })?;
            if let Some(address) = address {
                check_image(&mut self.resolver, (image.base, image.bytes()), memory, launch, lane)?;
                entry.addresses[lane] = address;
                inside |= 1 << lane;
            }
        }
        if let Operation::Atomic { op, .. } = operation
            && atomics::at_the_line(op, mode.ty).is_none()
        {
            let lane = memory.lanes.trailing_zeros() as usize;
            let what = "an atomic operation of this type on a surface";
            return Err(fault(memory, launch, lane, FaultKind::Unsupported { what }));
        }
        if inside != 0 {
            let active = entry.addresses[inside.trailing_zeros() as usize];
            for (lane, address) in entry.addresses.iter_mut().enumerate() {
                if inside >> lane & 1 == 0 {
                    *address = active;
                }
            }
        }
        match operation {
            // Coordinates outside the surface read as zero.
            Operation::Load => entry.image.words[..bytes.div_ceil(4)].fill(Row::ZERO),
            _ => memory::gather(operands, mode.ty, 1 + given, mode.vector.into(), &mut entry.image),
        }
        self.describe(memory, operation, now);
        let entry = self.table.vacant();
        (entry.ty, entry.vector, entry.width) = (mode.ty, mode.vector, bytes as u8);
        entry.global = inside;
        // Lanes outside the surface repeat another lane's address but keep their own values, so the shape stays
        // `Any`.
        if inside == memory.lanes {
            entry.shape = coalesce::shape(&entry.addresses, inside, bytes as u64);
        }
        let goes_past = matches!(mode.cache, CacheOp::Global | CacheOp::Volatile);
        if goes_past || matches!(operation, Operation::Atomic { .. }) {
            entry.policy = Policy::Bypass;
        }
        self.count(operation);
        self.statistics.global_instructions += 1;
        self.statistics.surface_instructions += 1;
        let place = self.table.claim();
        if inside == 0 {
            self.fences.open(memory.warp);
            self.end(place, now);
        } else {
            self.start(place, now);
        }
        Ok(())
    }
}

/// Checks that all of an image's memory is still allocated; the program may have freed it.
fn check_image(
    resolver: &mut Resolver,
    (base, bytes): (u64, u64),
    memory: &MemoryInstruction<'_>,
    launch: &Launch,
    lane: usize,
) -> Result<(), Fault> {
    if resolver.is_allocated(launch, memory.pc, base, base + bytes) {
        return Ok(());
    }
    let kind = FaultKind::OutOfBounds { address: base, bytes: bytes as u32, space: "texture" };
    Err(fault(memory, launch, lane, kind))
}
