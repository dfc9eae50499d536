//! Any file given as a module.

#![no_main]

use kernel::modules::modinfo;
use libfuzzer_sys::fuzz_target;

/// The head of a relocatable ELF file for 64-bit x86, up to its entry point.
const HEAD: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0\x01\0\0\0";

fuzz_target!(|input: &[u8]| {
    look(input);
    look(&[HEAD, input].concat());
});

fn look(bytes: &[u8]) {
    if let Ok(info) = modinfo::parse(bytes) {
        for name in info.depends.iter().chain(&info.softdeps).chain(&info.aliases) {
            assert!(modinfo::is_name(name) && !name.contains('/'), "{name:?}");
        }
    }
}
