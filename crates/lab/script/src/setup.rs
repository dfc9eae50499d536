//! What a run of a script is given.

use serde::{Deserialize, Serialize};

use crate::data::{Data, Object, ObjectKind};
use crate::limits::Limits;

/// What a run of a script is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// The kernels, in the order in which the user named them.
    pub kernels: Vec<KernelInfo>,
    /// What chance is drawn from.
    pub seed: u64,
    /// How much of the experiment.
    pub mode: Mode,
    /// What else the run depends on, such as hashes of the files that it puts into machines: a journal that was kept with
    /// others is not inherited.
    pub inputs: Vec<String>,
    /// What the script may use.
    pub limits: Limits,
}

/// What a script is told of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    /// Its locator.
    pub locator: String,
    /// Its release, as uname(1) shows it.
    pub release: String,
    /// Its identity.
    pub identity: String,
}

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// All of it.
    #[default]
    Full,
    /// A short form, for CI.
    Short,
}

impl Mode {
    /// Its name in scripts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Short => "short",
        }
    }
}

impl Setup {
    /// The object `lab`.
    pub(crate) fn lab(&self) -> Data {
        let kernels = (0_u32..).zip(&self.kernels).map(|(id, kernel)| {
            let text = |text: &str| Data::Text(text.to_owned());
            let attributes = vec![("locator", text(&kernel.locator)), ("release", text(&kernel.release))];
            Data::Object(Object { kind: ObjectKind::Kernel, id, step: 0, attributes })
        });
        let seed = i64::try_from(self.seed & (u64::MAX >> 1)).unwrap_or(i64::MAX);
        let attributes = vec![
            ("kernels", Data::List(kernels.collect())),
            ("seed", Data::Int(seed)),
            ("mode", Data::Text(self.mode.name().to_owned())),
        ];
        Data::Object(Object { kind: ObjectKind::Lab, id: 0, step: 0, attributes })
    }
}
