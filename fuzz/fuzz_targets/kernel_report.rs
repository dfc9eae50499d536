//! Any kernel log: reports are bounded, have a title, and do not depend on time stamps.

#![no_main]

use judge::kernel_report::{LINE_BYTES_MAX, LINES_MAX, REPORTS_MAX, is_expected, scan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let lines: Vec<&str> = text.lines().collect();
    let reports = scan(&lines);
    assert!(reports.len() <= REPORTS_MAX);
    for report in &reports {
        assert!(!report.title.trim().is_empty(), "{report:?}");
        assert!(!report.title.contains('\n'), "{report:?}");
        assert!((1..=LINES_MAX).contains(&report.lines.len()), "{}", report.lines.len());
        assert!(report.lines.iter().all(|line| line.len() <= LINE_BYTES_MAX));
        assert!(!is_expected(report, &["", " "]), "nothing expects nothing");
        assert!(is_expected(report, &[&report.title]), "{report:?}");
    }
    assert_eq!(reports, scan(&lines), "the same log, the same reports");
});
