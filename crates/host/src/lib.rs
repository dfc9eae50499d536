//! Programs of this host that cannot outlive kiln.
//!
//! * [`contain`]: a program that makes processes of its own, such as make or UML

mod contain;

pub use contain::{contain, die_with_parent};
