//! Suites that provoke reports of the kernel on purpose, to see that they come.

use crate::kernel_report::{KernelReport, Kind};

/// Suite, kinds of report, reason.
type Row = (&'static str, &'static [Kind], &'static str);

/// Suites that silence what they provoke (`slub_test`, `fortify`, `overflow`) are not here.
const TABLE: &[Row] = &[
    (
        "kasan",
        &[Kind::Kasan],
        "mm/kasan/kasan_test.c: each test makes a bad access and fails without its report",
    ),
    ("kfence", &[Kind::Kfence], "mm/kfence/kfence_test.c: as KASAN's"),
    ("kcsan", &[Kind::Kcsan], "kernel/kcsan/kcsan_test.c: races on purpose and counts the reports"),
    ("kmsan", &[Kind::Kmsan], "mm/kmsan/kmsan_test.c: uses uninitialised memory on purpose"),
    (
        "kunit_fault",
        &[Kind::Oops, Kind::Kasan],
        "lib/kunit/kunit-test.c since 6.10: writes to NULL, in a thread of its own",
    ),
    (
        "drm_rect",
        &[Kind::Warning],
        "drivers/gpu/drm/tests/drm_rect_test.c: scales by negative sizes, which warns",
    ),
];

/// Whether `suite` provokes such a report.
pub(super) fn is_provoked(suite: &str, report: &KernelReport) -> bool {
    TABLE.iter().any(|(name, kinds, _)| *name == suite && kinds.contains(&report.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_says_why() {
        assert!(TABLE.iter().all(|(_, kinds, why)| !kinds.is_empty() && why.contains(".c")));
    }

    #[test]
    fn a_suite_provokes_only_its_own_kind() {
        let report = |kind| KernelReport { kind, title: "x".into(), lines: Vec::new() };
        assert!(is_provoked("kasan", &report(Kind::Kasan)));
        assert!(!is_provoked("kasan", &report(Kind::Lockdep)));
        assert!(!is_provoked("kasan_x", &report(Kind::Kasan)));
    }
}
