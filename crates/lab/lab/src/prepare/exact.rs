//! From a request to what is recorded under the clock of instructions.

use ::measure::Candidate;
use protocol::catalogue::Case;
use protocol::measure::BUFFER_KIB_MAX;

use super::measure::{Found, Side, Way, candidate_of, find};
use super::{Context, Error, ROOT_OF_OWN_CASES};
use crate::jobs::Jobs;
use crate::prepare::cases::Chosen;
use crate::request::{MachineRequest, RunRequest};
use crate::suites::Suite;

/// Why others' cases are not recorded like this.
const OWN: &str = "--exact records programs and kiln's own cases: name a program of the suite with --exec";

/// A Kernel that has been found, and what is recorded on it.
#[derive(Debug)]
pub struct Recordable {
    found: Found,
    /// Cases, unless it is a program.
    cases: Option<Vec<&'static Case>>,
    machine: MachineRequest,
}

impl Recordable {
    /// Finds the Kernel of a request, and the root of its machine.
    ///
    /// # Errors
    ///
    /// When there is none, or it does not build, or what is asked for cannot be recorded like this.
    pub fn find(request: &RunRequest, context: &mut Context<'_>) -> Result<Self, Error> {
        let cases = match request.cases.check()? {
            None => None,
            Some(Chosen::Suite(Suite::Own { cases, .. })) => Some(cases),
            Some(_) => return Err(Error::Usage(OWN.to_owned())),
        };
        if cases.is_some() && request.machine.root.is_some() {
            return Err(Error::Usage(ROOT_OF_OWN_CASES.to_owned()));
        }
        let buffer = request.trace.as_ref().map(|trace| trace.buffer_kib).unwrap_or_default();
        if buffer > BUFFER_KIB_MAX {
            let most = BUFFER_KIB_MAX >> 10;
            return Err(Error::Usage(format!("--buffer: with --exact it has at most {most} MiB")));
        }
        let label = request.kernel.locator.to_string();
        let (kernel, program) = (request.kernel.clone(), request.cases.program().cloned());
        let side = Side { label, kernel, parameters: None, program };
        let found = find(vec![side], &request.machine, context)?.into_iter().next();
        let found = found.ok_or_else(|| Error::Usage("there is nothing to record".to_owned()))?;
        Ok(Self { found, cases, machine: request.machine.clone() })
    }

    /// The Kernel with each job by itself, in machines of one kind.
    ///
    /// # Errors
    ///
    /// When it cannot be recorded in such a machine.
    pub fn candidates(&self) -> Result<Vec<Candidate<'_>>, Error> {
        let Found { side, kernel, .. } = &self.found;
        let all = candidate_of(&self.found, Way::Recorded, &self.machine, |fixed| {
            Ok(match (&self.cases, &side.program) {
                (Some(cases), _) => Jobs::of_cases(cases, kernel, fixed)?,
                (None, Some(program)) => Jobs::of_program(kernel, program.borrowed(), fixed)?,
                (None, None) => return Err(Error::Usage("there is nothing to record".to_owned())),
            })
        })?;
        let jobs = all.jobs.iter().cloned();
        Ok(jobs.map(|job| Candidate { jobs: vec![job], ..all.clone() }).collect())
    }
}
