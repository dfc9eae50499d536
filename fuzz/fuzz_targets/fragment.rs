//! Any fragment of a configuration.

#![no_main]

use kconfig::fragment::{self, Assignment};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match fragment::parse("fuzz", &text) {
        Ok(found) => {
            // What is written for make must be read again as the same.
            let written: String = found.iter().map(|assignment| format!("{assignment}\n")).collect();
            let again = fragment::parse("fuzz", &written).unwrap_or_default();
            let same = |(a, b): (&Assignment, &Assignment)| a.name == b.name && a.wanted == b.wanted;
            assert!(found.len() == again.len() && found.iter().zip(&again).all(same), "{written}");
            assert_eq!(fragment::combine([found.clone(), again]).len(), found.len());
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.contains('\n') && message.len() < 4000, "{message:?}");
        }
    }
});
