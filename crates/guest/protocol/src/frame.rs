//! How messages travel over the control port.
//!
//! A frame is a sequence number, a check sum and a message, in the binary form of postcard, wrapped by
//! COBS so that a zero byte stands only between frames. It is as short as can be: on an emulated serial
//! line every byte costs the host a system call.
//!
//! Any process of the guest can write on the port, so the reader takes nothing for granted: a frame
//! must carry the next number and a check sum over key, number and message; every other byte is
//! garbage, which is counted and never interpreted.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Longest frame that is read, in bytes.
pub const FRAME_MAX: usize = 64 * 1024;

/// What stands between frames.
const DELIMITER: u8 = 0;

/// What a frame carries besides the message.
#[derive(Serialize, Deserialize)]
struct Head {
    sequence: u64,
    check: u32,
}

/// Writes frames.
#[derive(Debug, Clone, Copy, Default)]
pub struct Encoder {
    key: u64,
    sequence: u64,
}

impl Encoder {
    /// A writer that goes on where another one has sent `frames` frames.
    #[must_use]
    pub fn after(frames: u64) -> Self {
        Self { sequence: frames, ..Self::default() }
    }

    /// How many frames have been sent.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.sequence
    }

    /// From now on frames carry `key`.
    pub fn set_key(&mut self, key: u64) {
        self.key = key;
    }

    /// The frame of `message`, with the delimiters around it.
    ///
    /// # Errors
    ///
    /// When `message` has no binary form.
    pub fn encode<T: Serialize>(&mut self, message: &T) -> postcard::Result<Vec<u8>> {
        let body = postcard::to_stdvec(message)?;
        let sequence = self.sequence;
        self.sequence += 1;
        let head = Head { sequence, check: check_sum(self.key, sequence, &body) };
        let mut frame = postcard::to_stdvec(&head)?;
        frame.extend(body);
        // The leading delimiter closes whatever a stranger left on the port.
        let mut wire = vec![DELIMITER];
        wire.extend(cobs::encode_vec(&frame));
        wire.push(DELIMITER);
        Ok(wire)
    }
}

/// What the reader found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded<T> {
    /// A message.
    Message(T),
    /// This many bytes were no frame.
    Garbage(usize),
    /// A frame with a wrong number, key or check sum: damaged, lost or forged.
    Forged(String),
}

/// Reads frames from bytes as they arrive.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    key: u64,
    sequence: u64,
    part: Vec<u8>,
    overflow: usize,
}

impl Decoder {
    /// A reader of whoever has sent `frames` frames already.
    #[must_use]
    pub fn after(frames: u64) -> Self {
        Self { sequence: frames, ..Self::default() }
    }

    /// How many frames have been sent, as far as was read.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.sequence
    }

    /// From now on only frames with `key` are taken.
    pub fn set_key(&mut self, key: u64) {
        self.key = key;
    }

    /// Takes `bytes` and gives what they completed. Never keeps more than [`FRAME_MAX`] bytes.
    pub fn feed<T: DeserializeOwned>(&mut self, bytes: &[u8]) -> Vec<Decoded<T>> {
        let mut found = Vec::new();
        for &byte in bytes {
            if byte == DELIMITER {
                self.end_of_frame(&mut found);
            } else if self.part.len() < FRAME_MAX {
                self.part.push(byte);
            } else {
                self.overflow += 1;
            }
        }
        found
    }

    fn end_of_frame<T: DeserializeOwned>(&mut self, found: &mut Vec<Decoded<T>>) {
        let part = std::mem::take(&mut self.part);
        let overflow = std::mem::take(&mut self.overflow);
        if part.is_empty() {
            return;
        }
        let frame = cobs::decode_vec(&part).unwrap_or_default();
        match postcard::take_from_bytes::<Head>(&frame) {
            Ok((head, body)) if overflow == 0 => self.accept(&head, body, found),
            _ => found.push(Decoded::Garbage(part.len() + overflow)),
        }
    }

    /// A frame that comes after a gap is as good as any other; the gap is told before it.
    fn accept<T: DeserializeOwned>(&mut self, head: &Head, body: &[u8], found: &mut Vec<Decoded<T>>) {
        let sequence = head.sequence;
        if head.check != check_sum(self.key, sequence, body) {
            found.push(Decoded::Forged(format!("frame {sequence} has a wrong check sum")));
            return;
        }
        if sequence < self.sequence {
            found.push(Decoded::Forged(format!("frame {sequence} came twice")));
            return;
        }
        if sequence > self.sequence {
            let missing = sequence - self.sequence;
            found.push(Decoded::Forged(format!("{missing} frames before frame {sequence} are missing")));
        }
        self.sequence = sequence.saturating_add(1);
        found.push(match postcard::from_bytes(body) {
            Ok(message) => Decoded::Message(message),
            Err(error) => Decoded::Forged(format!("frame {sequence} is no message: {error}")),
        });
    }
}

/// CRC-32 (IEEE 802.3, reflected) over key, number and message.
fn check_sum(key: u64, sequence: u64, body: &[u8]) -> u32 {
    let head = [key.to_le_bytes(), sequence.to_le_bytes()].concat();
    !head.iter().chain(body).fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Counts, End, FromAgent, ToAgent};
    use proptest::prelude::*;

    fn pong(nonce: u64) -> FromAgent {
        FromAgent::Pong { nonce }
    }

    #[test]
    fn a_message_survives_the_way() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        let bytes = encoder.encode(&pong(7)).expect("plain data");
        assert_eq!(decoder.feed(&bytes), [Decoded::Message(pong(7))]);
    }

    #[test]
    fn a_frame_with_another_key_is_forged() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        decoder.set_key(1);
        let bytes = encoder.encode(&pong(7)).expect("plain data");
        assert!(matches!(decoder.feed::<FromAgent>(&bytes)[..], [Decoded::Forged(_)]));
    }

    #[test]
    fn a_repeated_frame_is_forged() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        let bytes = encoder.encode(&pong(7)).expect("plain data");
        let found: Vec<Decoded<FromAgent>> = decoder.feed(&[bytes.clone(), bytes].concat());
        assert!(matches!(found[..], [Decoded::Message(_), Decoded::Forged(_)]));
    }

    #[test]
    fn a_lost_frame_is_noticed_and_the_next_one_is_read() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        encoder.encode(&pong(0)).expect("plain data");
        let second = encoder.encode(&pong(1)).expect("plain data");
        let found = decoder.feed::<FromAgent>(&second);
        assert!(matches!(&found[..], [Decoded::Forged(_), Decoded::Message(message)] if *message == pong(1)));
    }

    #[test]
    fn text_before_a_frame_is_garbage_and_the_frame_is_read() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        let bytes = [b"some words.".to_vec(), encoder.encode(&pong(1)).expect("plain data")].concat();
        assert_eq!(decoder.feed(&bytes), [Decoded::Garbage(11), Decoded::Message(pong(1))]);
    }

    #[test]
    fn bytes_without_end_take_no_more_than_the_limit() {
        let mut decoder = Decoder::default();
        for _ in 0..100 {
            assert!(decoder.feed::<FromAgent>(&[b'x'; 4096]).is_empty());
        }
        assert_eq!(decoder.part.len(), FRAME_MAX);
        assert_eq!(decoder.feed::<FromAgent>(&[0]), [Decoded::Garbage(409_600)]);
    }

    #[test]
    fn the_frame_of_a_common_message_is_short() {
        let end = FromAgent::Finished {
            run: 200,
            end: End::Exited(0),
            counts: Counts { pass: 20, ..Counts::default() },
            duration_us: 10_000,
            taint_before: 0,
            taint_after: 0,
            leftovers: Vec::new(),
        };
        assert!(Encoder::default().encode(&end).expect("plain data").len() <= 24);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let mut decoder = Decoder::default();
            for found in decoder.feed::<FromAgent>(&bytes) {
                prop_assert!(!matches!(found, Decoded::Message(_)));
            }
        }

        #[test]
        fn messages_arrive_in_any_pieces(nonces: Vec<u64>, piece in 1usize..40) {
            let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
            let mut bytes = Vec::new();
            for &nonce in &nonces {
                bytes.extend(encoder.encode(&ToAgent::Ping { nonce }).expect("plain data"));
            }
            let found: Vec<Decoded<ToAgent>> = bytes.chunks(piece).flat_map(|c| decoder.feed(c)).collect();
            let sent: Vec<_> = nonces.iter().map(|&nonce| Decoded::Message(ToAgent::Ping { nonce })).collect();
            prop_assert_eq!(found, sent);
        }
    }
}
