//! The steps of a script, without a machine.

use judge::Blame;

use crate::answer::Answer;
use crate::bench::Bench;
use crate::call::Request;
use crate::execute::in_thread;
use crate::experiment::Experiment;
use crate::load::load;
use crate::problem::Problem;
use crate::run::unplaced;
use crate::setup::Setup;
use crate::trouble::Trouble;

/// No machine: what stands at the top of a file has none.
struct NoBench;

impl Bench for NoBench {
    fn call(&self, _request: &Request) -> Result<Answer, Trouble> {
        Err(Trouble::broken(Blame::Kiln, "there is no machine at the top of a file"))
    }

    fn end_step(&self, _step: &str) -> Result<(), Trouble> {
        Ok(())
    }
}

impl Experiment {
    /// The names of its steps, in their order.
    ///
    /// # Errors
    ///
    /// What goes wrong at the top of its files, such as two steps of the same name.
    pub fn plan(&self) -> Result<Vec<String>, Problem> {
        let setup = Setup::default();
        let names = || {
            let script = load(&self.session(&setup, &NoBench), self)?;
            Ok(script.steps().map(|(step, _)| step.name.clone()).collect())
        };
        in_thread(&setup.limits, names)
            .unwrap_or_else(|stop| Err(unplaced(stop)))
            .map_err(|failure| failure.problem)
    }
}
