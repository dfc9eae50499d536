//! Real and realistic kernel logs with the reports that are in them.
//!
//! A file of `corpus/` begins with a `TITLE:` and a `KIND:` line for each report, or with `NONE`; then
//! comes a blank line and the log as the kernel prints it. `KILN_UPDATE=1` writes the lines anew: read
//! the difference before it is kept.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use console::message;
use judge::kernel_report::{KernelReport, Kind, is_expected, scan};

/// Files that the corpus has at least: an empty folder would prove nothing.
const FILES_MIN: usize = 60;
/// Lines that a file has at most: header and log are for people to read.
const FILE_LINES_MAX: usize = 160;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = fs::read_dir(&folder).expect("the corpus is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

fn split(text: &str) -> (&str, &str) {
    text.split_once("\n\n").expect("a header, a blank line and a log")
}

fn reports(log: &str) -> Vec<KernelReport> {
    let lines: Vec<&str> = log.lines().map(message).collect();
    scan(&lines)
}

fn name(kind: Kind) -> String {
    serde_json::to_string(&kind).expect("a kind is a word").trim_matches('"').to_owned()
}

fn header(reports: &[KernelReport]) -> String {
    let mut header = String::new();
    for report in reports {
        write!(header, "TITLE: {}\nKIND: {}\n", report.title, name(report.kind)).expect("a string takes it");
    }
    if header.is_empty() { "NONE".to_owned() } else { header.trim_end().to_owned() }
}

#[test]
fn each_log_of_the_corpus_has_the_reports_that_it_says() {
    let mut wrong = String::new();
    for file in corpus() {
        let text = fs::read_to_string(&file).expect("it is text");
        let (expected, log) = split(&text);
        let found = header(&reports(log));
        if env::var_os("KILN_UPDATE").is_some_and(|value| value == "1") {
            fs::write(&file, format!("{found}\n\n{log}")).expect("it can be written");
        } else if expected != found {
            write!(wrong, "{}:\n{expected}\nfound:\n{found}\n\n", file.display()).expect("a string takes it");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_corpus_is_large_enough_and_its_files_are_small() {
    let files = corpus();
    assert!(files.len() >= FILES_MIN);
    for file in files {
        let lines = fs::read_to_string(&file).expect("it is text").lines().count();
        assert!(lines <= FILE_LINES_MAX, "{}: {lines} lines", file.display());
    }
}

#[test]
fn a_report_is_found_wherever_in_a_log_it_stands() {
    let clean = "usb 1-1: new device\n".repeat(20);
    for file in corpus() {
        let text = fs::read_to_string(&file).expect("it is text");
        let (_, log) = split(&text);
        let log: String = log.lines().map(message).fold(String::new(), |log, line| log + line + "\n");
        let within = reports(&format!("{clean}{log}{clean}"));
        assert_eq!(header(&within), header(&reports(&log)), "{}", file.display());
    }
}

#[test]
fn boots_one_after_the_other_in_one_log_have_the_reports_of_each() {
    /// Fewer than reports that are kept.
    const FILES: usize = 16;
    for files in corpus().chunks(FILES) {
        let (mut all, mut expected) = (String::new(), Vec::new());
        for file in files {
            let text = fs::read_to_string(file).expect("it is text");
            let (_, log) = split(&text);
            all = all + "Linux version 6.1.0\n" + log;
            expected.extend(reports(log));
        }
        // The same defect in two of the files is found once.
        let mut seen = Vec::new();
        expected.retain(|report| {
            let new = !seen.contains(&(report.kind, report.title.clone()));
            seen.push((report.kind, report.title.clone()));
            new
        });
        assert_eq!(header(&reports(&all)), header(&expected));
    }
}

#[test]
fn a_report_is_expected_by_its_title() {
    for file in corpus() {
        let text = fs::read_to_string(&file).expect("it is text");
        for report in reports(split(&text).1) {
            assert!(is_expected(&report, &[&report.title]));
            assert!(!is_expected(&report, &["no kernel says this"]));
        }
    }
}
