//! The lists of other suites, and what their tests write.

#![no_main]

use std::time::Duration;

use judge::case::{oom, shell};
use judge::{Dialect, Ending, Seen, judge, parameters};
use lab::suites::kselftest::{list, options, settings};
use lab::suites::ltp::runtest;
use libfuzzer_sys::fuzz_target;
use protocol::{Counts, End};

fuzz_target!(|data: (i32, &str)| {
    let (code, text) = data;
    for entry in runtest::parse(text).unwrap_or_default() {
        assert!(!entry.tag.split('/').any(|part| part == ".."));
        let _ = runtest::program(&entry.command);
    }
    for test in list::parse(text).unwrap_or_default() {
        assert!(!test.group.split('/').any(|part| part == ".."));
    }
    assert!(!settings::limit(text).is_zero());
    let ending = Ending::Finished { end: End::Exited(code), counts: Counts::default(), new_taint: 0 };
    let log: Vec<&str> = text.lines().collect();
    let lacking = options::parse(text);
    let _ =
        (shell::not_found(text), oom::victims(&log).count(), parameters::unknown(log.iter().copied(), text));
    for dialect in [Dialect::Program, Dialect::Kselftest, Dialect::Ltp] {
        let seen = Seen {
            starved: false,
            dialect,
            limit: Duration::from_secs(1),
            output: text,
            expects: &[],
            ending: &ending,
            reports: &[],
            log: &log,
            lacking: &lacking,
            kernel_reports: &[],
            console: &[],
        };
        assert!(judge(&seen).evidence.len() <= 256);
    }
});
