//! What timed figures say: the boot is the sampling unit.
//!
//! * [`design`]: what is decided before the first boot
//! * [`mod@order`]: which Kernel is booted when
//! * [`sequential`]: how many boots there are before one looks
//! * [`mod@decide`]: from values to verdicts
//! * [`compare`]: from two measurements to a table

pub mod compare;
pub mod decide;
pub mod design;
pub mod order;
pub mod sequential;

pub use compare::compare_timed;
pub use decide::{Decision, Pair, Sort, decide};
pub use design::Design;
pub use order::order;
pub use sequential::Sequential;
