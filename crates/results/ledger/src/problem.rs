//! Identical failures.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;
use judge::Outcome;
use serde::Serialize;

/// Characters of a problem's id: enough that two of ten thousand problems share them once in a million ledgers.
const ID: usize = 12;

/// Failures that have in common what matters: [`judge::Run::signature`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// The beginning of a hash over the signature: the same wherever it is seen.
    pub id: String,
    /// What the failures have in common.
    pub signature: String,
    /// Whom they accuse, if they say so.
    pub accused: Option<String>,
    /// The cases that failed so.
    pub cases: BTreeSet<String>,
    /// Runs that failed so, with all that one stands for.
    pub failures: u64,
    /// Where it was seen first.
    pub first: Sighting,
    /// Where it was seen last.
    pub last: Sighting,
    /// The releases on which it was seen or its cases passed, in their order.
    pub kernels: Vec<OnKernel>,
    /// Somebody closed it.
    pub closing: Option<Closing>,
}

/// A Run that failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sighting {
    /// The name of its session.
    pub session: String,
    /// When that began.
    pub started: Timestamp,
    /// The suite, or the program.
    pub suite: String,
    /// The case.
    pub case: String,
    /// It is the boot of the machine.
    pub is_boot: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// The locator by which the very same kernel is found.
    pub kernel: String,
    /// The kernel's release, with its commit where that is known; the locator where neither is.
    pub release: String,
}

/// What is known of a problem on a release. Builds of one release are told apart by their commits; of others nothing says which is
/// later.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OnKernel {
    /// The locator by which the kernel of its last session is found.
    pub kernel: String,
    /// The release, with its commit where that is known; the locator where neither is.
    pub release: String,
    /// The source, where it was built from a commit.
    pub source: Option<Source>,
    /// Sessions in which the problem was seen, and those in which one of its cases passed with the same parameters.
    pub sessions: u32,
    /// Those of them in which it was seen.
    pub failing: u32,
    /// When the first began in which the problem was seen.
    pub first_failed: Option<Timestamp>,
    /// When the last began in which the problem was seen.
    pub last_failed: Option<Timestamp>,
}

/// The commit that a Kernel was built from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Source {
    /// The full hash.
    pub commit: String,
    /// The tree of this host that has it; none where another host built it.
    pub tree: Option<PathBuf>,
    /// How it was built: `boot,debug x86_64`.
    pub build: String,
}

/// A user's word that a problem is gone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Closing {
    /// When.
    pub closed: Timestamp,
    /// By then all later kernels passed: if older ones fail again, it has not returned.
    pub was_gone: bool,
}

impl Problem {
    /// The problem of these failures, of which this is the first.
    pub(crate) fn begin(signature: &str, accused: Option<String>, first: &Sighting) -> Self {
        let mut id = kernel::files::hash(signature.as_bytes());
        id.truncate(ID);
        Self {
            id,
            signature: signature.to_owned(),
            accused,
            cases: BTreeSet::new(),
            failures: 0,
            first: first.clone(),
            last: first.clone(),
            kernels: Vec::new(),
            closing: None,
        }
    }
}
