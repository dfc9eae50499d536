//! What can be said of a trace.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use protocol::trace::{Choice, EVENTS, buffer_kib};
use viewer::Filter;

use super::{OUTPUT, Place};
use crate::units;

/// `kiln trace`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Trace {
    /// What to do with a trace [default: record one]
    #[command(subcommand)]
    pub(crate) verb: Option<TraceVerb>,
    /// What to record: systems, or events such as sched:sched_switch, separated by commas
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', default_value = EVENTS)]
    pub(crate) events: Vec<Choice>,
    /// Also record an event if a condition holds, such as 'block:block_rq_issue if bytes > 4096'
    #[arg(short, long, value_name = "EVENT")]
    pub(crate) event: Vec<Choice>,
    /// End the recording when this event happens, and keep the ten seconds before, such as 'block:block_rq_error if bytes > 0'
    #[arg(long, value_name = "EVENT", value_parser = single_event)]
    pub(crate) until: Option<Choice>,
    /// What the kernel has for the events of a CPU until they are taken, such as 4M or 8x512K [default: 4M; 32M with --exact]
    #[arg(long, value_name = "SIZE", value_parser = buffer)]
    pub(crate) buffer: Option<u32>,
    /// Record while this program runs; arguments for it come after --
    #[arg(long, value_name = "PATH")]
    pub(crate) exec: Option<PathBuf>,
    /// With --in: record in a machine that counts instructions for a clock, so that the same work gives the same trace
    #[arg(long, requires = "kernel")]
    pub(crate) exact: bool,
    /// With --in: record while each case of this suite runs, in a clone of its own
    #[arg(long, value_name = "SUITE", conflicts_with = "exec", requires = "kernel")]
    pub(crate) suite: Option<String>,
    /// With --in: only cases whose name matches, such as 'fs/*'
    #[arg(long, value_name = "GLOB", conflicts_with = "exec", requires = "kernel")]
    pub(crate) case: Vec<String>,
    /// Arguments for the program
    #[arg(last = true, requires = "exec", value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// Record only what the program or the case and its children do
    #[arg(long)]
    pub(crate) only: bool,
    /// With --in: also record this host meanwhile, on the same axis
    #[arg(long, requires = "kernel", conflicts_with = "exact")]
    pub(crate) host: bool,
    /// Record for this time [default: as long as the program runs, or until Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = units::duration, conflicts_with = "kernel")]
    pub(crate) duration: Option<Duration>,
    /// The folder of the trace, which must not be there [default: one in $XDG_STATE_HOME/kiln/traces]
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// What to do with a trace.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceVerb {
    /// Show what was recorded
    View(View),
    /// Show what is different between two recordings of the same work
    Diff(TraceDiff),
    /// Write what was recorded for other programs
    Convert(Convert),
}

/// Which events of a trace.
#[derive(Debug, Args)]
pub(crate) struct Traced {
    /// The folder of a trace, the name of one that kiln keeps or its beginning, or last
    #[arg(default_value = "last")]
    pub(crate) trace: String,
    /// Only events for which this holds, such as 'comm == "cat" && name ~ "sys_enter_*"'
    #[arg(short, long, value_name = "EXPRESSION")]
    pub(crate) filter: Option<Filter>,
}

/// `kiln trace view`.
#[derive(Debug, Args)]
pub(crate) struct View {
    #[command(flatten)]
    pub(crate) traced: Traced,
    /// Also list or draw this trace, on the same axis: such as that of the host beside that of a machine
    #[arg(long, value_name = "TRACE", conflicts_with = "Views")]
    pub(crate) with: Vec<String>,
    #[command(flatten)]
    pub(crate) what: Views,
    /// Most events that are listed; 0 for all
    #[arg(long, value_name = "COUNT", default_value = "0")]
    pub(crate) limit: usize,
    /// Print JSON: an object for each event, or one for a view
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Also draw a timeline into this HTML file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
}

/// What is shown instead of a list of events.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Views {
    /// Count the events of each kind, thread and CPU
    #[arg(long)]
    pub(crate) stats: bool,
    /// How long threads ran and waited, and what for
    #[arg(long)]
    pub(crate) states: bool,
    /// How long wakeups, system calls, interrupts and block requests took, and when and where the longest was
    #[arg(long)]
    pub(crate) latency: bool,
    /// Which thread made which
    #[arg(long)]
    pub(crate) tree: bool,
    /// Which sequences of events threads repeat
    #[arg(long)]
    pub(crate) patterns: bool,
    /// What a thread, by its number or name, waited for, and what that waited for in turn
    #[arg(long, value_name = "THREAD", conflicts_with = "filter")]
    pub(crate) critical_path: Option<String>,
    /// What each CPU and thread did at this time since the begin
    #[arg(long, value_name = "TIME", value_parser = units::fine_duration, conflicts_with = "filter")]
    pub(crate) at: Option<Duration>,
}

/// `kiln trace diff`.
#[derive(Debug, Args)]
pub(crate) struct TraceDiff {
    /// The folder of a trace, or the name of one that kiln keeps
    pub(crate) first: String,
    /// Another one
    pub(crate) second: String,
    /// Only events for which this holds, such as 'comm == "cat" && name ~ "sys_enter_*"'
    #[arg(short, long, value_name = "EXPRESSION")]
    pub(crate) filter: Option<Filter>,
    /// Print one JSON document
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

/// `kiln trace convert`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    pub(crate) traced: Traced,
    #[command(flatten)]
    pub(crate) target: Target,
    /// The file or, for --ctf, the folder, which must not be there [default: standard output]
    #[arg(short, long, value_name = "PATH", required_if_eq("ctf", "true"), help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
}

/// What a trace becomes.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Target {
    /// The Common Trace Format, in which it is already: with --filter a part of it
    #[arg(long)]
    pub(crate) ctf: bool,
    /// For ui.perfetto.dev and its trace_processor
    #[arg(long)]
    pub(crate) perfetto: bool,
    /// The text of perf script
    #[arg(long)]
    pub(crate) perf_script: bool,
}

/// One event, perhaps with a condition.
pub(super) fn single_event(text: &str) -> Result<Choice, String> {
    let choice: Choice = text.parse().map_err(|error: protocol::trace::WrongChoice| error.to_string())?;
    let wrong = || format!("{text:?} is a system: name one event, such as sched:sched_process_exit");
    choice.is_single().then_some(choice).ok_or_else(wrong)
}

/// A size of the kernel's buffer in KiB: `4M`, or so many pieces as in `8x512K`.
pub(crate) fn buffer(text: &str) -> Result<u32, String> {
    let wrong = || format!("{text:?} is no size of a buffer, such as 512K, 4M or 8x512K");
    let (pieces, size) = text.split_once('x').unwrap_or(("1", text));
    let (size, factor) = match size.strip_suffix('M') {
        Some(number) => (number, 1024),
        None => (size.strip_suffix('K').ok_or_else(wrong)?, 1),
    };
    let number = |text: &str| text.parse::<u32>().map(u64::from).map_err(|_| wrong());
    buffer_kib(number(pieces)?.saturating_mul(number(size)?).saturating_mul(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_buffers_are_read() {
        assert_eq!(["512K", "4M", "8x512K"].map(buffer), [Ok(512), Ok(4096), Ok(4096)]);
        for wrong in ["", "x", "4", "4G", "-1M", "4K", "2048M", "9999999999M", "65536x65536K", "8x"] {
            assert!(buffer(wrong).is_err(), "{wrong}");
        }
    }
}
