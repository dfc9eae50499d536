//! Programs of this host that cannot outlive kiln.
//!
//! * [`contain`]: a program that makes processes of its own, such as make or UML
//! * [`task`]: a program that runs to its end before anything else is done

mod contain;
pub mod task;

pub use contain::{contain, die_with_parent};
pub use task::Task;
