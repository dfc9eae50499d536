//! Why a bisection says nothing.

use thiserror::Error;

/// Why a bisection could not begin, or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A Kernel cannot be found, fetched or built, for a reason that has nothing to do with the question.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// A kernel cannot be built, or its configurations cannot be compared.
    #[error(transparent)]
    Build(#[from] kbuild::Error),
    /// There is no history to search.
    #[error(transparent)]
    History(#[from] history::Error),
    /// What was learnt cannot be kept.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// Jobs of a cluster give no answer.
    #[error(transparent)]
    Slurm(#[from] slurm::Error),
    /// The candidates cannot be searched.
    #[error(transparent)]
    Search(#[from] verdict::bisection::Unusable),
    /// The failure is where it should not be, and not where it should.
    #[error(
        "the ends are swapped: {what} shows at {good}, which should be the good end ({good_rate}), and not at {bad} ({bad_rate}): {how}"
    )]
    Swapped {
        /// What is looked for.
        what: Box<str>,
        /// The end that should be good.
        good: String,
        /// How often it shows there.
        good_rate: Box<str>,
        /// The end that should be bad.
        bad: String,
        /// How often it shows there.
        bad_rate: Box<str>,
        /// What to say instead.
        how: &'static str,
    },
    /// It does not show anywhere.
    #[error("nothing to search for: {what} does not show at {bad}, the bad end ({rate}){hint}")]
    NotBad {
        /// What is looked for.
        what: String,
        /// The end that should be bad.
        bad: String,
        /// How often it shows there.
        rate: String,
        /// What may make it show.
        hint: &'static str,
    },
    /// It shows at both ends.
    #[error(
        "both ends share it: {what} shows at {good} as well, the good end ({rate}{how}): choose an end without it"
    )]
    NotGood {
        /// What is looked for.
        what: String,
        /// The end that should be good.
        good: String,
        /// How often it shows there.
        rate: Box<str>,
        /// In which way.
        how: Box<str>,
    },
    /// Something else goes wrong at the good end.
    #[error("{good}, the good end, fails in another way: {how}: choose an end where the case passes")]
    OtherFailure {
        /// The end that should be good.
        good: String,
        /// In which way.
        how: String,
    },
    /// A metric is the same at both ends.
    #[error("nothing to search for: {metric} is {good_value} at {good} and {bad_value} at {bad}{allowed}")]
    NoStep {
        /// Its name.
        metric: String,
        /// The first end.
        good: String,
        /// Its values there.
        good_value: Box<str>,
        /// The second end.
        bad: String,
        /// Its values there.
        bad_value: Box<str>,
        /// What it would have to differ by, if the user said so.
        allowed: Box<str>,
    },
    /// An end cannot be tested.
    #[error("{end} cannot be tested: {why}")]
    End {
        /// Its name.
        end: String,
        /// Why not.
        why: String,
    },
    /// The ends are the same.
    #[error("{first} and {second} are the same: there is nothing between them")]
    SameEnds {
        /// The first end.
        first: String,
        /// The second end.
        second: String,
    },
    /// kiln, the host or the machine failed.
    #[error("{0}; the results so far are kept: the same command resumes from there")]
    Broken(String),
    /// What the user said cannot be.
    #[error("{0}")]
    Usage(String),
    /// The user wants to stop.
    #[error("interrupted: the same command resumes from here")]
    Interrupted,
}

impl From<lab::suites::Error> for Error {
    fn from(error: lab::suites::Error) -> Self {
        match error {
            lab::suites::Error::Interrupted => Self::Interrupted,
            error if error.is_usage() => Self::Usage(error.to_string()),
            error => Self::Broken(error.to_string()),
        }
    }
}

impl From<lab::prepare::Error> for Error {
    fn from(error: lab::prepare::Error) -> Self {
        use lab::prepare::Error as Prepare;
        match error {
            Prepare::Kernel(error) => error.into(),
            Prepare::Build(error) => error.into(),
            Prepare::Suite(error) => error.into(),
            Prepare::Root(error) if error.is_interrupt() => Self::Interrupted,
            Prepare::Root(error) if error.is_usage() => Self::Usage(error.to_string()),
            Prepare::Root(error) => Self::Broken(error.to_string()),
            Prepare::Machine(error) if error.is_usage() => Self::Usage(error.to_string()),
            Prepare::Machine(error) => Self::Broken(error.to_string()),
            Prepare::Usage(text) => Self::Usage(text),
        }
    }
}

impl Error {
    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Kernel(error) => error.is_interrupt(),
            Self::Build(error) => error.is_interrupt(),
            Self::History(error) => error.is_interrupt(),
            Self::Slurm(error) => error.is_interrupt(),
            _ => false,
        }
    }

    /// Whether the kernel does not build, which leaves nothing to search.
    #[must_use]
    pub fn accuses_kernel(&self) -> bool {
        matches!(self, Self::Build(error) if error.accuses_kernel())
    }

    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_usage(),
            Self::Build(error) => error.is_usage(),
            Self::History(error) => error.is_usage(),
            Self::Search(_) | Self::SameEnds { .. } | Self::Usage(_) => true,
            Self::Swapped { .. }
            | Self::NotBad { .. }
            | Self::NotGood { .. }
            | Self::OtherFailure { .. }
            | Self::NoStep { .. } => true,
            Self::Ledger(_) | Self::Slurm(_) | Self::End { .. } | Self::Broken(_) | Self::Interrupted => {
                false
            }
        }
    }
}
