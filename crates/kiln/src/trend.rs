//! `kiln trend`: a figure over the history of kernels.

use anyhow::Result;
use compare::TrendsRequest;
use judge::exit::{BROKEN, INTERRUPTED};
use kernel::Locator;
use kernel::catalogue::Entry;
use lab::suites::select::Pattern;

use crate::cli::TrendVerb;
use crate::figures::{looking_on, width};
use crate::kernels::{locators, offered};
use crate::listeners::standard_output;
use crate::report_file::{check, write};
use crate::shell_words::this_call;

/// Shows trends and gives the exit code.
pub(crate) fn trend(args: &TrendVerb, color: bool) -> Result<u8> {
    check([("--html", &args.html), ("--svg", &args.svg)])?;
    let root = args.results.clone().unwrap_or_else(ledger::figures_root);
    let request = TrendsRequest { metric: args.metric.clone(), kernels: args.kernels.clone() };
    let mut failed = 0;
    if let Some(pattern) = args.kernels.as_deref().filter(|_| args.measure) {
        let kernels = matching(pattern)?;
        let measured = looking_on((root.clone(), false), color, |environment, on_event| {
            request.measure_missing(&kernels, environment, on_event)
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

/// The kernels of `kiln kernels` that match, those that came out first before the others.
fn matching(pattern: &str) -> Result<Vec<Locator>> {
    let compiled = Pattern::new(pattern);
    let mut entries = offered();
    let release = |entry: &Entry| entry.locator.trim_start_matches("deb:").to_owned();
    entries.retain(|entry| compiled.matches(&entry.locator) || compiled.matches(&release(entry)));
    entries.sort_by(|a, b| kernel::version::compare(&a.version, &b.version));
    locators(pattern, &entries)
}
