//! The wire format of Protocol Buffers (<https://protobuf.dev/programming-guides/encoding/>), as far as it is needed.

/// A message, or fields of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Message(Vec<u8>);

/// How a field is encoded.
const VARINT: u32 = 0;
const LENGTH: u32 = 2;

impl Message {
    /// Adds a number of any integer type; a negative one has 64 bits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers have 64 bits at most"
    )]
    pub(super) fn number(&mut self, field: u32, value: i128) {
        self.varint(u64::from(field << 3 | VARINT));
        self.varint(value as u64);
    }

    /// Adds a text, with what is no UTF-8 replaced.
    pub(super) fn text(&mut self, field: u32, text: &[u8]) {
        self.bytes_of(field, String::from_utf8_lossy(text).as_bytes());
    }

    /// Adds a message.
    pub(super) fn message(&mut self, field: u32, message: &Self) {
        self.bytes_of(field, &message.0);
    }

    /// Adds the fields of another part of the same message.
    pub(super) fn append(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_of(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field << 3 | LENGTH));
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_as_the_documentation_of_the_format_shows() {
        let mut inner = Message::default();
        inner.number(1, 150);
        assert_eq!(inner.bytes(), [0x08, 0x96, 0x01]);
        let mut outer = Message::default();
        outer.text(2, b"testing");
        outer.message(3, &inner);
        let expected = [&[0x12, 0x07][..], b"testing", &[0x1a, 0x03, 0x08, 0x96, 0x01]].concat();
        assert_eq!(outer.bytes(), expected);
        let mut negative = Message::default();
        negative.number(1, -1);
        assert_eq!(negative.bytes(), [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }
}
