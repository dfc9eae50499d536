//! Any text in place of `/proc/kallsyms`: symbols are in order, found, and harmless on a terminal.

#![no_main]

use libfuzzer_sys::fuzz_target;
use measure::profile::Symbols;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let symbols = Symbols::parse(&text);
    assert!(symbols.len() <= text.lines().count());
    for place in 0..symbols.len() {
        let Some(symbol) = symbols.get(place) else { panic!("{place} of {}", symbols.len()) };
        assert_eq!(symbols.find(symbol.address), Some(place));
        assert!(!symbol.name.chars().any(char::is_control), "{:?}", symbol.name);
    }
});
