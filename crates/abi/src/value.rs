//! Pointers to values.

use std::marker::PhantomData;

use crate::{Plain, Refusal};

/// Where a result goes.
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

    /// The place.
    ///
    /// # Errors
    /// Null.
    pub fn place(self) -> Result<Place<T>, E> {
        if self.0.is_null() { Err(E::INVALID_VALUE) } else { Ok(Place(self.0)) }
    }

    /// Writes a result.
    ///
    /// # Errors
    /// Null.
    pub fn put(self, value: T) -> Result<(), E> {
        self.place()?.put(value);
        Ok(())
    }

    /// Writes a result that the client need not want.
    pub fn put_if_wanted(self, value: T) {
        if let Ok(place) = self.place() {
            place.put(value);
        }
    }

    /// Writes results one after the other: no more of them than the client asked for.
    ///
    /// # Errors
    /// Null.
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

/// A place for a result, which is there.
pub struct Place<T>(*mut T);

impl<T> Place<T> {
    /// Writes the result.
    pub fn put(self, value: T) {
        // SAFETY: not null, so valid for a write (see the crate).
        unsafe { self.0.write_unaligned(value) }
    }
}

/// A value, or several in a row.
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

    /// The value.
    ///
    /// # Errors
    /// Null.
    pub fn get(self) -> Result<T, E> {
        self.at(0)
    }

    /// The value at a place in the row, which the function is documented to read.
    ///
    /// # Errors
    /// Null.
    pub fn at(self, index: usize) -> Result<T, E> {
        if self.0.is_null() {
            return Err(E::INVALID_VALUE);
        }
        // SAFETY: not null, so valid for reads of as many values as the function is documented to read (see the crate),
        // and `T` takes every bit pattern.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// Whether there is none.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}
