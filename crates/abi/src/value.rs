//! Typed pointers of the client.

use std::marker::PhantomData;

use crate::{Plain, Refusal};

/// A pointer to which a result is written.
#[repr(transparent)]
pub struct Out<T, E>(*mut T, PhantomData<E>);

impl<T, E> Clone for Out<T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for Out<T, E> {}

impl<T, E: Refusal> Out<T, E> {
    pub(crate) fn new(to: *mut T) -> Self {
        Out(to, PhantomData)
    }

    /// Checks the pointer.
    ///
    /// # Errors
    /// If the pointer is null.
    pub fn place(self) -> Result<Place<T>, E> {
        if self.0.is_null() { Err(E::INVALID_VALUE) } else { Ok(Place(self.0)) }
    }

    /// Writes the result.
    ///
    /// # Errors
    /// If the pointer is null.
    pub fn put(self, value: T) -> Result<(), E> {
        self.place()?.put(value);
        Ok(())
    }

    /// Writes the result unless the pointer is null.
    pub fn put_if_wanted(self, value: T) {
        if let Ok(place) = self.place() {
            place.put(value);
        }
    }

    /// Writes consecutive results, at most as many as the client asked for.
    ///
    /// # Errors
    /// If the pointer is null.
    pub fn put_all(self, values: impl IntoIterator<Item = T>) -> Result<(), E> {
        let Place(mut at) = self.place()?;
        for value in values {
            // SAFETY: valid for writes of as many values as the client asked for (see the crate).
            unsafe {
                at.write_unaligned(value);
                at = at.add(1);
            }
        }
        Ok(())
    }
}

impl<T: Plain, E: Refusal> Out<T, E> {
    /// The same place, read before the result is written: a client may have put a number there.
    pub fn before(self) -> In<T, E> {
        In::new(self.0)
    }
}

/// A checked, non-null pointer to a result.
pub struct Place<T>(*mut T);

impl<T> Place<T> {
    /// Writes the result to the client.
    pub fn put(self, value: T) {
        // SAFETY: not null, so valid for a write (see the crate).
        unsafe { self.0.write_unaligned(value) }
    }
}

/// A pointer to one or more consecutive values.
#[repr(transparent)]
pub struct In<T, E>(*const T, PhantomData<E>);

impl<T, E> Clone for In<T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for In<T, E> {}

impl<T: Plain, E: Refusal> In<T, E> {
    pub(crate) fn new(from: *const T) -> Self {
        In(from, PhantomData)
    }

    /// Reads the value.
    ///
    /// # Errors
    /// If the pointer is null.
    pub fn get(self) -> Result<T, E> {
        self.at(0)
    }

    /// Reads the value at an index, which must be within what the function is documented to read.
    ///
    /// # Errors
    /// If the pointer is null.
    pub fn at(self, index: usize) -> Result<T, E> {
        if self.0.is_null() {
            return Err(E::INVALID_VALUE);
        }
        // SAFETY: not null, so valid for reads of as many values as the function is documented to read (see the crate),
        // and `T` takes every bit pattern.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// Whether the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}
