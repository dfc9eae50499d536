//! Shows what was recorded.

use std::path::{Path, PathBuf};

use anyhow::Result;
use ctf::Trace;
use report::trace::{json_line, statistics_json, statistics_text, text_line};
use viewer::{Filter, Seen, Statistics, walk};

use super::record::TRACE;
use crate::cli::View;
use crate::failure::{WrongUsage, complain};
use crate::listeners::standard_output;

/// The file that makes a folder a trace.
const METADATA: &str = "metadata";

/// Shows a trace and gives the exit code.
pub(super) fn view(args: &View) -> Result<u8> {
    let filter = args.filter.as_deref().map(str::parse::<Filter>).transpose();
    let filter = filter.map_err(|error| WrongUsage(error.to_string()))?;
    let trace = Trace::open(&folder(&args.trace)?)?;
    let is_shown = |seen: &Seen<'_>| filter.as_ref().is_none_or(|filter| filter.holds(seen));
    if trace.lost() > 0 {
        complain(&format!("{} events were lost", trace.lost()));
    }
    let damage =
        if args.stats { statistics(args, &trace, is_shown)? } else { events(args, &trace, is_shown)? };
    if damage > 0 {
        complain(&format!("{damage} packets of the trace are damaged: some events are missing"));
    }
    Ok(0)
}

/// The folder of a trace: one itself, one with a recording, or one that kiln keeps.
fn folder(text: &str) -> Result<PathBuf> {
    let inside = |path: &Path| {
        [path.to_owned(), path.join(TRACE)].into_iter().find(|path| path.join(METADATA).is_file())
    };
    if Path::new(text).is_dir() {
        let found = inside(Path::new(text));
        return Ok(found.ok_or_else(|| WrongUsage(format!("{text}: there is no trace in this folder")))?);
    }
    let found = ledger::folder_named(&ledger::traces_root(), text, ("trace", TRACE))?;
    Ok(found.join(TRACE))
}

fn statistics(args: &View, trace: &Trace, is_shown: impl Fn(&Seen<'_>) -> bool) -> Result<u64> {
    let mut statistics = Statistics::default();
    let damage = walk(trace, |seen| {
        if is_shown(seen) {
            statistics.add(seen);
        }
        true
    })?;
    standard_output(|out| {
        if args.json {
            writeln!(out, "{}", statistics_json(&statistics))
        } else {
            out.write_all(statistics_text(&statistics).as_bytes())
        }
    })?;
    Ok(damage)
}

fn events(args: &View, trace: &Trace, is_shown: impl Fn(&Seen<'_>) -> bool) -> Result<u64> {
    let (mut damage, mut shown) = (Ok(0), 0);
    standard_output(|out| {
        let mut written = Ok(());
        damage = walk(trace, |seen| {
            if is_shown(seen) {
                let line = if args.json { json_line(seen) } else { text_line(seen) };
                written = writeln!(out, "{line}");
                shown += 1;
            }
            written.is_ok() && (args.limit == 0 || shown < args.limit)
        });
        written
    })?;
    Ok(damage?)
}
