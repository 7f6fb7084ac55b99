//! Types of elements and arguments, and the numbers a file gives for them.

use crate::{Arg, Element};

/// A number as the file has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => std::fmt::Debug::fmt(value, f),
        }
    }
}

macro_rules! types {
    (int $($int:ident $int_ty:ty),*; float $($float:ident $float_ty:ty),*) => {
        /// The type of an element or argument.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Type { $($int,)* $($float,)* }

        impl Type {
            pub(super) const ALL: &[(&str, Self)] =
                &[$((stringify!($int_ty), Self::$int),)* $((stringify!($float_ty), Self::$float),)*];

            pub(super) fn bytes(self) -> usize {
                match self { $(Self::$int => size_of::<$int_ty>(),)* $(Self::$float => size_of::<$float_ty>(),)* }
            }

            pub(super) fn is_float(self) -> bool {
                match self { $(Self::$int => false,)* $(Self::$float => true,)* }
            }

            /// What the type holds, for an error.
            pub(super) fn values(self) -> String {
                match self {
                    $(Self::$int => format!("an integer from {} to {}", <$int_ty>::MIN, <$int_ty>::MAX),)*
                    $(Self::$float => format!("a number that {} holds", stringify!($float_ty)),)*
                }
            }

            /// Whether the type holds the number; a float type rounds it, but not to infinity.
            pub(super) fn holds(self, number: Number) -> bool {
                match (self, number) {
                    $((Self::$int, Number::Int(value)) => <$int_ty>::try_from(value).is_ok(),)*
                    $((Self::$int, Number::Float(_)) => false,)*
                    $((Self::$float, number) => {
                        let value = number.as_f64();
                        !value.is_finite() || (value as $float_ty).is_finite()
                    })*
                }
            }

            /// Writes a number that the type holds.
            pub(super) fn put(self, number: Number, to: &mut [u8]) {
                match (self, number) {
                    $((Self::$int, Number::Int(value)) => (value as $int_ty).put(to),)*
                    $((Self::$int, Number::Float(value)) => (value as $int_ty).put(to),)*
                    $((Self::$float, number) => (number.as_f64() as $float_ty).put(to),)*
                }
            }

            /// The value of an element.
            pub(super) fn value(self, bytes: &[u8]) -> f64 {
                match self {
                    $(Self::$int => <$int_ty>::get(bytes).to_f64(),)*
                    $(Self::$float => <$float_ty>::get(bytes).to_f64(),)*
                }
            }

            /// An argument of the type, of a number that the type holds.
            pub(super) fn arg(self, number: Number) -> Arg {
                match (self, number) {
                    $((Self::$int, Number::Int(value)) => Arg::$int(value as $int_ty),)*
                    $((Self::$int, Number::Float(value)) => Arg::$int(value as $int_ty),)*
                    $((Self::$float, number) => Arg::$float(number.as_f64() as $float_ty),)*
                }
            }
        }
    };
}

types!(int U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64; float F32 f32, F64 f64);

impl Type {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, ty)| ty)
    }

    /// Every type's name, for an error.
    pub(super) fn names() -> String {
        Self::ALL.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|&&(_, ty)| ty == self).expect("every type is listed").0
    }
}
