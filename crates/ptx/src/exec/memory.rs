//! Addresses and data of memory instructions, as lanes present them.

use super::{Operands, predicate_source};
use crate::ir::window;
use crate::isa::{AsyncCopy, CopySource, Instruction, Space, Ty};
use crate::lanes::{LaneMask, Row, WARP_LANES};

/// The address of every lane (of inactive ones too), offset included.
///
/// Shared, local and parameter addresses are offsets in their space and are taken from the low word of the
/// operand only: so a 32-bit register, a 64-bit register, and a generic address inside the space's window
/// (whose low word is the offset) all mean the same. The other spaces take 64 bits.
#[inline]
pub fn addresses(instruction: &Instruction, operands: &impl Operands, space: Space) -> [u64; WARP_LANES] {
    let lo = operands.source(0, 0);
    match space {
        Space::Shared | Space::Local | Space::Param => {
            let offset = instruction.offset as u32;
            std::array::from_fn(|lane| u64::from(lo.0[lane].wrapping_add(offset)))
        }
        Space::Generic | Space::Global | Space::Const => {
            let hi = operands.source(0, 1);
            let offset = instruction.offset as u64;
            std::array::from_fn(|lane| {
                (u64::from(hi.0[lane]) << 32 | u64::from(lo.0[lane])).wrapping_add(offset)
            })
        }
    }
}

/// Addresses that lie the same distance apart from lane to lane, as those of most instructions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progression {
    /// The address of lane 0.
    pub first: u64,
    /// From each lane to the next.
    pub stride: i64,
}

impl Progression {
    /// The lowest and the highest address, and bits of which those below the alignment of all addresses are 0.
    #[inline]
    pub fn bounds(self) -> (u64, u64, u64) {
        let last = self.first.wrapping_add_signed((WARP_LANES as i64 - 1) * self.stride);
        (self.first.min(last), self.first.max(last), self.first | self.stride.cast_unsigned())
    }

    /// Writes out the address of each lane.
    #[inline]
    pub fn fill(self, addresses: &mut [u64; WARP_LANES]) {
        let stride = self.stride.cast_unsigned();
        // Whole vectors of the host, each from the one before.
        let mut four = [0, 1, 2, 3].map(|lane: u64| self.first.wrapping_add(lane.wrapping_mul(stride)));
        for lanes in addresses.as_chunks_mut().0 {
            *lanes = four;
            four = four.map(|address| address.wrapping_add(stride.wrapping_mul(4)));
        }
    }
}

/// The addresses of the active lanes, if they are a progression: of all lanes, or of some that have one address. Inactive
/// lanes then get that one too.
///
/// `lanes` must not be empty.
#[inline]
pub fn progression(
    instruction: &Instruction,
    operands: &impl Operands,
    space: Space,
    lanes: LaneMask,
) -> Option<Progression> {
    let lo = operands.source(0, 0);
    let (low, stride) = if lanes == LaneMask::MAX {
        let (first, stride) = (lo.0[0], lo.0[1].wrapping_sub(lo.0[0]));
        let expected = |lane: usize| first.wrapping_add(stride.wrapping_mul(lane as u32));
        let bend = (0..WARP_LANES).fold(0, |bend, lane| bend | (lo.0[lane] ^ expected(lane)));
        // The last must follow without wrapping around.
        let last = i64::from(first) + 31 * i64::from(stride.cast_signed());
        if bend != 0 || u32::try_from(last).is_err() {
            return None;
        }
        (first, i64::from(stride.cast_signed()))
    } else {
        (common(lo, lanes)?, 0)
    };
    match space {
        Space::Shared | Space::Local | Space::Param => {
            let first = low.wrapping_add(instruction.offset as u32);
            u32::try_from(i64::from(first) + 31 * stride).ok()?;
            Some(Progression { first: first.into(), stride })
        }
        Space::Generic | Space::Global | Space::Const => {
            let high = common(operands.source(0, 1), lanes)?;
            let first = (u64::from(high) << 32 | u64::from(low)).checked_add_signed(instruction.offset)?;
            first.checked_add_signed(31 * stride)?;
            Some(Progression { first, stride })
        }
    }
}

/// The value that the given lanes of a row share, if they do.
#[inline]
fn common(row: &Row, lanes: LaneMask) -> Option<u32> {
    let value = row.0[lanes.trailing_zeros() as usize % WARP_LANES];
    let differs = if lanes == LaneMask::MAX {
        row.0.iter().fold(0, |any, word| any | (word ^ value))
    } else {
        (0..WARP_LANES)
            .fold(0, |any, lane| any | ((row.0[lane] ^ value) & (lanes >> lane & 1).wrapping_neg()))
    };
    (differs == 0).then_some(value)
}

/// The addresses of the active lanes as a base and 32-bit distances from it; inactive lanes get those of an active
/// one. `None` when the lanes span more than 32 bits, as few programs' do.
///
/// `lanes` must not be empty.
#[inline]
pub fn narrow_addresses(
    instruction: &Instruction,
    operands: &impl Operands,
    space: Space,
    lanes: LaneMask,
) -> Option<(u64, Row)> {
    let lo = of_active(operands.source(0, 0), lanes);
    match space {
        Space::Shared | Space::Local | Space::Param => {
            let offset = instruction.offset as u32;
            Some((0, Row(std::array::from_fn(|lane| lo.0[lane].wrapping_add(offset)))))
        }
        Space::Generic | Space::Global | Space::Const => {
            let hi = of_active(operands.source(0, 1), lanes);
            let first = hi.0[0];
            let differs = hi.0.iter().fold(0, |any, word| any | (word ^ first));
            let (low, high) =
                lo.0.iter().fold((u32::MAX, 0), |(low, high), word| (low.min(*word), high.max(*word)));
            let inside = |word: u32| u32::try_from(i64::from(word).checked_add(instruction.offset)?).ok();
            if differs != 0 || inside(low).is_none() || inside(high).is_none() {
                return None;
            }
            let offset = instruction.offset as u32;
            let distances = std::array::from_fn(|lane| lo.0[lane].wrapping_add(offset));
            Some((u64::from(first) << 32, Row(distances)))
        }
    }
}

/// A row whose inactive lanes have an active lane's value.
#[inline]
fn of_active(row: &Row, lanes: LaneMask) -> Row {
    if lanes == LaneMask::MAX {
        return *row;
    }
    let active = row.0[lanes.trailing_zeros() as usize];
    Row(std::array::from_fn(|lane| {
        let keep = (lanes >> lane & 1).wrapping_neg();
        row.0[lane] & keep | active & !keep
    }))
}

/// Bits of an address in shared memory that count within a CTA. Above them stands, in addresses of a cluster's shared
/// memory, one more than the number of the CTA.
pub const CTA_SHARED_BITS: u32 = 23;

/// An address in the shared memory of a CTA of the cluster; as it is without a number.
#[inline]
pub fn in_cluster(address: u32, rank: Option<u32>) -> u32 {
    let within = address & ((1 << CTA_SHARED_BITS) - 1);
    rank.map_or(address, |rank| (rank + 1) << CTA_SHARED_BITS | within)
}

/// The CTA of the cluster that a shared address names, if it names one, and the address there.
#[inline]
pub fn of_cluster(address: u64) -> (Option<u32>, u64) {
    let within = address & ((1 << CTA_SHARED_BITS) - 1);
    ((address as u32 >> CTA_SHARED_BITS).checked_sub(1), within)
}

/// The space a generic address points into, and the address there.
#[inline]
pub fn resolve(generic: u64) -> (Space, u64) {
    let offset = generic & (window::BYTES - 1);
    match generic & !(window::BYTES - 1) {
        window::SHARED => (Space::Shared, offset),
        window::LOCAL => (Space::Local, offset),
        window::PARAM => (Space::Param, offset),
        _ => (Space::Global, generic),
    }
}

/// Splits the lanes of an access by the space they reach. `addresses` become addresses of their space; the
/// masks are those of global, shared, local and parameter memory.
#[inline]
pub fn split_by_space(
    space: Space,
    addresses: &mut [u64; WARP_LANES],
    lanes: LaneMask,
) -> [(Space, LaneMask); 4] {
    let mut parts = [(Space::Global, 0), (Space::Shared, 0), (Space::Local, 0), (Space::Param, 0)];
    match space {
        Space::Global | Space::Const => parts[0].1 = lanes,
        Space::Shared => parts[1].1 = lanes,
        Space::Local => parts[2].1 = lanes,
        Space::Param => parts[3].1 = lanes,
        Space::Generic => {
            let windows = addresses.iter().fold(0, |any, address| any | u64::from(in_window(*address)));
            if windows == 0 {
                parts[0].1 = lanes;
                return parts;
            }
            for (lane, address) in addresses.iter_mut().enumerate() {
                let (space, inside) = resolve(*address);
                *address = inside;
                let part = match space {
                    Space::Shared => 1,
                    Space::Local => 2,
                    Space::Param => 3,
                    Space::Generic | Space::Global | Space::Const => 0,
                };
                parts[part].1 |= lanes & (1 << lane);
            }
        }
    }
    parts
}

/// Whether a generic address lies in one of the windows.
#[inline]
fn in_window(address: u64) -> bool {
    (window::SHARED..window::PARAM + window::BYTES).contains(&address) && resolve(address).0 != Space::Global
}

/// A loaded element of at most 32 bits as its register holds it.
#[inline(always)]
pub fn extend(ty: Ty, raw: u32) -> u32 {
    match ty {
        Ty::S8 => raw as i8 as u32,
        Ty::S16 => raw as i16 as u32,
        Ty::U8 | Ty::B8 | Ty::Pred => raw & 0xff,
        Ty::U16 | Ty::B16 | Ty::F16 | Ty::Bf16 => raw & 0xffff,
        _ => raw,
    }
}

/// What one access moves: up to 32 bytes a lane, as little-endian words in memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Word w of every lane: bytes `4 w` to `4 w + 3` of the lane's access.
    pub words: [Row; 8],
}

impl Image {
    /// All bytes zero.
    pub const ZERO: Image = Image { words: [Row::ZERO; 8] };
}

/// Words that an access of `elements` elements fills, the last perhaps in part.
#[inline]
pub const fn image_words(ty: Ty, elements: usize) -> usize {
    (ty.bytes() * elements).div_ceil(4)
}

/// Collects the bytes that a store or an atomic sends: `elements` sources from slot `first` on.
pub fn gather(operands: &impl Operands, ty: Ty, first: usize, elements: usize, image: &mut Image) {
    let bytes = ty.bytes();
    if bytes >= 4 {
        for word in 0..image_words(ty, elements) {
            image.words[word] = *operands.source(first + 4 * word / bytes, word % (bytes / 4));
        }
        return;
    }
    for word in 0..image_words(ty, elements) {
        image.words[word] = Row::ZERO;
    }
    let keep = (1 << (8 * bytes)) - 1;
    for element in 0..elements {
        let (word, shift) = (element * bytes / 4, 8 * (element * bytes % 4));
        let source = operands.source(first + element, 0);
        for (mine, value) in image.words[word].0.iter_mut().zip(source.0) {
            *mine |= (value & keep) << shift;
        }
    }
}

/// Writes the loaded bytes to the destinations, each element extended as its type says.
pub fn scatter(operands: &mut impl Operands, ty: Ty, elements: usize, lanes: LaneMask, image: &Image) {
    let bytes = ty.bytes();
    if bytes >= 4 {
        for word in 0..image_words(ty, elements) {
            operands.write(4 * word / bytes, word % (bytes / 4), lanes, &image.words[word]);
        }
        return;
    }
    for element in 0..elements {
        let (word, shift) = (element * bytes / 4, 8 * (element * bytes % 4));
        let row = Row(image.words[word].0.map(|value| extend(ty, value >> shift)));
        operands.write(element, 0, lanes, &row);
    }
}

/// How many bytes of each lane's asynchronous copy come from its source.
pub fn copy_sizes(instruction: &Instruction, operands: &impl Operands, copy: AsyncCopy) -> [u8; WARP_LANES] {
    match copy.source {
        CopySource::Whole => [copy.bytes; WARP_LANES],
        CopySource::Sized => operands.source(2, 0).0.map(|size| size.min(copy.bytes.into()) as u8),
        CopySource::Unless => {
            let ignored = predicate_source(instruction, operands, 2);
            std::array::from_fn(|lane| if ignored >> lane & 1 == 1 { 0 } else { copy.bytes })
        }
    }
}

/// The shared address to which each lane's asynchronous copy goes.
pub fn copy_targets(operands: &impl Operands, copy: AsyncCopy) -> [u64; WARP_LANES] {
    operands.source(1, 0).0.map(|low| u64::from(low.wrapping_add_signed(copy.shared_offset)))
}
