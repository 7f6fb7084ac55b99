//! Tables of functions beside the documented ones, which `cuGetExportTable` hands out. The CUDA runtime that compilers
//! link into programs, and libraries that bring it, ask for them.
//!
//! The vendor does not document them. UUIDs, places and meanings of functions are those that public descriptions agree
//! on (ZLUDA's `dark_api` above all), checked with the runtimes of 11.8, 12.9 and 13.5. A function that is not known fails
//! and is named once on standard error.

mod checks;
mod contexts;
mod hooks;
mod integrity;
mod runtime;
mod storage;
mod thread;

use crate::asked::{self, Asked};
use crate::log::{self, Level};
use crate::status::Status;

/// Identifies a table.
type Uuid = [u8; 16];

/// What programs know a table by, and what they get.
struct Table {
    name: &'static str,
    uuid: Uuid,
    slots: &'static [Slot],
}

/// All tables.
const TABLES: &[&Table] = &[
    &runtime::TABLE,
    &hooks::TABLE,
    &thread::TABLE,
    &storage::TABLE,
    &checks::TABLE,
    &integrity::TABLE,
    &contexts::TABLE,
];

/// A table that every runtime since 12 asks for and none needs; drivers before that had none.
const OPTIONAL: Uuid = 0xf8cf_f951_2146_8b4e_b9e2_fb46_9e7c_0dd9_u128.to_be_bytes();

/// The table that a program asks for.
pub fn find(uuid: Uuid) -> Option<*const ()> {
    if let Some(table) = TABLES.iter().find(|table| table.uuid == uuid) {
        log::say(Level::Calls, || format!("cuGetExportTable: the {}", table.name));
        return Some(table.slots.as_ptr().cast());
    }
    let unknown = format!("cuGetExportTable: the table {} is not supported", written(uuid));
    if uuid == OPTIONAL {
        log::say(Level::Calls, || unknown);
    } else {
        log::once(unknown);
    }
    None
}

/// A UUID in groups of digits.
fn written(uuid: Uuid) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let groups = [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]];
    groups.map(digits).join("-")
}

/// An element of a table: a function, the table's size in bytes, or its end.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Slot(*const ());

// SAFETY: a number or the address of a function; nobody writes through it.
#[allow(unsafe_code)]
unsafe impl Sync for Slot {}

impl Slot {
    /// The end of a table that does not start with its size.
    const END: Slot = Slot(std::ptr::null());

    /// The size of a table of so many slots.
    const fn size(slots: usize) -> Slot {
        Slot(std::ptr::without_provenance(slots * size_of::<Slot>()))
    }
}

/// A table's name, for functions that are the same in all.
trait Named {
    const NAME: &'static str;
}

/// Fails: what the function at this place does is not known.
extern "C" fn unsupported<T: Named, const SLOT: usize>() -> Status {
    let name = format!("function {SLOT} of the {}", T::NAME);
    log::once(format!("{name} is not supported"));
    asked::note(Asked::Unsupported, &name);
    Status::NotSupported
}

/// Makes a file's table: its name and UUID, what its first slot holds, its functions with their places, and the places
/// of those that are not known.
macro_rules! table {
    (
        $title:literal, $uuid:expr, $first:expr, $slots:literal slots;
        $($(#[$doc:meta])* $place:literal $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*
        $(unsupported $($unknown:literal)*;)?
    ) => {
        $(
            $(#[$doc])*
            extern "C" fn $name($($arg: $ty),*) -> $crate::status::Status {
                let name = concat!($title, ", ", stringify!($name));
                let default = $crate::current::Default::Legacy;
                $crate::api::answer(name, default, move || -> $crate::status::Answer { $body })
            }
        )*

        #[allow(dead_code, reason = "a table may know all its functions")]
        struct This;

        impl $crate::api::tables::Named for This {
            const NAME: &'static str = $title;
        }

        static SLOTS: [$crate::api::tables::Slot; $slots] = {
            use $crate::api::tables::Slot;
            let mut slots = [$first; $slots];
            $(slots[$place] = Slot($name as *const ());)*
            $($(slots[$unknown] = Slot($crate::api::tables::unsupported::<This, $unknown> as *const ());)*)?
            slots
        };

        /// The table.
        pub static TABLE: $crate::api::tables::Table =
            $crate::api::tables::Table { name: $title, uuid: $uuid, slots: &SLOTS };
    };
}
use table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_a_size_a_function_or_the_end() {
        for Table { name, slots, .. } in TABLES {
            let addresses: Vec<usize> = slots.iter().map(|slot| slot.0.addr()).collect();
            let functions = if addresses[0] == size_of_val(*slots) {
                &addresses[1..]
            } else {
                addresses.strip_suffix(&[0]).unwrap_or_else(|| panic!("{name} has neither a size nor an end"))
            };
            assert!(functions.iter().all(|address| *address > 1 << 16), "{name}: {functions:x?}");
        }
    }

    #[test]
    fn tables_are_found_by_what_their_uuids_say() {
        let runtime = 0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9_u128.to_be_bytes();
        assert_eq!(find(runtime), Some(runtime::TABLE.slots.as_ptr().cast()));
        assert_eq!(written(runtime), "6bd5fb6c-5bf4-e74a-8987-d93912fd9df9");
        assert_eq!(find(OPTIONAL), None);
        assert_eq!(find([0; 16]), None);
    }
}
