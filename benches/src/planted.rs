//! What it takes to see that a program does 2 % more: counted, and timed on the same host.

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use verdict::{Comparison, Row, Verdict};

use crate::compare::Place;
use crate::comparing::NEW;
use crate::compiler::compile;

const SOURCE: &str = include_str!("planted.c");

/// System calls of the two programs.
const LOOPS: [u32; 2] = [100_000, 102_000];

/// What is planted, in percent, and how far from it an exact figure may be: exec and exit are the same in both.
const PLANTED: f64 = 2.0;
const NEAR: f64 = 0.2;

/// How long timing may take.
const BUDGET: &str = "3m";

/// How timing is asked for; always the same order of boots, so that only the host differs from run to run.
const TIMED: &[&str] = &["--timed", "--min-effect", "1%", "--budget", BUDGET, "--seed", "1"];

/// Compares the two programs in both ways; gives a table in Markdown.
pub(crate) fn measure(place: &Place) -> Result<String> {
    let directory = tempfile::tempdir()?;
    let mut programs = Vec::new();
    for loops in LOOPS {
        let define = format!("-DLOOPS={loops}");
        let program = compile(directory.path(), &format!("loops-{loops}"), SOURCE, &[&define])?;
        programs.push(program.to_str().context("the name of a temporary folder")?.to_string());
    }
    let arguments = [NEW, "--exec-a", &programs[0], "--exec-b", &programs[1]];
    place.forget()?;
    let mut text = format!("| {PLANTED} % more system calls | boots | time | seen |\n|---|---|---|---|\n");
    for (name, more) in [("counted", &[][..]), ("timed", TIMED)] {
        eprintln!("bench: {PLANTED} % more system calls, {name}");
        let start = Instant::now();
        let comparison = place.compare(&[&arguments[..], more].concat())?;
        let seconds = start.elapsed().as_secs_f64();
        let row = workload(&comparison)?;
        let seen = row.percent.unwrap_or(f64::NAN);
        ensure!(
            !more.is_empty() || (row.verdict == Verdict::Worse && (seen - PLANTED).abs() < NEAR),
            "the exact comparison says {:?}, {seen:.2} %",
            row.verdict
        );
        let boots = row.base.boots.len() + row.new.boots.len();
        let verdict = word(row.verdict);
        // Writing to a String does not fail.
        let _ = writeln!(text, "| {name} | {boots} | {seconds:.1} s | {seen:+.2} %, {verdict} |");
    }
    Ok(text)
}

fn workload(comparison: &Comparison) -> Result<&Row> {
    let mut rows = comparison.others.iter().flat_map(|against| &against.rows);
    rows.find(|row| row.metric == "workload").context("the programs were not compared")
}

fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Worse => "worse".to_string(),
        Verdict::Better => "better".to_string(),
        Verdict::Same => "same".to_string(),
        Verdict::Undecided => format!("undecided within the budget of {BUDGET}"),
    }
}
