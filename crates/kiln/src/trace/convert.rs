//! Writes a trace for other programs.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use ctf::{Copy, Trace};
use report::trace::{Perfetto, perf_script_line};
use viewer::{Seen, walk};

use super::kept;
use crate::cli::Convert;
use crate::failure::WrongUsage;
use crate::listeners::standard_output;
use crate::report_file::{check, write};

/// Converts a trace and gives the exit code.
pub(super) fn convert(args: &Convert) -> Result<u8> {
    let trace = kept::open(&args.traced.trace)?;
    let damage = match &args.output {
        Some(folder) if args.target.ctf => copy(args, &trace, folder)?,
        output => to_file(args, &trace, output.as_deref())?,
    };
    kept::report(damage);
    Ok(0)
}

/// Writes a trace with some of the events.
fn copy(args: &Convert, trace: &Trace, folder: &Path) -> Result<u64> {
    if folder.exists() {
        return Err(WrongUsage(format!("{}: it is there already", folder.display())).into());
    }
    let mut copy = Copy::create(folder, trace)?;
    let damage = each(args, trace, |seen| copy.event(&seen.event))??;
    copy.finish(trace.lost())?;
    Ok(damage)
}

/// Writes one file, or to standard output.
fn to_file(args: &Convert, trace: &Trace, output: Option<&Path>) -> Result<u64> {
    let mut damage = 0;
    let convert = |out: &mut dyn Write| {
        damage =
            if args.target.perfetto { perfetto(args, trace, out)? } else { perf_script(args, trace, out)? };
        Ok(())
    };
    match output {
        Some(path) => {
            check([("--output", &args.output)])?;
            write(path, convert)?;
        }
        None => standard_output(convert)?,
    }
    Ok(damage)
}

fn perfetto(args: &Convert, trace: &Trace, out: &mut dyn Write) -> io::Result<u64> {
    let mut perfetto = Perfetto::new(BufWriter::new(out), &trace.metadata)?;
    let damage = each(args, trace, |seen| perfetto.event(seen)).map_err(io::Error::other)??;
    perfetto.finish()?;
    Ok(damage)
}

fn perf_script(args: &Convert, trace: &Trace, out: &mut dyn Write) -> io::Result<u64> {
    let mut out = BufWriter::new(out);
    let damage = each(args, trace, |seen| perf_script_line(seen, &mut out)).map_err(io::Error::other)??;
    out.flush()?;
    Ok(damage)
}

/// Converts the events that are of interest until one cannot be written; gives how many packets could not be read as a whole.
fn each<E>(
    args: &Convert,
    trace: &Trace,
    mut convert: impl FnMut(&Seen<'_>) -> Result<(), E>,
) -> Result<Result<u64, E>, ctf::Error> {
    let mut converted = Ok(());
    let damage = walk(trace, args.traced.filter.as_ref(), |seen| {
        converted = convert(seen);
        converted.is_ok()
    })?;
    Ok(converted.map(|()| damage))
}
