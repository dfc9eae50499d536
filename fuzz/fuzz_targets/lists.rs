//! Any list in a module tree.

#![no_main]

use kernel::modules::{lists, modinfo};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let lines = text.lines().count();
    assert!(lists::dependencies(&text).len() <= lines);
    assert!(lists::soft_dependencies(&text).len() <= lines);
    assert!(lists::order(&text).iter().all(|file| file.ends_with(".ko")));
    let pairs = lists::aliases(&text).into_iter().chain(lists::built_in_aliases(&text));
    for name in pairs.flat_map(|(alias, name)| [alias, name]).chain(lists::built_in(&text)) {
        assert!(modinfo::is_name(&name) && !name.contains(['/', '-']), "{name:?}");
    }
});
