//! A comparison as a call of kiln: for people, who can paste it.

use lab::request::words::Words;
use lab::request::{BuildOptions, ProgramRequest};
use script::Mode;

use crate::request::{CompareRequest, SideRequest, SidesRequest};

impl CompareRequest {
    /// The arguments by which kiln is asked the same.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Words::of("compare");
        self.sides.name(&mut words);
        words.flag("--why", self.why);
        match self.allowed {
            Some(0.0) => {}
            Some(fraction) => words.option("--fail-on", &format!("{}%", fraction * 100.0)),
            None => words.option("--fail-on", &"never"),
        }
        match &self.experiment {
            Some(experiment) => {
                words.option("--exp", &experiment.folder.display());
                words.flag("--short", experiment.mode == Mode::Short);
                words.sampled(&self.figures);
            }
            None => words.figures(&self.figures),
        }
        self.sides.build().iter().for_each(|build| words.build(build));
        words.machine(&self.machine);
        // What is passed on to the program comes last.
        self.sides.program().iter().for_each(|program| words.arguments(program));
        words.finish()
    }
}

impl SidesRequest {
    /// What is compared.
    fn name(&self, words: &mut Words) {
        let program = match self {
            Self::Kernels { sides, program } => {
                sides.iter().for_each(|side| words.about(side));
                program
            }
            Self::Parameters { kernel, parameters, program } => {
                words.about(&kernel.locator);
                words.several("--params", parameters);
                program
            }
            Self::Programs { kernel, programs } => {
                words.about(&kernel.locator);
                let named = ["--exec-a", "--exec-b"].into_iter().zip(programs);
                named.for_each(|(name, program)| words.option(name, &program.path.display()));
                return;
            }
        };
        words.each("--exec", program.iter().map(|program| program.path.display()));
    }

    /// How the Kernels are built: all of them in the same way.
    fn build(&self) -> Option<&BuildOptions> {
        match self {
            Self::Kernels { sides, .. } => sides.iter().find_map(|side| match side {
                SideRequest::Kernel(kernel) => Some(&kernel.build),
                SideRequest::Measured(_) => None,
            }),
            Self::Parameters { kernel, .. } | Self::Programs { kernel, .. } => Some(&kernel.build),
        }
    }

    /// One of the programs: all have the same needs and arguments.
    pub(crate) fn program(&self) -> Option<&ProgramRequest> {
        match self {
            Self::Kernels { program, .. } | Self::Parameters { program, .. } => program.as_ref(),
            Self::Programs { programs, .. } => programs.first(),
        }
    }
}
