//! Anything on the console: lines are the same however they are cut, bounded, and harmless on a terminal.

#![no_main]

use console::Console;
use libfuzzer_sys::fuzz_target;

/// As long as a line may become: its bytes may each be replaced by a character of three.
const LINE_MAX: usize = 3 * 2048;

fuzz_target!(|input: &[u8]| {
    let (mut whole, mut parts) = (Console::default(), Console::default());
    let lines = whole.feed(input);
    let step = input.first().map_or(1, |&byte| usize::from(byte) + 1);
    let pieces: Vec<String> = input.chunks(step).flat_map(|piece| parts.feed(piece)).collect();
    assert_eq!(lines, pieces, "cut into pieces of {step}");
    assert_eq!(whole.last_words(), parts.last_words());
    assert_eq!(whole.is_over(), parts.is_over());
    assert_eq!(whole.lines(), lines.len() as u64);
    for line in lines.iter().chain(&whole.finish()) {
        assert!(line.len() <= LINE_MAX, "{} bytes", line.len());
        assert!(!line.chars().any(|c| c.is_control() && c != '\t'), "{line:?}");
    }
    assert!(whole.tail(usize::MAX).len() <= 100);
});
