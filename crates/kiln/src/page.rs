//! `kiln report`: one file for a browser, or Markdown.
//!
//! * [`markdown`]: what each subject has as Markdown

mod markdown;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use judge::Run;
use ledger::{PAGE, Past, PastError, Wanted, bisections_root, checks_root, figures_root, folder_named};
use report::markdown::Wrap;

use crate::cli::{Report, ReportFormat, WrapAt};
use crate::failure::{WrongUsage, complain};
use crate::listeners::standard_output;
use crate::matrix::{is_plan, of_known};
use crate::post;
use crate::publish::publish_site;
use crate::report_file::{check, write};
use crate::results::opened;
use crate::shell_words::this_call;

/// What a report is about.
enum Subject {
    /// A session, or one Run of it.
    Session(Past, Option<Box<Run>>),
    /// The folder of what has its page already.
    Kept(PathBuf),
    /// The plan of a matrix.
    Plan(PathBuf),
}

/// Writes and posts a report, and gives the exit code.
pub(crate) fn report(args: &Report) -> Result<u8> {
    if let Some(target) = &args.publish {
        return publish_site(args, target);
    }
    let format = format(args)?;
    check([("--output", &args.output)])?;
    let posting = post::Wanted::of(args)?;
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let subject = find(&root, &args.subject)?;
    if format == ReportFormat::Html {
        page(&subject, &root, args.output.as_deref())?;
        return Ok(0);
    }
    let wrap = match args.wrap {
        Some(WrapAt::Mail) => Wrap::Mail,
        Some(WrapAt::None) | None => Wrap::None,
    };
    let document = subject.markdown(&root, wrap)?;
    if args.output.is_some() || posting.is_none() {
        let file = document.clone().into_file();
        written(args.output.as_deref(), |out| out.write_all(file.as_bytes()))?;
    }
    match posting {
        Some(posting) => posting.post(subject.identity()?, document),
        None => Ok(0),
    }
}

/// What is written.
fn format(args: &Report) -> Result<ReportFormat> {
    let ending = args.output.as_ref().and_then(|path| path.extension());
    let is_markdown = args.posting.post.is_some() || ending.is_some_and(|ending| ending == "md");
    let usual = if is_markdown { ReportFormat::Markdown } else { ReportFormat::Html };
    let format = args.format.unwrap_or(usual);
    let wrong = |text: &str| Err(WrongUsage(text.to_owned()).into());
    match format {
        ReportFormat::Html if args.posting.post.is_some() => {
            wrong("--post sends Markdown: leave --format html out")
        }
        ReportFormat::Html if args.wrap.is_some() => wrong("--wrap is for Markdown: --format markdown"),
        format => Ok(format),
    }
}

/// Writes the page.
fn page(subject: &Subject, root: &Path, output: Option<&Path>) -> Result<()> {
    match subject {
        Subject::Session(past, run) => {
            let name = ledger::short_name(past.directory());
            let page = report::session::kept(past, run.as_deref(), &name)?;
            written(output, |out| out.write_all(page.into_file().as_bytes()))
        }
        Subject::Kept(folder) => {
            let page = folder.join(PAGE);
            let mut kept = File::open(&page).with_context(|| page.display().to_string())?;
            written(output, |out| io::copy(&mut kept, out).map(drop))
        }
        Subject::Plan(plan) => {
            let mut ledger = opened(root)?;
            let grids = of_known(plan, &mut ledger)?;
            ledger.notes.iter().for_each(|note| complain(note));
            written(output, |out| report::matrix::html(&grids, &this_call(), out))
        }
    }
}

/// Writes to a file, or to standard output.
fn written(output: Option<&Path>, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    match output {
        Some(path) => write(path, content),
        None => Ok(standard_output(content)?),
    }
}

impl Subject {
    /// What tells it from others, however it was named.
    fn identity(&self) -> Result<String> {
        let absolute = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
        Ok(match self {
            Self::Session(past, run) => {
                let session = ledger::short_name(past.directory());
                run.as_ref().map_or_else(|| session.clone(), |run| format!("{session}/{}", run.case))
            }
            Self::Kept(path) | Self::Plan(path) => absolute(path)?.display().to_string(),
        })
    }
}

/// What the user named.
fn find(root: &Path, name: &str) -> Result<Subject> {
    if is_plan(name) {
        return Ok(Subject::Plan(name.into()));
    }
    if Path::new(name).join(PAGE).is_file() {
        return Ok(Subject::Kept(name.into()));
    }
    if let Ok(past) = ledger::session(root, name) {
        return Ok(Subject::Session(past, None));
    }
    let kept = [figures_root(), bisections_root(), checks_root()];
    let kept = kept.iter().find_map(|root| folder_named(root, name, ("report", PAGE)).ok());
    if let Some(folder) = kept {
        return Ok(Subject::Kept(folder));
    }
    match ledger::find(root, name) {
        Ok(Wanted { past, run }) => Ok(Subject::Session(past, Some(Box::new(run)))),
        Err(error @ PastError::Document { .. }) => Err(error.into()),
        Err(PastError::Wanted(why)) => {
            Err(WrongUsage(format!("{why}; no comparison, bisection or check has this name either")).into())
        }
    }
}
