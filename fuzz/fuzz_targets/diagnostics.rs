//! Anything that a build may print.

#![no_main]

use std::path::Path;

use kbuild::diagnostics::{Diagnostics, Severity};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let log = String::from_utf8_lossy(input);
    let lines = log.split(['\n', '\r']).count() as u64;
    let found = Diagnostics::of(&log, Path::new("/src/linux"), Path::new("/src/build"));
    assert!(found.all.iter().map(|it| u64::from(it.count)).sum::<u64>() + found.omitted <= lines);
    let has_error = found.all.iter().any(|it| it.severity == Severity::Error);
    assert_eq!(found.first_error().is_some(), has_error);
    assert!(found.all.iter().all(|it| !it.text.contains('\n')));
});
