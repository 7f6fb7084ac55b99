//! Objects behind handles that a client cannot forge into anything harmful.
//!
//! A handle has the form of a pointer but is a number made of the kind of object, the generation of its slot,
//! and the slot. Its upper bits make it an invalid address, so a client that dereferences it faults
//! immediately.

use std::marker::PhantomData;

use crate::status::Status;

/// A type of object that clients hold by handle.
pub trait Object {
    /// Distinguishes its handles from those of other types: 1 to 127.
    const KIND: u8;
    /// The status for a handle of the wrong type, or of an object that no longer exists.
    const MISSING: Status = Status::InvalidHandle;
}

/// A handle as clients see it.
#[repr(transparent)]
pub struct Handle<T> {
    bits: u64,
    object: PhantomData<fn() -> T>,
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<T> Eq for Handle<T> {}

impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bits.cmp(&other.bits)
    }
}

impl<T> std::fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.bits)
    }
}

impl<T> Handle<T> {
    /// The null handle.
    pub const NULL: Handle<T> = Handle::from_bits(0);

    /// A handle from the bits that a client passed.
    pub const fn from_bits(bits: u64) -> Self {
        Handle { bits, object: PhantomData }
    }

    /// The bits to pass to clients.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// Whether this is the null handle.
    pub fn is_null(self) -> bool {
        self.bits == 0
    }
}

/// Bits of a slot's number; above them are 24 bits of generation, then the kind.
const PLACE_BITS: u32 = 32;
const KIND_SHIFT: u32 = 56;
const GENERATIONS: u32 = 1 << (KIND_SHIFT - PLACE_BITS);

struct Place<T> {
    generation: u32,
    object: Option<T>,
}

/// All objects of one type.
pub struct Table<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { places: Vec::new(), free: Vec::new() }
    }
}

impl<T: Object> Table<T> {
    /// Stores an object and returns its handle.
    pub fn insert(&mut self, object: T) -> Handle<T> {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, object: None });
            self.places.len() as u32 - 1
        });
        let kept = &mut self.places[place as usize];
        kept.object = Some(object);
        Self::handle(place, kept.generation)
    }

    fn handle(place: u32, generation: u32) -> Handle<T> {
        let bits = u64::from(T::KIND) << KIND_SHIFT | u64::from(generation) << PLACE_BITS;
        Handle::from_bits(bits | u64::from(place))
    }

    fn find(&self, handle: Handle<T>) -> Option<usize> {
        let place = handle.bits as u32;
        let kept = self.places.get(place as usize)?;
        (kept.object.is_some() && Self::handle(place, kept.generation) == handle).then_some(place as usize)
    }

    /// Whether a handle refers to an object.
    pub fn has(&self, handle: Handle<T>) -> bool {
        self.find(handle).is_some()
    }

    /// The object of a handle.
    pub fn get(&self, handle: Handle<T>) -> Result<&T, Status> {
        self.find(handle).and_then(|place| self.places[place].object.as_ref()).ok_or(T::MISSING)
    }

    /// The object of a handle, mutable.
    pub fn get_mut(&mut self, handle: Handle<T>) -> Result<&mut T, Status> {
        let place = self.find(handle).ok_or(T::MISSING)?;
        self.places[place].object.as_mut().ok_or(T::MISSING)
    }

    /// Removes and returns an object; its handle becomes invalid.
    pub fn remove(&mut self, handle: Handle<T>) -> Result<T, Status> {
        let place = self.find(handle).ok_or(T::MISSING)?;
        let kept = &mut self.places[place];
        let object = kept.object.take().ok_or(T::MISSING)?;
        kept.generation = (kept.generation + 1) % GENERATIONS;
        self.free.push(place as u32);
        Ok(object)
    }

    /// Iterates over handles and objects.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &T)> {
        self.places.iter().zip(0..).filter_map(|(kept, place)| {
            kept.object.as_ref().map(|object| (Self::handle(place, kept.generation), object))
        })
    }

    /// Removes all objects that satisfy a predicate.
    pub fn remove_all(&mut self, mut which: impl FnMut(&T) -> bool) -> Vec<T> {
        let gone: Vec<_> =
            self.iter().filter(|(_, object)| which(object)).map(|(handle, _)| handle).collect();
        gone.into_iter().filter_map(|handle| self.remove(handle).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Object for &str {
        const KIND: u8 = 1;
    }

    impl Object for u8 {
        const KIND: u8 = 2;
    }

    #[test]
    fn null_freed_and_foreign_handles_are_nothing() {
        let mut words = Table::default();
        let mut numbers = Table::default();
        let (a, n) = (words.insert("a"), numbers.insert(1_u8));
        assert_eq!(words.get(a), Ok(&"a"));
        assert_eq!(words.get(Handle::from_bits(n.bits())), Err(Status::InvalidHandle));
        assert_eq!(words.get(Handle::NULL), Err(Status::InvalidHandle));
        assert_eq!(words.get(Handle::from_bits(a.bits() + 1)), Err(Status::InvalidHandle));
        assert_eq!(words.remove(a), Ok("a"));
        assert_eq!(words.remove(a), Err(Status::InvalidHandle));
        let b = words.insert("b");
        assert_ne!(a, b, "the place is used again, the handle is not");
        assert!(words.get(a).is_err() && words.has(b));
        assert!(b.bits() >> 47 != 0, "no address of a process");
    }
}
