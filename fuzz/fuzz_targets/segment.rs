//! Frames of a hostile guest for the switch itself, which answers ARP, DHCP, DNS and echo requests.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segment::{Answers, Mac, Settings};

/// Bytes of an answer at most: that of an echo is as long as what it answers, the others are short.
const ANSWER_MAX: usize = 1000;

// The input is several frames, each after its length in two bytes.
fuzz_target!(|input: &[u8]| {
    let mut settings = Settings::new("fuzz", 1);
    for name in ["a", "b"] {
        assert!(settings.add(name).is_ok());
    }
    let mut answers = Answers::new(&settings);
    let mut rest = input;
    while let Some((length, frames)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes(*length)).min(frames.len());
        let (frame, next) = frames.split_at(length);
        rest = next;
        for port in 0..3 {
            if let Some(answer) = answers.answer(port, frame) {
                check(frame, &answer);
            }
        }
    }
});

fn check(frame: &[u8], answer: &[u8]) {
    assert!(answer.len() <= frame.len().max(ANSWER_MAX), "{} bytes for {}", answer.len(), frame.len());
    assert!(answer.len() >= 14 && answer[6..12] == Mac::SWITCH.0, "{answer:?}");
}
