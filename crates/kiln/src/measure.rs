//! `kiln measure`: what operations cost on one kernel.

use anyhow::Result;
use compare::{CalibrateRequest, Measured};
use lab::request::Version;

use crate::cli::Measure;
use crate::failure::{BROKEN, INTERRUPTED};
use crate::figures::{looking_on, width};
use crate::listeners::{print, standard_output};

/// Measures a kernel and gives the exit code.
pub(crate) fn measure(said: &Measure, color: bool) -> Result<u8> {
    said.figures.check(said.exec.is_some())?;
    if said.calibrate {
        return calibrate(said, color);
    }
    let request = said.request();
    let measured = looking_on(said.figures.root(), color, |environment, heard| {
        compare::measure(&request, environment, heard)
    })?;
    let Some(Measured { measurement, is_measured, kept }) = measured else { return Ok(INTERRUPTED) };
    standard_output(|out| match (said.figures.json, said.figures.csv) {
        (true, _) => report::measurement::json(&measurement, out),
        (_, true) => report::measurement::csv(&measurement, out),
        _ => report::measurement::table(&measurement, width(), color, out),
    })?;
    said.figures.print_place(kept.directory())?;
    Ok(if is_measured { 0 } else { BROKEN })
}

/// Finds out how precise timed figures of this host are.
fn calibrate(said: &Measure, color: bool) -> Result<u8> {
    let request = said.calibration();
    let calibrated = looking_on(said.figures.root(), color, |environment, heard| {
        compare::calibrate(&request, environment, heard)
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
