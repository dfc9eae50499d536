//! `kiln exp`: experiments.

pub(crate) mod run;

use std::path::{Path, PathBuf};

use anyhow::Result;
use lab::experiment::ExperimentChoice;
use lab::experiment::catalogue::{self, Entry};
use ledger::{Found, default_root, found};
use script::{Experiment, Metadata, Mode};
use serde_json::json;

use crate::cli::{Exp, ExpVerb};
use crate::failure::{USAGE, WrongUsage};
use crate::listeners::standard_output;

/// Lists, shows, makes, checks or runs experiments and gives the exit code.
pub(crate) fn exp(args: &Exp, color: bool) -> Result<u8> {
    match &args.verb {
        None => list(args.json),
        Some(ExpVerb::Run(args)) => run::run(args, &folder(&args.name)?, color),
        Some(ExpVerb::Show { name, json }) => show(name, *json || args.json),
        Some(ExpVerb::New { name }) => {
            let folder = catalogue::new(name).map_err(WrongUsage)?;
            print(&format!(
                "{}\nrun it: kiln exp run {} --kernel deb:latest-cloud\n",
                folder.display(),
                folder.display()
            ))?;
            Ok(0)
        }
        Some(ExpVerb::Check { name }) => check(&folder(name)?),
    }
}

fn print(text: &str) -> Result<()> {
    Ok(standard_output(|out| out.write_all(text.as_bytes()))?)
}

/// The folder of an experiment; a name that is none is wrong usage.
pub(crate) fn folder(name: &str) -> Result<PathBuf> {
    Ok(catalogue::find(name).map_err(WrongUsage)?)
}

/// An experiment that runs on one kernel at a time, as the user named it.
pub(crate) fn chosen(name: &str, is_short: bool) -> Result<ExperimentChoice> {
    let folder = folder(name)?;
    let mode = if is_short { Mode::Short } else { Mode::Full };
    Ok(ExperimentChoice { name: catalogue::name_of(&folder), folder, mode })
}

fn list(json: bool) -> Result<u8> {
    let all = catalogue::all();
    let text: String = all.iter().map(|entry| if json { line_of_json(entry) } else { line(entry) }).collect();
    match all.is_empty() && !json {
        true => print("no experiments here: `kiln exp new NAME` makes one in experiments/\n")?,
        false => print(&text)?,
    }
    Ok(0)
}

fn line(entry: &Entry) -> String {
    match &entry.metadata {
        Ok(about) => {
            let Metadata { question, needs, kernels, time, .. } = about;
            let kernels = if *kernels == 1 { String::new() } else { format!(", {kernels} kernels") };
            let needs = if needs.is_empty() { String::new() } else { format!(", needs {}", needs.join(",")) };
            format!("{:<14} {question} ({} s{kernels}{needs})\n", entry.name, time.as_secs())
        }
        Err(problem) => format!("{:<14} cannot be read: {}\n", entry.name, problem.text),
    }
}

fn line_of_json(entry: &Entry) -> String {
    let about = entry.metadata.as_ref();
    let value = json!({
        "name": entry.name,
        "folder": entry.folder,
        "metadata": about.ok(),
        "problem": about.err().map(|problem| &problem.text),
    });
    format!("{value}\n")
}

fn show(name: &str, json: bool) -> Result<u8> {
    let folder = folder(name)?;
    let experiment = Experiment::open(&folder).map_err(|problem| WrongUsage(problem.to_string()))?;
    let title = catalogue::name_of(&folder);
    let found = found(&default_root(), &title);
    let about = experiment.metadata();
    if json {
        print(&format!(
            "{}\n",
            json!({ "name": title, "folder": folder, "metadata": about, "results": found })
        ))?;
        return Ok(0);
    }
    let mut text =
        format!("{title}: {}\n{}\n", about.question, folder.join(script::folder::SCRIPT).display());
    for (what, value) in [
        ("needs", about.needs.join(", ")),
        ("kernels", about.kernels.to_string()),
        ("time", format!("{} s", about.time.as_secs())),
        (
            "measures",
            about
                .measures
                .iter()
                .map(|metric| format!("{} in {}", metric.name, metric.unit))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("paper", about.paper.clone().unwrap_or_default()),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("{what:<10} {value}\n"));
        }
    }
    let script = std::fs::read_to_string(folder.join(script::folder::SCRIPT)).unwrap_or_default();
    text.push_str(&format!("\n{}\n", script.trim_end()));
    found.iter().for_each(|found| text.push_str(&what_was_found(found)));
    print(&text)?;
    Ok(0)
}

/// A run, by its time, its kernels and the session that replay and bundle take.
fn what_was_found(Found { session, result }: &Found) -> String {
    let (outcome, kernels) = (result.run.outcome.name(), result.kernels.join(", "));
    let head = format!("{} on {kernels}: {outcome} (session {session})", result.ended);
    let evidence = result.run.evidence.iter().map(|line| format!("        {}\n", report::safe(line)));
    format!("\n{}\n{}{}", report::safe(&head), result.run.output, evidence.collect::<String>())
}

/// Shows what is wrong with an experiment, or its plan.
fn check(folder: &Path) -> Result<u8> {
    match script::check(folder) {
        Ok(steps) => {
            let steps = steps.join(", ");
            print(&format!("{}: nothing is wrong with it\n", folder.display()))?;
            print(&format!("{:<10} {}\n", "steps", report::safe(&steps)))?;
            Ok(0)
        }
        Err(problems) => {
            print(&problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())?;
            Ok(USAGE)
        }
    }
}
