//! Real texts with results, and the results that are in them.
//!
//! A file of `ktap/` begins with what [`judge::ktap`] reads from it: counts, then a line for each test, then
//! the problems; after a line `--- ktap ---` comes the text as it was printed. `KILN_UPDATE=1` writes the
//! head anew: read the difference before it is kept.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use judge::ktap::{Counts, Level, Results, Test, read};

/// Files that the corpus has at least: an empty folder would prove nothing.
const FILES_MIN: usize = 15;

const SEPARATOR: &str = "--- ktap ---\n";

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ktap");
    let entries = fs::read_dir(&folder).expect("the corpus is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

fn texts() -> Vec<(PathBuf, String)> {
    let text = |file: &PathBuf| fs::read_to_string(file).expect("it is text");
    let body = |text: String| text.split_once(SEPARATOR).expect("a head and a text").1.to_owned();
    corpus().into_iter().map(|file| (file.clone(), body(text(&file)))).collect()
}

fn counts(counts: Counts) -> String {
    let Counts { pass, fail, skip, expected_fail, unfinished, missing } = counts;
    format!(
        "pass {pass}, fail {fail}, skip {skip}, expected fail {expected_fail}, unfinished {unfinished}, missing {missing}"
    )
}

fn push(head: &mut String, depth: usize, line: &str) {
    writeln!(head, "{}{}", "  ".repeat(depth), line.trim_end()).expect("a string takes it");
}

fn level(head: &mut String, level: &Level, depth: usize) {
    for test in &level.tests {
        let text = if test.text.is_empty() { String::new() } else { format!(" # {}", test.text) };
        push(head, depth, &format!("{}: {}{text}", test.status.name(), test.name));
        test.attributes.iter().for_each(|(key, value)| push(head, depth + 1, &format!("@{key}: {value}")));
        if let Some(inside) = &test.inside {
            self::level(head, inside, depth + 1);
        }
    }
    if level.missing > 0 {
        push(head, depth, &format!("missing: {}", level.missing));
    }
    if let Some(why) = &level.bail_out {
        push(head, depth, &format!("bail out: {why}"));
    }
}

fn head(results: &Results) -> String {
    let mut head = format!("{}\n", counts(results.counts()));
    for group in &results.groups {
        head.push('\n');
        level(&mut head, group, 0);
    }
    if !results.problems.is_empty() {
        head.push('\n');
    }
    results.problems.iter().for_each(|problem| push(&mut head, 0, &problem.to_string()));
    head
}

#[test]
fn each_text_of_the_corpus_has_the_results_that_it_says() {
    let mut wrong = String::new();
    for file in corpus() {
        let text = fs::read_to_string(&file).expect("it is text");
        let (expected, body) = text.split_once(SEPARATOR).unwrap_or(("", &text));
        let found = head(&read(body));
        if env::var_os("KILN_UPDATE").is_some_and(|value| value == "1") {
            fs::write(&file, format!("{found}{SEPARATOR}{body}")).expect("it can be written");
        } else if expected != found {
            write!(wrong, "{}:\n{expected}\nfound:\n{found}\n\n", file.display()).expect("a string takes it");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_corpus_is_large_enough() {
    assert!(corpus().len() >= FILES_MIN);
}

/// Paths of all tests that did not pass.
fn bad(results: &Results) -> Vec<String> {
    fn collect(tests: &[Test], above: &str, bad: &mut Vec<String>) {
        for test in tests {
            let path = format!("{above}/{}", test.name);
            if test.status.is_failure() {
                bad.push(path.clone());
            }
            collect(test.tests(), &path, bad);
        }
    }
    let mut bad = Vec::new();
    results.groups.iter().for_each(|group| collect(&group.tests, "", &mut bad));
    bad
}

/// `not ok` lines that lie wholly before `end` and have results.
fn failed_before(text: &str, end: usize) -> usize {
    bad(&read(&text[..text[..end].rfind('\n').map_or(0, |at| at + 1)])).len()
}

#[test]
fn a_text_that_is_cut_anywhere_loses_no_failure_before_the_cut() {
    for (file, text) in texts() {
        let step = (text.len() / 40).max(1);
        for end in (0..text.len()).step_by(step).filter(|&end| text.is_char_boundary(end)) {
            let cut = read(&text[..end]);
            assert!(bad(&cut).len() >= failed_before(&text, end), "{}: cut at {end}", file.display());
        }
    }
}
