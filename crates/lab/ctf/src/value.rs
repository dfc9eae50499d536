//! What is in a field.

use std::borrow::Cow;
use std::fmt;

use crate::class::{COUNT, Number, Shape};

/// What is in a field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number, and how people read it.
    Number(i128, Number),
    /// Numbers.
    Numbers(Number, &'a [u8]),
    /// A text, which may be anything.
    Text(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Reads all the bytes of a field.
    pub(crate) fn read(shape: Shape, bytes: &'a [u8]) -> Self {
        match shape {
            Shape::Number(number) => Self::Number(integer(number, bytes), number),
            Shape::Array(number, _) => Self::Numbers(number, bytes),
            Shape::Sequence(number) => Self::Numbers(number, bytes.get(COUNT..).unwrap_or_default()),
            Shape::Text(_) | Shape::String => {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                Self::Text(&bytes[..end])
            }
        }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<i128> {
        if let Self::Number(number, _) = self { Some(*number) } else { None }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'a, str>> {
        if let Self::Text(text) = self { Some(String::from_utf8_lossy(text)) } else { None }
    }
}

/// The numbers of an array or a sequence.
pub fn integers(number: Number, bytes: &[u8]) -> impl Iterator<Item = i128> {
    bytes.chunks_exact(number.size().max(1)).map(move |bytes| integer(number, bytes))
}

fn integer(Number { is_signed, .. }: Number, bytes: &[u8]) -> i128 {
    let unsigned = bytes.iter().rev().fold(0_i128, |value, byte| value << 8 | i128::from(*byte));
    let bits = 8 * bytes.len();
    let is_negative = is_signed && bits > 0 && unsigned >> (bits - 1) & 1 == 1;
    if is_negative { unsigned - (1_i128 << bits) } else { unsigned }
}

/// A number as people read it.
fn show(number: Number, value: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if number.is_hex { write!(f, "{value:#x}") } else { write!(f, "{value}") }
}

/// Texts are in quotes, with what cannot be shown escaped.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Number(value, number) => show(number, value, f),
            Self::Numbers(number, bytes) => {
                f.write_str("[")?;
                for (at, value) in integers(number, bytes).enumerate() {
                    f.write_str(if at == 0 { "" } else { ", " })?;
                    show(number, value, f)?;
                }
                f.write_str("]")
            }
            Self::Text(text) => write!(f, "\"{}\"", text.escape_ascii()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_their_shapes_say() {
        let short = Number { bytes: 2, is_signed: true, is_hex: false };
        let address = Number { bytes: 8, is_signed: false, is_hex: true };
        let shown = |shape, bytes: &[u8]| Value::read(shape, bytes).to_string();
        assert_eq!(shown(Shape::Number(short), &[0xfe, 0xff]), "-2");
        assert_eq!(shown(Shape::Number(address), &[0xff; 8]), "0xffffffffffffffff");
        assert_eq!(shown(Shape::Array(short, 2), &[1, 0, 0xff, 0xff]), "[1, -1]");
        assert_eq!(shown(Shape::Sequence(short), &[1, 0, 7, 0]), "[7]");
        assert_eq!(shown(Shape::Text(6), b"ab\0cde"), "\"ab\"");
        assert_eq!(shown(Shape::String, b"a\x1b[31m\"\0"), "\"a\\x1b[31m\\\"\"");
        assert_eq!(Value::read(Shape::Number(short), &[5, 0]).number(), Some(5));
        assert_eq!(Value::read(Shape::Text(2), b"xy").text().as_deref(), Some("xy"));
    }
}
