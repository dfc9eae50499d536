//! What is asked: a comparison, or one of a Kernel with itself.

mod calibrate;

use std::fmt;

use lab::experiment::ExperimentChoice;
use lab::prepare::measure::Side;
use lab::request::{FiguresRequest, KernelRequest, MachineRequest, ProgramRequest, Version};
use serde::{Deserialize, Serialize};

use crate::error::Error;

pub use calibrate::CalibrateRequest;

/// Stands before the name of figures that were kept.
pub const MEASURED: &str = "measured:";

/// Who runs the experiment.
pub(crate) const WHOEVER: &str = "a comparison";

/// Which Kernel is slower, by how much, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareRequest {
    /// Its version.
    pub version: Version<1>,
    /// What is compared; the base first.
    pub sides: SidesRequest,
    /// What is measured, and how.
    #[serde(default)]
    pub figures: FiguresRequest,
    /// Show the functions that cause each difference.
    #[serde(default)]
    pub why: bool,
    /// An experiment, whose metrics and ends are compared instead of figures that kiln measures.
    #[serde(default)]
    pub experiment: Option<ExperimentChoice>,
    /// A figure may be worse by this fraction; by anything if it is not set.
    pub allowed: Option<f64>,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
}

/// What is compared; the base first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SidesRequest {
    /// Kernels, also those whose figures are there already.
    Kernels {
        /// At least two.
        sides: Vec<SideRequest>,
        /// A program instead of the operations.
        program: Option<ProgramRequest>,
    },
    /// One Kernel under several sets of parameters.
    Parameters {
        /// The Kernel.
        kernel: KernelRequest,
        /// At least two.
        parameters: Vec<String>,
        /// A program instead of the operations.
        program: Option<ProgramRequest>,
    },
    /// Several programs on one Kernel.
    Programs {
        /// The Kernel.
        kernel: KernelRequest,
        /// At least two.
        programs: Vec<ProgramRequest>,
    },
}

/// A side of a comparison of Kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SideRequest {
    /// A Kernel that is measured.
    Kernel(KernelRequest),
    /// Figures that were kept: `last`, the name of their folder or the beginning of one, a folder, or a document.
    Measured(String),
}

impl fmt::Display for SideRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(kernel) => kernel.locator.fmt(f),
            Self::Measured(name) => write!(f, "{MEASURED}{name}"),
        }
    }
}

impl CompareRequest {
    /// One that counts instructions of all operations and allows nothing to be worse.
    #[must_use]
    pub fn new(sides: SidesRequest) -> Self {
        Self {
            version: Version,
            sides,
            figures: FiguresRequest::default(),
            why: false,
            experiment: None,
            allowed: Some(0.0),
            machine: MachineRequest::default(),
        }
    }

    /// Checks what can be found to be wrong before anything is fetched.
    ///
    /// # Errors
    ///
    /// When there is nothing to compare, or no such operation.
    pub fn check(&self) -> Result<(), Error> {
        self.figures.check()?;
        if self.sides.count() < 2 {
            let text = "there is only one kernel to compare: name another, or use --params, or --exec-a and --exec-b";
            return Err(Error::Usage(text.to_string()));
        }
        let Some(experiment) = &self.experiment else { return Ok(()) };
        if let Some((_, name)) = self.sides.kept().first() {
            let text = format!("{MEASURED}{name}: --exp runs on all kernels in turns: name the kernel");
            return Err(Error::Usage(text));
        }
        experiment.check(WHOEVER)?;
        Ok(())
    }
}

impl CompareRequest {
    /// Whether it is about some operations or a program, not about the whole suite.
    pub(crate) fn is_narrow(&self) -> bool {
        !self.figures.operations.is_empty() || self.sides.program().is_some()
    }
}

impl SidesRequest {
    fn count(&self) -> usize {
        match self {
            Self::Kernels { sides, .. } => sides.len(),
            Self::Parameters { parameters, .. } => parameters.len(),
            Self::Programs { programs, .. } => programs.len(),
        }
    }

    /// Those that are measured now, under the names that they have in tables.
    pub(crate) fn to_measure(&self) -> Vec<Side> {
        match self {
            Self::Kernels { sides, program } => {
                let kernels = sides.iter().filter_map(|side| match side {
                    SideRequest::Kernel(kernel) => Some(of(kernel, program.as_ref())),
                    SideRequest::Measured(_) => None,
                });
                kernels.collect()
            }
            Self::Parameters { kernel, parameters, program } => {
                let with = |text: &String| Side {
                    label: text.clone(),
                    parameters: Some(text.clone()),
                    ..of(kernel, program.as_ref())
                };
                parameters.iter().map(with).collect()
            }
            Self::Programs { kernel, programs } => {
                let running = |program: &ProgramRequest| Side {
                    label: program.path.display().to_string(),
                    ..of(kernel, Some(program))
                };
                programs.iter().map(running).collect()
            }
        }
    }

    /// Names of figures that were kept, with their places among all sides.
    pub(crate) fn kept(&self) -> Vec<(usize, &str)> {
        let Self::Kernels { sides, .. } = self else { return Vec::new() };
        let kept = sides.iter().enumerate().filter_map(|(place, side)| match side {
            SideRequest::Kernel(_) => None,
            SideRequest::Measured(name) => Some((place, name.as_str())),
        });
        kept.collect()
    }
}

fn of(kernel: &KernelRequest, program: Option<&ProgramRequest>) -> Side {
    let label = kernel.locator.to_string();
    Side { label, kernel: kernel.clone(), parameters: None, program: program.cloned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> KernelRequest {
        KernelRequest::named("host".parse().unwrap())
    }

    fn program(path: &str) -> ProgramRequest {
        ProgramRequest { path: path.into(), arguments: Vec::new(), needs: Vec::new() }
    }

    #[test]
    fn sides_are_called_by_what_differs() {
        let named = |sides: SidesRequest| -> Vec<String> {
            sides.to_measure().into_iter().map(|side| side.label).collect()
        };
        let measured = SideRequest::Measured("last".to_string());
        let sides = vec![SideRequest::Kernel(kernel()), measured, SideRequest::Kernel(kernel())];
        let kernels = SidesRequest::Kernels { sides, program: None };
        assert_eq!(kernels.kept(), [(1, "last")]);
        assert_eq!(named(kernels), ["host", "host"]);
        let parameters = ["quiet", "nosmt"].map(str::to_string).to_vec();
        let with = SidesRequest::Parameters { kernel: kernel(), parameters, program: None };
        assert_eq!(with.to_measure()[1].parameters.as_deref(), Some("nosmt"));
        assert_eq!(named(with), ["quiet", "nosmt"]);
        let programs = vec![program("./old"), program("./new")];
        assert_eq!(named(SidesRequest::Programs { kernel: kernel(), programs }), ["./old", "./new"]);
    }

    #[test]
    fn one_side_is_nothing_to_compare() {
        let sides = vec![SideRequest::Measured("last".to_string())];
        let alone = CompareRequest::new(SidesRequest::Kernels { sides, program: None });
        assert!(alone.check().unwrap_err().to_string().starts_with("there is only one kernel to compare"));
    }

    #[test]
    fn a_kept_request_names_its_sides() {
        let sides = vec![SideRequest::Kernel(kernel()), SideRequest::Measured("2026".to_string())];
        let request = CompareRequest::new(SidesRequest::Kernels { sides, program: None });
        let kept = serde_json::to_value(&request).unwrap();
        assert_eq!(kept["version"], 1);
        assert_eq!(kept["sides"]["kernels"]["sides"][1]["measured"], "2026");
        assert_eq!(serde_json::from_value::<CompareRequest>(kept).unwrap(), request);
    }
}
