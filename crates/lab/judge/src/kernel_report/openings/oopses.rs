//! What the processor refuses.

use super::Pattern::{Died, Starts};
use super::Role::{Cause, Death};
use super::{Kind, Opening, Title, row};

/// In the order in which they are tried.
pub(super) const TABLE: &[Opening] = &[
    row(
        Kind::Oops,
        Cause,
        Starts("BUG: unable to handle page fault", ""),
        Title::InStack("BUG: unable to handle page fault"),
        "arch/x86/mm/fault.c",
    ),
    row(
        Kind::Oops,
        Cause,
        Starts("BUG: unable to handle kernel", ""),
        Title::InStack("BUG: unable to handle page fault"),
        "arch/x86/mm/fault.c before 5.1",
    ),
    row(
        Kind::Oops,
        Cause,
        Starts("BUG: kernel NULL pointer dereference", ""),
        Title::InStack("BUG: kernel NULL pointer dereference"),
        "arch/x86/mm/fault.c",
    ),
    row(
        Kind::Oops,
        Cause,
        Starts("BUG: Kernel NULL pointer dereference", ""),
        Title::InStack("BUG: kernel NULL pointer dereference"),
        "arch/powerpc/mm/fault.c",
    ),
    row(
        Kind::Oops,
        Cause,
        Starts("Unable to handle kernel NULL pointer dereference", ""),
        Title::InStack("BUG: kernel NULL pointer dereference"),
        "arch/arm64/mm/fault.c, arch/riscv/mm/fault.c",
    ),
    row(
        Kind::Oops,
        Cause,
        Starts("Unable to handle kernel ", " at v"),
        Title::InStack("BUG: unable to handle page fault"),
        "arch/arm64/mm/fault.c, arch/riscv/mm/fault.c",
    ),
    row(
        Kind::Oops,
        Cause,
        Starts("BUG: ", "stack guard page was hit"),
        Title::InStack("BUG: stack guard page was hit"),
        "arch/x86/kernel/traps.c: the stack is full",
    ),
    row(
        Kind::Oops,
        Cause,
        Starts("PANIC: double fault", ""),
        Title::InStack("PANIC: double fault"),
        "arch/x86/kernel/traps.c",
    ),
    row(Kind::Oops, Death, Died, Title::Died, "die(), on all architectures"),
];
