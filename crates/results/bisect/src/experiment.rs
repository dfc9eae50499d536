//! The experiment that is asked.

use std::path::PathBuf;

use machine::Folder;
use script::{Experiment, Mode, Problem};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// An experiment, and how much of it is run on each Kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentChoice {
    /// Its name: that of its folder.
    pub name: String,
    /// Where it is.
    pub folder: PathBuf,
    /// How much of it.
    #[serde(default)]
    pub mode: Mode,
}

impl ExperimentChoice {
    /// Checks the script before anything is fetched or built.
    ///
    /// # Errors
    ///
    /// When something is wrong with it, or it wants another number of Kernels than the one that a bisection has for it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |problem: Problem| self.refused(problem.to_string().trim_end());
        let experiment = Experiment::open(&self.folder).map_err(wrong)?;
        if let Some(problem) = experiment.check().into_iter().next() {
            return Err(wrong(problem));
        }
        experiment.plan().map_err(wrong)?;
        match experiment.metadata().kernels {
            1 => Ok(()),
            count => Err(self.refused(&format!("takes {count} kernels at once: a bisection tests one"))),
        }
    }

    /// A hash that changes with anything in the folder: the script, its helpers, what it puts into machines.
    pub(crate) fn identity(&self) -> Result<String, Error> {
        let folder = Folder::survey(&self.folder).and_then(|folder| folder.identity());
        folder.map_err(|error| Error::Broken(error.to_string()))
    }

    fn refused(&self, why: &str) -> Error {
        Error::Usage(format!("--exp {}: {why}", self.folder.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use script::folder::SCRIPT;

    use super::*;

    fn choice(folder: &Path) -> ExperimentChoice {
        ExperimentChoice { name: "it".to_string(), folder: folder.to_path_buf(), mode: Mode::Full }
    }

    /// Why an experiment with this script is refused.
    fn refused(script: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SCRIPT), script).unwrap();
        let choice = choice(folder.path());
        let error = choice.check().err()?;
        assert!(error.is_usage(), "{error}");
        let text = error.to_string();
        Some(text.strip_prefix(&format!("--exp {}: ", folder.path().display())).unwrap().to_string())
    }

    const BEGIN: &str = "experiment(question = \"why?\")\n";
    const STEP: &str = "def f(lab):\n    pass\nstep(f)\n";

    #[test]
    fn a_script_is_refused_before_anything_is_built() {
        let refused = |script: String| refused(&script).expect("it is refused");
        assert!(refused("def f(:\n".to_string()).starts_with("experiment.star:1:"));
        let misspelt = refused(format!("{BEGIN}{}", STEP.replace("pass", "lab.mashine()")));
        assert!(misspelt.ends_with("help: did you mean machine?"), "{misspelt}");
        let divides = refused(format!("{BEGIN}x = 1 // 0\n{STEP}"));
        assert!(divides.contains("division by zero"), "{divides}");
        let two = refused(format!("{}{STEP}", BEGIN.replace(')', ", kernels = 2)")));
        assert_eq!(two, "takes 2 kernels at once: a bisection tests one");
    }

    #[test]
    fn an_experiment_on_one_kernel_is_not() {
        assert_eq!(refused(&format!("{BEGIN}{STEP}")), None);
    }

    #[test]
    fn whatever_is_in_the_folder_belongs_to_the_question() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let choice = choice(folder.path());
        write(SCRIPT, "x");
        let before = choice.identity().unwrap();
        assert_eq!(choice.identity().unwrap(), before);
        write("guest.sh", "exit 0");
        let with_program = choice.identity().unwrap();
        write("guest.sh", "exit 1");
        assert!(with_program != before && choice.identity().unwrap() != with_program);
    }
}
