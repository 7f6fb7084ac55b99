//! Tensor maps: 128 bytes that describe a tensor and the box that one copy moves (CUDA driver API, "Tensor Map Object
//! Management"). The bytes are opaque to programs, so their arrangement is this simulator's own.

use crate::isa::{AtomicOp, Ty};

/// Size of a map.
pub const MAP_BYTES: usize = 128;

/// Most dimensions.
const MOST_DIMENSIONS: usize = 5;

/// Most bytes of a box.
const MOST_BOX_BYTES: u64 = 1 << 18;

/// First bytes of a map, so that other bytes are not taken for one.
const MAGIC: u64 = 0x5ca1_ab1e_7e45_0001;

/// Type of a tensor's elements, by the driver API's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the API's names")]
pub enum Element {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    Bf16,
    F32Ftz,
    Tf32,
    Tf32Ftz,
}

impl Element {
    const ALL: [Element; 13] = [
        Element::U8,
        Element::U16,
        Element::U32,
        Element::S32,
        Element::U64,
        Element::S64,
        Element::F16,
        Element::F32,
        Element::F64,
        Element::Bf16,
        Element::F32Ftz,
        Element::Tf32,
        Element::Tf32Ftz,
    ];

    /// The type that the driver API numbers so (`CUtensorMapDataType`).
    pub fn numbered(number: u32) -> Option<Element> {
        Element::ALL.get(number as usize).copied()
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Element::U8 => 1,
            Element::U16 | Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::S32 | Element::F32 | Element::F32Ftz => 4,
            Element::Tf32 | Element::Tf32Ftz => 4,
            Element::U64 | Element::S64 | Element::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        !matches!(
            self,
            Element::U8 | Element::U16 | Element::U32 | Element::S32 | Element::U64 | Element::S64
        )
    }
}

/// How 16-byte chunks of shared memory change places: by the bits of their address from 7 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    /// They do not.
    None,
    /// Within 32 bytes.
    Of32,
    /// Within 64 bytes.
    Of64,
    /// Within 128 bytes.
    Of128,
}

impl Swizzle {
    const ALL: [Swizzle; 4] = [Swizzle::None, Swizzle::Of32, Swizzle::Of64, Swizzle::Of128];

    /// The swizzle that the driver API numbers so (`CUtensorMapSwizzle`).
    pub fn numbered(number: u32) -> Option<Swizzle> {
        Swizzle::ALL.get(number as usize).copied()
    }

    /// Most bytes that the innermost dimension of a box may have, if it is limited.
    pub const fn span(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::Of32 => Some(32),
            Swizzle::Of64 => Some(64),
            Swizzle::Of128 => Some(128),
        }
    }

    /// Where the byte of a shared address goes.
    pub const fn apply(self, address: u32) -> u32 {
        let mask = match self {
            Swizzle::None => 0,
            Swizzle::Of32 => 1,
            Swizzle::Of64 => 3,
            Swizzle::Of128 => 7,
        };
        address ^ (address >> 7 & mask) << 4
    }
}

/// What elements outside of the tensor read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Zero.
    Zero,
    /// Not a number.
    Nan,
}

/// What is wrong with a map, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError(pub String);

/// A tensor in global memory, and the box that one copy moves. Dimensions count from the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Type of the elements.
    pub element: Element,
    /// Number of dimensions, 1 to 5.
    pub rank: u32,
    /// Where the tensor begins.
    pub base: u64,
    /// Elements in each dimension.
    pub sizes: [u64; 5],
    /// Bytes from an element to the next one in each dimension.
    pub strides: [u64; 5],
    /// The box, in elements of each dimension; with a step, steps are within it.
    pub extent: [u32; 5],
    /// Elements from one that is moved to the next in each dimension.
    pub steps: [u32; 5],
    /// How the box lies in shared memory.
    pub swizzle: Swizzle,
    /// What lies outside.
    pub fill: Fill,
}

impl TensorMap {
    /// Checks a map against the limits of the driver API (`cuTensorMapEncodeTiled`).
    ///
    /// # Errors
    /// The first limit that does not hold.
    pub fn check(&self) -> Result<(), MapError> {
        let refuse = |text: String| Err(MapError(text));
        if !(1..=MOST_DIMENSIONS as u32).contains(&self.rank) {
            return refuse(format!("the rank is {}, expected 1 to 5", self.rank));
        }
        if !self.base.is_multiple_of(16) || self.base == 0 {
            return refuse(format!("the address is {:#x}, expected a multiple of 16", self.base));
        }
        let rank = self.rank as usize;
        for n in 0..rank {
            let (size, extent, step) = (self.sizes[n], self.extent[n], self.steps[n]);
            if !(1..=1 << 32).contains(&size) {
                return refuse(format!("size {n} is {size}, expected 1 to 2^32"));
            }
            if !(1..=256).contains(&extent) {
                return refuse(format!("dimension {n} of the box is {extent}, expected 1 to 256"));
            }
            if !(1..=8).contains(&step) {
                return refuse(format!("element stride {n} is {step}, expected 1 to 8"));
            }
            let stride = self.strides[n];
            if n > 0 && (!stride.is_multiple_of(16) || stride >= 1 << 40) {
                return refuse(format!("stride {n} is {stride}, expected a multiple of 16 below 2^40"));
            }
        }
        let inner = self.extent[0] * self.element.bytes();
        if !inner.is_multiple_of(16) {
            return refuse(format!("a row of the box has {inner} bytes, expected a multiple of 16"));
        }
        if let Some(span) = self.swizzle.span()
            && inner > span
        {
            return refuse(format!(
                "a row of the box has {inner} bytes, expected at most {span} with this swizzle"
            ));
        }
        let whole = (0..rank).try_fold(u64::from(self.element.bytes()), |all, n| {
            all.checked_mul(self.count(n).into()).filter(|bytes| *bytes <= MOST_BOX_BYTES)
        });
        if whole.is_none() {
            return refuse(format!(
                "the box has more than {MOST_BOX_BYTES} bytes, which no shared memory has"
            ));
        }
        if self.fill == Fill::Nan && !self.element.is_float() {
            return refuse("elements outside are not a number, expected zero for integers".into());
        }
        Ok(())
    }

    /// The type by which a reduction combines elements.
    ///
    /// # Errors
    /// When the tensor's elements cannot be combined so.
    pub fn reduced_as(&self, op: AtomicOp) -> Result<Ty, MapError> {
        let ty = match self.element {
            Element::U8 | Element::U16 => None,
            Element::U32 => Some(Ty::U32),
            Element::S32 => Some(Ty::S32),
            Element::U64 => Some(Ty::U64),
            Element::S64 => Some(Ty::S64),
            Element::F16 => Some(Ty::F16),
            Element::Bf16 => Some(Ty::Bf16),
            Element::F32 | Element::F32Ftz | Element::Tf32 | Element::Tf32Ftz => Some(Ty::F32),
            Element::F64 => Some(Ty::F64),
        };
        let fits = |ty: Ty| match op {
            // A GPU has neither sums nor logic of signed 64 bits, nor has the ISA the sums.
            AtomicOp::Add => ty != Ty::S64,
            AtomicOp::Min | AtomicOp::Max => !matches!(ty, Ty::F32 | Ty::F64),
            AtomicOp::Inc | AtomicOp::Dec => ty == Ty::U32,
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => !self.element.is_float() && ty != Ty::S64,
            AtomicOp::Exch | AtomicOp::Cas => false,
        };
        ty.filter(|ty| fits(*ty))
            .ok_or_else(|| MapError(format!("no reduction `{op:?}` of elements of type {:?}", self.element)))
    }

    /// Elements of dimension `n` that a copy moves.
    pub fn count(&self, n: usize) -> u32 {
        // The innermost dimension has no step.
        if n == 0 { self.extent[0] } else { self.extent[n].div_ceil(self.steps[n]) }
    }

    /// Bytes from a row of the box to the next in shared memory: a swizzle has rows of its own length.
    pub fn line_bytes(&self) -> u32 {
        self.swizzle.span().unwrap_or(self.extent[0] * self.element.bytes())
    }

    /// Bytes from the beginning of the box in shared memory to its end.
    pub fn shared_bytes(&self) -> u32 {
        let row = self.extent[0] * self.element.bytes();
        (self.box_bytes() / row - 1) * self.line_bytes() + row
    }

    /// Bytes that a copy moves, those outside of the tensor included.
    pub fn box_bytes(&self) -> u32 {
        (0..self.rank as usize).map(|n| self.count(n)).product::<u32>() * self.element.bytes()
    }

    /// The map as bytes.
    pub fn encode(&self) -> [u8; MAP_BYTES] {
        let mut bytes = [0; MAP_BYTES];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC.to_le_bytes());
        put(&self.base.to_le_bytes());
        let swizzle = Swizzle::ALL.iter().position(|known| *known == self.swizzle).unwrap_or(0);
        put(&[self.element as u8, self.rank as u8, swizzle as u8, u8::from(self.fill == Fill::Nan)]);
        for n in 0..MOST_DIMENSIONS {
            put(&(self.sizes[n].wrapping_sub(1) as u32).to_le_bytes());
            put(&self.strides[n].to_le_bytes());
            put(&[(self.extent[n].wrapping_sub(1)) as u8, self.steps[n] as u8]);
        }
        bytes
    }

    /// The map that bytes are.
    ///
    /// # Errors
    /// When they are none.
    pub fn decode(bytes: &[u8; MAP_BYTES]) -> Result<TensorMap, MapError> {
        let no_map = || MapError("the 128 bytes are no tensor map".into());
        let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("a map has 128 bytes"));
        let wide = |at: usize| u64::from(word(at + 4)) << 32 | u64::from(word(at));
        if wide(0) != MAGIC {
            return Err(no_map());
        }
        let mut map = TensorMap {
            element: Element::numbered(bytes[16].into()).ok_or_else(no_map)?,
            rank: bytes[17].into(),
            base: wide(8),
            sizes: [0; 5],
            strides: [0; 5],
            extent: [0; 5],
            steps: [0; 5],
            swizzle: Swizzle::numbered(bytes[18].into()).ok_or_else(no_map)?,
            fill: if bytes[19] == 0 { Fill::Zero } else { Fill::Nan },
        };
        for n in 0..MOST_DIMENSIONS {
            let at = 20 + 14 * n;
            map.sizes[n] = u64::from(word(at)) + 1;
            map.strides[n] = wide(at + 4);
            map.extent[n] = u32::from(bytes[at + 12]) + 1;
            map.steps[n] = bytes[at + 13].into();
        }
        map.check()?;
        Ok(map)
    }
}
