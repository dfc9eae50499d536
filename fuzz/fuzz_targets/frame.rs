//! Anything on the control port: frames are read the same however they are cut, and nothing grows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::frame::FRAME_MAX;
use protocol::{Decoded, Decoder, FromAgent};

fuzz_target!(|input: &[u8]| {
    let whole: Vec<Decoded<FromAgent>> = Decoder::default().feed(input);
    let mut decoder = Decoder::default();
    let step = input.first().map_or(1, |&byte| usize::from(byte) + 1);
    let pieces: Vec<Decoded<FromAgent>> = input.chunks(step).flat_map(|piece| decoder.feed(piece)).collect();
    assert_eq!(whole, pieces, "cut into pieces of {step}");
    for found in &whole {
        if let Decoded::Garbage(length) = found {
            assert!((1..=input.len()).contains(length), "{length} bytes of garbage in {}", input.len());
        }
    }
    // Every frame ends with a delimiter, so there are no more of them than of those.
    assert!(whole.len() <= input.iter().filter(|&&byte| byte == 0).count());
    assert!(input.len() <= FRAME_MAX || whole.iter().all(|found| !is_longer_than_a_frame(found)));
});

/// Whether a message holds more text than its frame could carry.
fn is_longer_than_a_frame(found: &Decoded<FromAgent>) -> bool {
    matches!(found, Decoded::Message(FromAgent::Output { text, .. }) if text.len() > FRAME_MAX)
}
