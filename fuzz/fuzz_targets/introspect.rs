//! Changes in the memory of a small kernel: whatever it says of itself, looking at it ends.

#![no_main]

#[path = "../../crates/machine/introspect/tests/small_kernel/lists.rs"]
mod lists;
#[path = "../../crates/machine/introspect/tests/small_kernel/machine.rs"]
mod machine;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use machine::{Machine, look};

static MACHINE: LazyLock<Machine> = LazyLock::new(Machine::new);

fuzz_target!(|input: &[u8]| {
    let mut machine = MACHINE.clone();
    machine.change(input);
    look(&mut machine);
});
