//! Wrong use of memory and of C, which sanitizers and the allocator find.

use super::Pattern::Starts;
use super::Role::{Alone, Cause, Trap};
use super::{Kind, Opening, Title, row};

/// In the order in which they are tried.
pub(super) const TABLE: &[Opening] = &[
    row(Kind::Kasan, Alone, Starts("BUG: KASAN: ", ""), Title::Head, "KASAN"),
    row(Kind::Kfence, Alone, Starts("BUG: KFENCE: ", ""), Title::Head, "KFENCE"),
    row(Kind::Kcsan, Alone, Starts("BUG: KCSAN: ", ""), Title::Head, "KCSAN"),
    row(Kind::Kmsan, Alone, Starts("BUG: KMSAN: ", ""), Title::Head, "KMSAN"),
    row(
        Kind::Ubsan,
        Alone,
        Starts("UBSAN: ", " in "),
        Title::HeadUntil(&[' ']),
        "lib/ubsan.c: reported and gone on",
    ),
    row(
        Kind::Ubsan,
        Trap,
        Starts("Internal error: UBSAN: ", " [#"),
        Title::Died,
        "lib/ubsan.c with CONFIG_UBSAN_TRAP on arm64",
    ),
    row(
        Kind::Kmemleak,
        Alone,
        Starts("unreferenced object 0x", ""),
        Title::InStack("memory leak"),
        "mm/kmemleak.c: the file in debugfs",
    ),
    row(
        Kind::Kmemleak,
        Alone,
        Starts("kmemleak: unreferenced object 0x", ""),
        Title::InStack("memory leak"),
        "mm/kmemleak.c with kmemleak.verbose",
    ),
    row(
        Kind::Kmemleak,
        Alone,
        Starts("kmemleak: ", " new suspected memory leaks"),
        Title::Fixed("kmemleak: new suspected memory leaks"),
        "mm/kmemleak.c: the report itself is in debugfs",
    ),
    row(
        Kind::SlabCorruption,
        Cause,
        Starts("BUG ", "ainted"),
        Title::Slab,
        "mm/slub.c, also `Not tainted`; a WARN follows since 6.16",
    ),
];
