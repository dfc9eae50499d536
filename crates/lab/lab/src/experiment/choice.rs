//! Which experiment is asked, where each run is on one Kernel.

use std::path::PathBuf;

use machine::Folder;
use measure::OwnUnit;
use script::metadata::{Better, MetricInfo, MetricKind};
use script::nearest::suggestion;
use script::{Experiment, Metadata, Mode, Problem};
use serde::{Deserialize, Serialize};

use crate::prepare::Error;

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
    /// Checks the script before anything is fetched or built, and gives what it says about itself. `whoever` runs it has
    /// one Kernel for a run: `a bisection`.
    ///
    /// # Errors
    ///
    /// When something is wrong with it, or it takes several Kernels.
    pub fn check(&self, whoever: &str) -> Result<Metadata, Error> {
        let wrong = |problem: Problem| self.refused(problem.to_string().trim_end());
        let experiment = Experiment::open(&self.folder).map_err(wrong)?;
        if let Some(problem) = experiment.check().into_iter().next() {
            return Err(wrong(problem));
        }
        experiment.plan().map_err(wrong)?;
        match experiment.metadata().kernels {
            1 => Ok(experiment.metadata().clone()),
            count => Err(self.refused(&format!("takes {count} kernels at once: {whoever} runs it on one"))),
        }
    }

    /// The unit of a metric that the experiment declares.
    ///
    /// # Errors
    ///
    /// When it declares no such metric.
    pub fn unit(&self, metric: &str) -> Result<OwnUnit, Error> {
        let experiment =
            Experiment::open(&self.folder).map_err(|problem| self.refused(&problem.to_string()))?;
        let metadata = experiment.metadata();
        metadata.metric(metric).map(unit_of).ok_or_else(|| {
            let declared = metadata.measures.iter().map(|other| other.name.as_str());
            let name = &self.name;
            Error::Usage(format!(
                "--metric {metric}: {name} declares no such metric: {}",
                suggestion(metric, declared)
            ))
        })
    }

    /// A hash that changes with anything in the folder: the script, its helpers, what it puts into machines.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn identity(&self) -> Result<String, Error> {
        Ok(Folder::survey(&self.folder).and_then(|folder| folder.identity())?)
    }

    fn refused(&self, why: &str) -> Error {
        Error::Usage(format!("--exp {}: {why}", self.folder.display()))
    }
}

/// The unit of a metric, with what else the experiment says about its figures.
#[must_use]
pub fn unit_of(metric: &MetricInfo) -> OwnUnit {
    OwnUnit {
        name: metric.unit.clone(),
        more_is_better: metric.better == Better::More,
        is_timed: metric.kind == MetricKind::Timed,
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

    /// What is said of an experiment with this script.
    fn with<T>(script: &str, ask: impl Fn(&ExperimentChoice) -> Result<T, Error>) -> Result<T, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SCRIPT), script).unwrap();
        ask(&choice(folder.path())).map_err(|error| {
            assert!(error.is_usage(), "{error}");
            error.to_string().replace(&format!("--exp {}: ", folder.path().display()), "")
        })
    }

    /// Why an experiment with this script is refused.
    fn refused(script: &str) -> Option<String> {
        with(script, |choice| choice.check("a bisection")).err()
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
        assert_eq!(two, "takes 2 kernels at once: a bisection runs it on one");
    }

    #[test]
    fn an_experiment_on_one_kernel_is_not() {
        assert_eq!(refused(&format!("{BEGIN}{STEP}")), None);
    }

    #[test]
    fn a_metric_is_known_by_its_name() {
        let measures = "measures = [metric_info(\"throughput\", unit = \"Mbit/s\", better = \"more\", kind = \"timed\")]";
        let script = format!("{}{STEP}", BEGIN.replace(')', &format!(", {measures})")));
        let unit = |script: &str, name: &str| with(script, |choice| choice.unit(name));
        let expected = OwnUnit { name: "Mbit/s".to_string(), more_is_better: true, is_timed: true };
        assert_eq!(unit(&script, "throughput"), Ok(expected));
        let near = unit(&script, "troughput").unwrap_err();
        assert_eq!(near, "--metric troughput: it declares no such metric: did you mean throughput?");
        let none = unit(&format!("{BEGIN}{STEP}"), "throughput").unwrap_err();
        assert_eq!(none, "--metric throughput: it declares no such metric: there is nothing");
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
