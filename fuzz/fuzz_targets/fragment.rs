//! Any fragment of a configuration. The parser is private to its crate, so its source is taken in here.

#![no_main]
#![expect(dead_code, reason = "only what reads fragments is called")]

#[path = "../../crates/source/kernel/src/kconfig/error.rs"]
mod error;
#[path = "../../crates/source/kernel/src/kconfig/fragment.rs"]
mod fragment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match fragment::parse("fuzz", &text) {
        Ok(found) => {
            // What is written for make must be read again as the same.
            let written: String = found.iter().map(|assignment| format!("{assignment}\n")).collect();
            let again = fragment::parse("fuzz", &written).unwrap_or_default();
            let same = |(a, b): (&fragment::Assignment, &fragment::Assignment)| {
                a.name == b.name && a.wanted == b.wanted
            };
            assert!(found.len() == again.len() && found.iter().zip(&again).all(same), "{written}");
            assert_eq!(fragment::combine([found.clone(), again]).len(), found.len());
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() < 4000, "{message:?}");
        }
    }
});
