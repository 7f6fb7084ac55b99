//! Identifiers with a type for each kind of thing.

/// Defines a newtype over an unsigned integer as an identifier: `typed_id!(SmId, u16, "...")`.
#[macro_export]
macro_rules! typed_id {
    ($(#[$meta:meta])* $name:ident, $repr:ty) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $repr);

        impl $name {
            /// The identifier as an array index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// # Panics
            /// If the index does not fit; a machine of that size cannot be built.
            #[inline]
            fn from(index: usize) -> Self {
                $name(<$repr>::try_from(index).expect("identifier fits its representation"))
            }
        }
    };
}
