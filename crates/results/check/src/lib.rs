//! From patches to a verdict: is the kernel with them worse than the one before, and which of them made it so?
//!
//! * [`request`]: what is asked; [`document`]: what is known in the end
//! * [`mod@carry_out`]: from one to the other, stage after stage
//! * `patches`: the commits between the base and the last patch; `building`: each of them is built, and `warnings` that are new
//! * `analysis`: what static analysers say before and after, and `findings` that are new
//! * `testing`: cases on the kernels before and after, `selftests` among them (`maintainers` says which belong to a file), and `differences` between them; `costs`: what operations cost on both
//! * `culprits`: the patch that made a case fail or an operation dearer, by `bisect`
//! * [`verdict()`]: what all of it comes to; [`mod@trend`]: findings from check to check

mod analysis;
mod building;
pub mod carry_out;
mod costs;
mod culprits;
mod differences;
pub mod document;
mod environment;
pub mod error;
mod findings;
mod maintainers;
mod patches;
pub mod request;
mod selftests;
mod testing;
pub mod trend;
mod verdict;
mod warnings;

pub use carry_out::check;
pub use document::{
    AlsoBuilt, Analysis, Built, CaseChange, Change, Commit, CostChange, Culprit, NewFinding, Seen,
    SeriesCheck, Tests, Verdict,
};
pub use environment::Environment;
pub use error::Error;
pub use ledger::Progress;
pub use request::{CheckRequest, PatchesRequest};
pub use verdict::verdict;
