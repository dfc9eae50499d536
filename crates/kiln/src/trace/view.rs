//! Shows what was recorded.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use ctf::Trace;
use report::trace::{
    Drawn, Page, activity, critical_path, json_line, latency, moment, patterns, statistics, text_line, tree,
};
use serde_json::Value;
use viewer::critical_path::History;
use viewer::{Axis, Latencies, Moment, Statistics, Timeline, Tree, Work, look, walk_together};

use super::kept;
use super::together::Together;
use crate::cli::{View, Views};
use crate::failure::WrongUsage;
use crate::listeners::{document, standard_output};
use crate::report_file::{check, write};
use crate::shell_words::this_call;
use crate::units::nanoseconds;

/// Shows a trace and gives the exit code.
pub(super) fn view(args: &View) -> Result<u8> {
    check([("--html", &args.html)])?;
    let trace = kept::open(&args.traced.trace)?;
    let others = args.with.iter().map(|text| kept::open(text)).collect::<Result<Vec<_>>>()?;
    let all = Together::new([&trace].into_iter().chain(&others).collect());
    let drawn = args.html.as_ref().map_or(Ok(0), |path| draw(args, &all, path))?;
    let begin = begin(&trace);
    let damage = match &args.what {
        Views { at: Some(time), .. } => at(args, &trace, *time)?,
        Views { critical_path: Some(thread), .. } => path_of(args, &trace, thread)?,
        Views { stats: true, .. } => shown(args, &trace, (statistics::text, statistics::json))?,
        Views { states: true, .. } => shown(args, &trace, (activity::text, activity::json))?,
        Views { tree: true, .. } => shown(args, &trace, (|seen: &Tree| tree::text(seen, begin), tree::json))?,
        Views { patterns: true, .. } => {
            let text = |work: &Work| patterns::text(&viewer::patterns::patterns(work), work.events);
            shown(
                args,
                &trace,
                (text, |work: &Work| patterns::json(&viewer::patterns::patterns(work), work.events)),
            )?
        }
        Views { latency: true, .. } => {
            let text = |seen: &Latencies| latency::text(seen, begin);
            shown(args, &trace, (text, |seen: &Latencies| latency::json(seen, begin)))?
        }
        // Who wants a picture wants no list.
        _ if args.html.is_some() => drawn,
        _ => events(args, &all)?,
    };
    kept::report(damage);
    Ok(0)
}

fn begin(trace: &Trace) -> u64 {
    trace.span().map(|(begin, _)| begin).unwrap_or_default()
}

/// Shows a view of the whole trace: as text, or as JSON.
fn shown<V: viewer::View + Default>(
    args: &View,
    trace: &Trace,
    (text, json): (impl Fn(&V) -> String, impl Fn(&V) -> Value),
) -> Result<u64> {
    let mut view = V::default();
    let damage = look(trace, args.traced.filter.as_ref(), &mut view)?;
    document(args.json, || text(&view), || json(&view))?;
    Ok(damage)
}

fn path_of(args: &View, trace: &Trace, name: &str) -> Result<u64> {
    let mut history = History::default();
    let damage = look(trace, None, &mut history)?;
    let thread = match history.named(name)[..] {
        [thread] => thread,
        [] => {
            return Err(WrongUsage(format!("{name}: no thread of the trace was seen with this name")).into());
        }
        [.., last] => {
            let count = history.named(name).len();
            return Err(WrongUsage(format!(
                "{name}: {count} threads have this name: give a number, such as {last}"
            ))
            .into());
        }
    };
    let text = || critical_path::text(&history, thread, begin(trace));
    document(args.json, text, || critical_path::json(&history, thread))?;
    Ok(damage)
}

fn at(args: &View, trace: &Trace, time: Duration) -> Result<u64> {
    let found = Moment::new(trace, nanoseconds(time))?;
    document(args.json, || moment::text(&found), || moment::json(&found))?;
    Ok(found.damage)
}

/// Writes the timeline; gives how many packets could not be read as a whole.
fn draw(args: &View, all: &Together<'_>, path: &Path) -> Result<u64> {
    let (mut traces, mut damage) = (Vec::new(), 0);
    for (trace, name) in all.traces.iter().zip(&all.names) {
        let mut views = (Timeline::default(), Statistics::default());
        damage += look(trace, args.traced.filter.as_ref(), &mut views)?;
        let (timeline, statistics) = views;
        traces.push(Drawn { name: name.clone(), lost: trace.lost(), timeline, statistics });
    }
    let page = Page { typed: &this_call(), axis: Axis::new(&all.traces), traces };
    write(path, |out| report::trace::html(&page, out))?;
    Ok(damage)
}

fn events(args: &View, all: &Together<'_>) -> Result<u64> {
    let (mut damage, mut shown) = (Ok(0), 0);
    standard_output(|out| {
        let mut written = Ok(());
        damage = walk_together(&all.traces, args.traced.filter.as_ref(), |at, seen| {
            let of = all.prefix(at);
            let line = if args.json { json_line(seen, of) } else { text_line(seen, of) };
            written = writeln!(out, "{line}");
            shown += 1;
            written.is_ok() && (args.limit == 0 || shown < args.limit)
        });
        written
    })?;
    Ok(damage?)
}
