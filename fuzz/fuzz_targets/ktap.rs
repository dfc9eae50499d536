//! Any console: results are bounded, the same however they come, and a cut loses no failure before it.

#![no_main]

use judge::ktap::{LOG_LINES_MAX, Level, PROBLEMS_MAX, Reader, Results, Test, read};
use libfuzzer_sys::fuzz_target;

fn failures(results: &Results) -> usize {
    fn of(tests: &[Test]) -> usize {
        tests.iter().map(|test| usize::from(test.status.is_failure()) + of(test.tests())).sum()
    }
    results.groups.iter().map(|group| of(&group.tests)).sum()
}

fn check(level: &Level, lines: u64) {
    assert!(level.lines.end <= lines, "{:?} of {lines}", level.lines);
    let mut end = level.lines.start;
    for test in &level.tests {
        assert!(test.lines.start >= end && test.lines.end >= test.lines.start, "{test:?}");
        end = test.lines.end;
        assert!(test.log.len() <= LOG_LINES_MAX);
        if let Some(inside) = &test.inside {
            check(inside, lines);
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let results = read(&text);
    assert!(results.problems.len() <= PROBLEMS_MAX);
    results.groups.iter().for_each(|group| check(group, text.lines().count() as u64));
    // What was finished when the kernel died is what it was when it lived on.
    let mut reader = Reader::default();
    let lines = text.lines().count();
    text.lines().take(lines / 2).for_each(|line| reader.line(line));
    let half = reader.finish();
    // A failure into which printk wrote may have a directive in its rest.
    assert!(failures(&half) <= failures(&results) + 1, "{half:?}\n{results:?}");
});
