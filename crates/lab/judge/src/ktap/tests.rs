//! Texts as a whole; one line is tested beside its reader, real texts are in `tests/ktap`.

use proptest::prelude::*;

use super::*;

fn names(level: &Level) -> Vec<(&str, Status)> {
    level.tests.iter().map(|test| (test.name.as_str(), test.status)).collect()
}

fn whole(text: &str) -> Level {
    let results = read(text);
    assert_eq!(results.groups.len(), 1, "{results:?}");
    results.groups.into_iter().next().expect("one group")
}

#[test]
fn a_tree_is_read_with_two_and_with_four_blanks() {
    let two = "KTAP version 1\n1..2\n  KTAP version 1\n  1..2\n    KTAP version 1\n    1..1\n    not ok 1 deep\n  \
               not ok 1 inner\n  ok 2 skipped # SKIP\nnot ok 1 outer\nok 2 other\n";
    for text in [two.to_string(), two.replace("  ", "    ")] {
        let level = whole(&text);
        assert_eq!(names(&level), [("outer", Status::Fail), ("other", Status::Pass)]);
        let outer = level.tests[0].inside.as_ref().expect("it has tests inside");
        assert_eq!(names(outer), [("inner", Status::Fail), ("skipped", Status::Skip)]);
        assert_eq!(outer.tests[0].tests()[0].name, "deep");
        assert_eq!(level.tests[0].lines, 1..10);
        assert!(read(&text).problems.is_empty());
    }
}

#[test]
fn a_text_that_is_indented_as_a_whole_is_one_level() {
    let level = whole("  KTAP version 1\n  1..2\n  ok 1 a\n");
    assert_eq!(names(&level), [("a", Status::Pass), ("", Status::Unfinished)]);
}

#[test]
fn lines_between_results_are_the_log_of_the_next_test() {
    let level =
        whole("KTAP version 1\n1..2\nhello\n# a: said\nok 1 a\nrandom: crng init done\nok 2 b\nbye\n");
    assert_eq!(level.tests[0].log, ["hello", "# a: said"]);
    assert_eq!(level.tests[1].log, ["random: crng init done"]);
}

#[test]
fn text_without_results_has_none() {
    let results = read("Linux version 6.1\n[    0.1] ok, go on\nnot ok to do so\n# Subtests\nokay 1\n");
    assert_eq!(results, Results::default());
}

#[test]
fn an_ok_after_a_lonely_not_is_a_failure_and_after_a_sentence_a_doubt() {
    let results = read("1..2\nnot\nok 1 a\nnot random: crng init done\nok 2 b\n");
    assert_eq!(names(&results.groups[0]), [("a", Status::Fail), ("b", Status::Pass)]);
    assert_eq!(results.problems.len(), 2);
}

#[test]
fn a_failure_that_only_the_totals_know_is_a_problem() {
    let text = "TAP version 13\n1..2\nok 1 a\n# Totals: pass:1 fail:1 xfail:0 xpass:0 skip:0 error:0\n";
    assert!(read(text).problems.iter().any(|problem| problem.what == What::Totals { announced: 1, seen: 0 }));
}

#[test]
fn tests_that_a_program_only_counts_are_not_missing() {
    let text = "TAP version 13\n1..3\n# Totals: pass:3 fail:0 xfail:0 xpass:0 skip:0 error:0\n";
    assert_eq!(read(text).counts(), Counts::default());
}

#[test]
fn what_is_hostile_is_bounded() {
    let deep: String = (0..200).map(|depth| format!("{}KTAP version 1\n", " ".repeat(depth))).collect();
    assert!(read(&deep).problems.iter().any(|problem| problem.what == What::TooDeep));
    let huge = format!("KTAP version 1\n1..{}\n", u64::MAX);
    assert_eq!(read(&huge).counts().missing, u64::MAX - 1);
    let mut reader = Reader::default();
    reader.line("1..3");
    for _ in 0..LOG_LINES_MAX * 2 {
        reader.line("x");
    }
    reader.line(&"y".repeat(LINE_BYTES_MAX * 2));
    reader.line("ok 1 a");
    assert_eq!(reader.finish().groups[0].tests[0].log.len(), LOG_LINES_MAX);
}

#[test]
fn failures_beyond_the_limit_are_counted() {
    let mut reader = Reader::default();
    (0..TESTS_MAX).for_each(|_| reader.line("ok - a"));
    (0..7).for_each(|_| reader.line("not ok - b"));
    let results = reader.finish();
    assert_eq!((results.lost_failures, results.counts().fail), (7, 7));
}

#[derive(Debug, Clone)]
struct Planned {
    ok: bool,
    skip: bool,
    inside: Vec<Planned>,
}

fn tests() -> impl Strategy<Value = Vec<Planned>> {
    let leaf = (any::<bool>(), any::<bool>()).prop_map(|(ok, skip)| Planned { ok, skip, inside: Vec::new() });
    let test = leaf.prop_recursive(3, 20, 4, |inner| {
        prop::collection::vec(inner, 1..4).prop_map(|inside| {
            let ok = inside.iter().all(|test| test.ok || test.skip);
            Planned { ok, skip: false, inside }
        })
    });
    prop::collection::vec(test, 1..5)
}

/// The text of these tests, with each line as a kernel or a program would print it.
fn print(tests: &[Planned], indent: &str, depth: usize, text: &mut Vec<String>) {
    let blanks = indent.repeat(depth);
    text.push(format!("{blanks}KTAP version 1"));
    text.push(format!("{blanks}1..{}", tests.len()));
    for (at, test) in tests.iter().enumerate() {
        if !test.inside.is_empty() {
            print(&test.inside, indent, depth + 1, text);
        }
        let (not, skip) = (if test.ok { "" } else { "not " }, if test.skip { " # SKIP" } else { "" });
        text.push(format!("{blanks}{not}ok {} test_{at}{skip}", at + 1));
    }
}

fn same(tests: &[Planned], level: &Level) -> bool {
    let same_test = |(planned, test): (&Planned, &Test)| {
        let status = match planned {
            Planned { skip: true, .. } => Status::Skip,
            Planned { ok: true, .. } => Status::Pass,
            Planned { .. } => Status::Fail,
        };
        status == test.status
            && test.inside.as_ref().map_or(planned.inside.is_empty(), |level| same(&planned.inside, level))
    };
    tests.len() == level.tests.len() && tests.iter().zip(&level.tests).all(same_test)
}

/// Numbers of the lines of failed tests that are whole.
fn failures(text: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with("not ok") && !line.contains("SKIP")).count()
}

fn failed(level: &Level) -> usize {
    let inside = |test: &Test| test.inside.as_ref().map_or(0, failed);
    level.tests.iter().map(|test| usize::from(test.status == Status::Fail) + inside(test)).sum()
}

proptest! {
    #[test]
    fn any_tree_is_read_as_it_was_meant(tests in tests(), indent in 1usize..5, noise in any::<bool>(), stamp in any::<bool>()) {
        let mut lines = Vec::new();
        print(&tests, &" ".repeat(indent), 0, &mut lines);
        if noise {
            lines = lines.into_iter().flat_map(|line| ["usb 1-1: new device".to_string(), line, "  # x".into()]).collect();
        }
        if stamp {
            lines = lines.into_iter().map(|line| format!("[    1.000000][    T1] {line}")).collect();
        }
        let results = read(&lines.join("\n"));
        prop_assert!(same(&tests, &results.groups[0]), "{}\n{:?}", lines.join("\n"), results);
        prop_assert!(results.problems.is_empty(), "{:?}", results.problems);
        let counts = results.counts();
        prop_assert_eq!(counts.unfinished + counts.missing, 0);
    }

    #[test]
    fn a_text_that_is_cut_never_gains_a_pass(tests in tests(), at in any::<prop::sample::Index>()) {
        let mut lines = Vec::new();
        print(&tests, "  ", 0, &mut lines);
        let text = lines.join("\n") + "\n";
        let end = at.index(text.len());
        let cut = &text[..end];
        let results = read(cut);
        let found: usize = results.groups.iter().map(failed).sum();
        let whole = cut.rfind('\n').map_or("", |end| &cut[..end]);
        // A directive may be cut off the last line: what was skipped then failed.
        prop_assert!(found >= failures(whole), "{cut}\n{results:?}");
        let passed: usize = whole.lines().chain(cut.lines().last()).filter(|line| line.trim_start().starts_with("ok ")).count();
        prop_assert!(usize::try_from(results.counts().pass).expect("few") <= passed);
    }

    #[test]
    fn printk_between_and_inside_lines_of_a_program_hides_no_failure(
        tests in tests(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..6),
    ) {
        let mut lines = Vec::new();
        print(&tests, "  ", 0, &mut lines);
        let expected = read(&lines.join("\n"));
        for (line, place) in cuts {
            let line = &mut lines[line.index(expected.groups[0].lines.end as usize)];
            let place = place.index(line.len() + 1);
            // A line that was cut already: its first part stays as it is.
            if !line.contains('\n') {
                line.insert_str(place, "[   12.345678] usb 1-1: new device\n");
            }
        }
        let results = read(&lines.join("\n"));
        let found: usize = results.groups.iter().map(failed).sum();
        prop_assert!(found >= failed(&expected.groups[0]), "{}\n{:?}", lines.join("\n"), results);
    }

    #[test]
    fn any_text_is_read_and_bounded(text in "((#|  |    |\\[    1.000000\\] |not |ok |1\\.\\.|KTAP version 1|# Subtest: |[0-9]|a|\\n| - |# SKIP|Bail out!){0,40}\n?){0,6}") {
        let results = read(&text);
        prop_assert!(results.problems.len() <= PROBLEMS_MAX);
        let lines = text.lines().count() as u64;
        prop_assert!(results.groups.iter().all(|group| group.lines.end <= lines));
        let mut reader = Reader::default();
        text.lines().for_each(|line| reader.line(line));
        prop_assert_eq!(reader.finish(), results);
    }
}
