//! A package's own changelog.

#![no_main]

use kernel::catalogue::releases_in;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let all = releases_in(&text, "0");
    assert!(all.iter().all(|release| !release.version.contains(char::is_whitespace)));
    assert!(all.iter().flat_map(|release| &release.changes).all(|change| !change.contains('\n')));
    let _ = releases_in(&text, "6.1.100-1");
});
