//! Sessions on the nodes of a cluster: each is a job of an array of Slurm's.
//!
//! A submission is a folder beside the sessions. It is there before `sbatch` is called, and has a file for the answer of each job, so
//! that a kiln which was killed is followed by one that goes on from there.
//!
//! ```text
//! .slurm/kiln-2026-11-20T10-07-31Z-4711/
//!     submission.json     the sessions, by their places in the array
//!     script              what the jobs run, with a request for each of them
//!     7.jsonl             the answer of job 7: its session as kiln export writes it, or why there is none
//!     7.log               what kiln said there
//! ```
//!
//! * [`resources`]: what a job asks for
//! * [`script`]: requests become a script, and are read on the node
//! * [`job`]: what a job does on its node; [`answer`]: what comes back
//! * [`submission`]: what was submitted, on the disk
//! * [`take`]: answers become sessions
//! * [`queue`]: what Slurm says of the jobs; [`client`]: the programs that are called
//! * [`wanted`]: a session that a job is to run; [`watch`]: submits what is missing, waits, and takes in what comes
//! * [`spread`](mod@spread): one session as several jobs
//! * [`error`]: why there are no results

mod answer;
mod client;
mod error;
pub mod job;
mod queue;
mod resources;
mod script;
mod spread;
mod submission;
mod take;
mod wanted;
mod watch;

pub use error::Error;
pub use resources::Resources;
pub use spread::{Spread, sessions, spread};
pub use submission::{Submitted, submitted};
pub use wanted::{Counts, Wanted};
pub use watch::{Carried, carry_out};
