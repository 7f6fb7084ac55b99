//! Makes SMs, of types that the compiler knows where the machine has conventional parts.

use std::any::Any;
use std::marker::PhantomData;

use strata_designs::baseline::{SramL1d, SramRegisterFile};
use strata_memory::doors::{L1d, RegisterFile};
use strata_memory::read_only::{ReadOnlyCache, SecondLevel};
use strata_sm::{Doors, Memories, Multiprocessor, Sm, SmConfig, SmParts};

/// Doors with these types behind them.
struct Behind<const EXTRAS: bool, R: ?Sized, L: ?Sized>(PhantomData<(Box<R>, Box<L>)>);

impl<const EXTRAS: bool, R: RegisterFile + ?Sized, L: L1d + ?Sized> Doors for Behind<EXTRAS, R, L> {
    type Registers = R;
    type L1d = L;
    type ReadOnly = ReadOnlyCache;
    const EXTRAS: bool = EXTRAS;
}

/// Makes an SM. Calls of the conventional register file are inlined in it and, beside that, those of the conventional L1D; one of
/// both leaves out what few machines have, where it has none of that. Each combination is a copy of the SM's code, and these are
/// the usual ones.
///
/// # Errors
/// Returns a sentence that names the first bad parameter ([`SmConfig::check`]).
pub fn multiprocessor(
    config: &SmConfig,
    (registers, l1d): (Box<dyn RegisterFile>, Box<dyn L1d>),
    (instructions, constants, second): (ReadOnlyCache, ReadOnlyCache, Option<SecondLevel>),
    parts: SmParts,
) -> Result<Box<dyn Multiprocessor>, String> {
    if !is::<SramRegisterFile>(&*registers) {
        return sm::<true, _, _>(config, Memories { registers, l1d, instructions, constants, second }, parts);
    }
    let registers = known::<SramRegisterFile>(registers);
    if !is::<SramL1d>(&*l1d) {
        return sm::<true, _, _>(config, Memories { registers, l1d, instructions, constants, second }, parts);
    }
    let l1d = known::<SramL1d>(l1d);
    if parts.has_extras(config) || second.is_some() {
        return sm::<true, _, _>(config, Memories { registers, l1d, instructions, constants, second }, parts);
    }
    sm::<false, _, _>(config, Memories { registers, l1d, instructions, constants, second }, parts)
}

fn sm<const EXTRAS: bool, R: RegisterFile + ?Sized, L: L1d + ?Sized>(
    config: &SmConfig,
    memories: Memories<Behind<EXTRAS, R, L>>,
    parts: SmParts,
) -> Result<Box<dyn Multiprocessor>, String> {
    Ok(Box::new(Sm::new(config, memories, parts)?))
}

fn is<T: Any>(part: &dyn Any) -> bool {
    part.is::<T>()
}

fn known<T: Any>(part: Box<dyn Any>) -> Box<T> {
    part.downcast().expect("the part is of this type")
}
