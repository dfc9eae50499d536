//! What to run, where and when.
//!
//! * [`event`]: what is told to whoever reports or records
//! * [`request`]: what a user asks; [`prepare`]: from there to a Kernel, cases and machines
//! * [`backend`]: where Kernels and machines come from
//! * [`suites`]: kiln's own suites, and those of others
//! * [`plan`]: what a Kernel has of what the cases need
//! * [`user_program`]: a user's own program as the only case
//! * [`userland`]: a shell and the usual programs; [`commands`]: what scripts name; [`scripts`]: what runs them
//! * [`jobs`]: what is measured, and what its machine needs
//! * [`source`]: where machines come from
//! * [`options`]: how a plan is run
//! * [`runner`]: boots, runs, judges
//! * [`shell`]: a shell in a machine; [`stress_job`]: job files of the instrument `stress`,
//!   [`stress_coverage`]: what it reached of a kernel; [`cpu_list`]: lists of CPUs
//! * [`experiment`]: machines for lab scripts
//! * [`kunit`]: boots a kernel that runs tests of its own
//! * [`decode`]: lines of source for the lines of back traces
//! * [`bundle`]: a Run as files that reproduce it without kiln
//! * [`watch`]: notices a machine that stopped answering

pub mod backend;
pub mod bundle;
mod commands;
pub mod cpu_list;
pub mod decode;
pub mod event;
pub mod experiment;
pub mod jobs;
pub mod kunit;
mod observe;
pub mod options;
pub mod plan;
pub mod prepare;
pub mod request;
pub mod runner;
mod scripts;
pub mod shell;
pub mod source;
pub mod stress_coverage;
pub mod stress_job;
pub mod suites;
pub mod user_program;
pub mod userland;
pub mod watch;

pub use backend::{Backend, HostBackend, Waiting};
pub use bundle::File;
pub use event::{Event, Listener};
pub use jobs::Jobs;
pub use options::{Isolation, Options, Repeats};
pub use plan::Plan;
pub use prepare::{Again, Prepared};
pub use request::{Request, RunRequest};
pub use runner::{Part, Runner};
pub use suites::Suite;
pub use user_program::UserProgram;
