//! Kernels beside each other: what is missing is run, and what differs stands out.
//!
//! * [`request`]: kernels and kernel parameters, suites, a machine
//! * [`plan`]: from what a file says to requests
//! * [`fill`](mod@fill): runs what the ledger has not; `survey`: finds it
//! * [`grid`]: what the ledger has, a row for each case; [`cell`]: what a case came to on a kernel
//! * [`groups`](mod@groups): rows that are alike are one, and those with a difference between neighbours come first
//! * [`error`]: why there is no matrix

pub mod cell;
pub mod error;
pub mod fill;
pub mod grid;
pub mod groups;
pub mod plan;
pub mod request;
mod survey;

pub use cell::{Cell, Light, Mark};
pub use error::Error;
pub use fill::{Filled, fill, fill_on_slurm};
pub use grid::{Column, Grid, Row, known, latest};
pub use groups::{Group, groups};
pub use request::MatrixRequest;
