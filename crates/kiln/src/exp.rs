//! `kiln exp`: experiments.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use judge::exit::INTERRUPTED;
use lab::HostBackend;
use lab::experiment::catalogue::{self, Entry};
use lab::experiment::{Carried, PreparedExperiment, Watching};
use lab::prepare;
use ledger::{ExperimentFolder, ExperimentResult, experiments_root, results_of};
use script::{Experiment, Metadata};
use serde_json::json;

use crate::cli::{Exp, ExpRun, ExpVerb};
use crate::failure::{USAGE, WrongUsage};
use crate::find::preparing;
use crate::listeners::standard_output;
use crate::signals;
use crate::terminal::Progress;

/// Lists, shows, makes, checks or runs experiments and gives the exit code.
pub(crate) fn exp(args: &Exp) -> Result<u8> {
    match &args.verb {
        None => list(args.json),
        Some(ExpVerb::Run(run)) => self::run(run),
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
fn folder(name: &str) -> Result<PathBuf> {
    Ok(catalogue::find(name).map_err(WrongUsage)?)
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
    let title = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let title = title.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let found = results_of(&experiments_root(), &title);
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
    for result in &found {
        let (outcome, kernels) = (result.run.outcome.name(), result.kernels.join(", "));
        text.push_str(&format!("\n{} on {kernels}: {outcome}\n{}", result.ended, result.run.output));
    }
    print(&text)?;
    Ok(0)
}

/// Shows what is wrong with an experiment, or its plan.
fn check(folder: &Path) -> Result<u8> {
    let mut problems = script::check(folder);
    if problems.is_empty() {
        match Experiment::open(folder).and_then(|experiment| experiment.plan()) {
            Ok(steps) => {
                print(&format!("{}: nothing is wrong with it\n", folder.display()))?;
                print(&format!("{:<10} {}\n", "steps", report::safe(&steps.join(", "))))?;
                return Ok(0);
            }
            Err(problem) => problems.push(problem),
        }
    }
    print(&problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())?;
    Ok(USAGE)
}

fn run(args: &ExpRun) -> Result<u8> {
    let folder = folder(&args.name)?;
    let request = args.request(&folder);
    let interrupt = signals::interrupt_flag().context("signals")?;
    let prepared = preparing(&interrupt, |context| PreparedExperiment::new(&request, context))?;
    let root = args.results.clone().unwrap_or_else(experiments_root);
    let kept = ExperimentFolder::open(&root, &prepared.name(), &prepared.identity(), args.fresh)
        .with_context(|| format!("{}; choose another with --results", root.display()))?;
    let progress = Mutex::new(Progress::new());
    let progress = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failed = None;
    if !args.json && kept.is_resumed {
        print("goes on after the steps that an earlier run has completed; --fresh begins again\n")?;
    }
    let mut on_line = |line: &str| {
        if !args.json {
            // Its line goes before another is printed.
            progress().clear();
            failed = failed.take().or(print(&format!("{line}\n")).err());
        }
    };
    let on_call = |text: &str| progress().show(text);
    let waiting = lab::Waiting { interrupt: &interrupt, progress: &mut |news| progress().tell(news) };
    let context = prepare::Context { backend: &HostBackend, waiting };
    let watching = Watching { on_line: &mut on_line, on_call: &on_call };
    let carried = prepared.run(&context, (&kept.journal(), kept.path()), watching);
    progress().clear();
    let Carried { verdict, run } = carried?;
    if let Some(error) = failed {
        return Err(error);
    }
    let kernels = prepared.kernels().into_iter().map(kernel::Kernel::exact_locator).collect();
    let ended = jiff::Timestamp::now();
    let result = ExperimentResult { name: prepared.name(), ended, request, kernels, run };
    let is_interrupted = interrupt.load(Ordering::Relaxed);
    let path = kept.finish(&result, verdict.is_final() && !is_interrupted)?;
    let text = match args.json {
        true => format!("{}\n", serde_json::to_string(&result)?),
        false => conclusion(&result, &path),
    };
    print(&text)?;
    Ok(if is_interrupted { INTERRUPTED } else { result.run.outcome.exit_code() })
}

/// The last lines.
fn conclusion(result: &ExperimentResult, path: &Path) -> String {
    let ExperimentResult { name, run, kernels, .. } = result;
    let by = run.blame.map(|blame| format!(", by {}", blame.name())).unwrap_or_default();
    let mut text = format!("{:<8}{name} on {}{by}", run.outcome.name(), kernels.join(", "));
    if !run.reason.is_empty() {
        text.push_str(&format!(": {}", report::safe(&run.reason)));
    }
    text.push('\n');
    for line in &run.evidence {
        text.push_str(&format!("        {}\n", report::safe(line)));
    }
    text.push_str(&format!("{:.1} s; results in {}\n", run.duration.as_secs_f64(), path.display()));
    text
}
