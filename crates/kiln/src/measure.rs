//! `kiln measure`: what operations cost on one kernel.

use anyhow::Result;
use compare::{CalibrateRequest, Measured};
use lab::request::Version;

use crate::cli::Measure;
use crate::figures::{looking_on, width};
use crate::listeners::{print, standard_output};
use judge::exit::{BROKEN, INTERRUPTED};

/// Measures a kernel and gives the exit code.
pub(crate) fn measure(args: &Measure, color: bool) -> Result<u8> {
    args.figures.check(args.exec.is_some())?;
    if args.calibrate {
        return calibrate(args, color);
    }
    let request = args.request();
    let measured = looking_on((args.figures.root(), args.exec.is_some()), color, |environment, on_event| {
        compare::measure(&request, environment, on_event)
    })?;
    let Some(Measured { measurement, is_measured, kept }) = measured else { return Ok(INTERRUPTED) };
    standard_output(|out| match (args.figures.json, args.figures.csv) {
        (true, _) => report::measurement::json(&measurement, out),
        (_, true) => report::measurement::csv(&measurement, out),
        _ => report::measurement::table(&measurement, width(), color, out),
    })?;
    args.figures.print_place(kept.directory())?;
    Ok(if is_measured { 0 } else { BROKEN })
}

/// Finds out how precise timed figures of this host are.
fn calibrate(args: &Measure, color: bool) -> Result<u8> {
    let request = args.calibration();
    let calibrated =
        looking_on((args.figures.root(), args.exec.is_some()), color, |environment, on_event| {
            compare::calibrate(&request, environment, on_event)
        })?;
    let Some(calibrated) = calibrated else { return Ok(INTERRUPTED) };
    print(&report::calibrated(&calibrated))?;
    Ok(0)
}

impl Measure {
    /// What is asked with `--calibrate`.
    fn calibration(&self) -> CalibrateRequest {
        let request = self.request();
        CalibrateRequest {
            version: Version,
            kernel: request.kernel,
            program: request.program,
            operations: request.figures.operations,
            boots: request.figures.boots,
            timed: self.figures.timing(),
            machine: request.machine,
        }
    }
}
