//! `kiln trend`: a figure over the history of kernels.

use anyhow::{Context, Result};
use compare::{Branch, TrendsRequest};
use judge::exit::{BROKEN, INTERRUPTED};
use kernel::Locator;
use kernel::catalogue::Entry;
use lab::request::BuildOptions;
use lab::suites::select::Pattern;

use crate::bisect::Range;
use crate::cli::TrendVerb;
use crate::failure::WrongUsage;
use crate::figures::{looking_on, width};
use crate::find::in_context;
use crate::kernels::{locators, offered};
use crate::listeners::standard_output;
use crate::report_file::{check, write};
use crate::shell_words::this_call;
use crate::signals;

/// Shows trends and gives the exit code.
pub(crate) fn trend(args: &TrendVerb, color: bool) -> Result<u8> {
    check([("--html", &args.html), ("--svg", &args.svg)])?;
    let root = args.results.clone().unwrap_or_else(ledger::figures_root);
    let branch = branch(args)?;
    let request = TrendsRequest { metric: args.metric.clone(), kernels: args.kernels.clone(), branch };
    let mut failed = 0;
    if let Some(pattern) = args.kernels.as_deref().filter(|_| args.measure) {
        let kernels = if request.branch.is_some() { Vec::new() } else { matching(pattern)? };
        let measured =
            looking_on((root.clone(), false), color, |environment, on_event| match &request.branch {
                Some(branch) => request.measure_branch(branch, environment, on_event),
                None => request.measure_missing(&kernels, environment, on_event),
            })?;
        let Some(count) = measured else { return Ok(INTERRUPTED) };
        failed = count;
    }
    let trends = request.trends(&root)?;
    standard_output(|out| {
        if args.json {
            report::trend::json(&trends, out)
        } else if args.steps {
            report::trend::steps(&trends, width(), color, out)
        } else {
            report::trend::text(&trends, width(), color, out)
        }
    })?;
    if let Some(path) = &args.html {
        write(path, |out| report::trend::html(&trends, &this_call(), out))?;
    }
    if let Some(path) = &args.svg {
        write(path, |out| report::trend::svg(&trends, out))?;
    }
    Ok(if failed > 0 { BROKEN } else { 0 })
}

/// The commits that were named, if they were.
fn branch(args: &TrendVerb) -> Result<Option<Branch>> {
    let text = args.kernels.as_deref().filter(|text| text.starts_with("git:"));
    let range = text.map(Range::read).transpose()?;
    let Some(Range::Commits { tree, first, last }) = range else {
        let built = args.build.request() != BuildOptions::default();
        let text = "nothing is built here: name the commits of a branch, git:TREE@FIRST..LAST";
        return if built { Err(WrongUsage(text.to_owned()).into()) } else { Ok(None) };
    };
    let interrupt = signals::interrupt_flag().context("signals")?;
    let read =
        in_context(&interrupt, |context| Branch::read(tree, [&first, &last], args.build.request(), context));
    Ok(Some(read?))
}

/// The kernels of `kiln kernels` that match, those that came out first before the others.
fn matching(pattern: &str) -> Result<Vec<Locator>> {
    let compiled = Pattern::new(pattern);
    let mut entries = offered();
    let release = |entry: &Entry| entry.locator.trim_start_matches("deb:").to_owned();
    entries.retain(|entry| compiled.matches(&entry.locator) || compiled.matches(&release(entry)));
    entries.sort_by(|a, b| kernel::version::compare(&a.version, &b.version));
    locators(pattern, &entries)
}
