//! `kiln trace`: what the kernel does while something runs.
//!
//! * [`record`]: on this host; [`inside`]: in a machine; [`exact`]: in one that counts instructions for a clock
//! * [`kept`]: which recording; [`view`]: what is in it, or, [`together`], in several; [`diff`]: what is different in two; [`convert`]: for other programs

mod convert;
mod diff;
mod exact;
mod inside;
mod kept;
mod record;
mod together;
mod view;

use anyhow::Result;
use protocol::trace::{Choice, TraceRequest};

use crate::cli::{Trace, TraceVerb};
use crate::failure::WrongUsage;

/// Records or shows and gives the exit code.
pub(crate) fn trace(args: &Trace, color: bool) -> Result<u8> {
    match (&args.verb, args.place.kernel()) {
        (Some(TraceVerb::View(view)), _) => view::view(view),
        (Some(TraceVerb::Diff(diff)), _) => diff::diff(diff),
        (Some(TraceVerb::Convert(convert)), _) => convert::convert(convert),
        (None, Some(kernel)) if args.exact => exact::record(args, kernel, color),
        (None, Some(_)) if args.output.is_some() => Err(WrongUsage(
            "-o is for recordings of this host and those of --exact: --results says where others go"
                .to_owned(),
        )
        .into()),
        (None, Some(kernel)) => inside::record(args, kernel, color),
        (None, None) if args.place.describes_no_machine() => {
            Err(WrongUsage("there is no machine to set up: name its kernel with --in".to_owned()).into())
        }
        (None, None) if args.only && args.exec.is_none() => {
            Err(WrongUsage("--only needs a program: name it with --exec".to_owned()).into())
        }
        (None, None) => record::record(args),
    }
}

/// What the kernel has for the events of a CPU, in KiB, unless the user says it.
const BUFFER_KIB: u32 = 4 << 10;

/// The same where nothing takes them before the end.
const EXACT_BUFFER_KIB: u32 = 32 << 10;

/// What is asked for, of this process and those that it starts or of all but some threads.
fn request(args: &Trace, process: u32, without: Vec<u32>) -> TraceRequest {
    let events: Vec<Choice> = args.events.iter().chain(&args.event).cloned().collect();
    let process = args.only.then_some(process);
    let buffer_kib = args.buffer.unwrap_or(if args.exact { EXACT_BUFFER_KIB } else { BUFFER_KIB });
    let request = TraceRequest { events, buffer_kib, process, without, ..TraceRequest::default() };
    request.until(args.until.clone())
}
