//! Programs of this host that cannot outlive kiln.
//!
//! * [`contain()`]: a program that makes processes of its own, such as make or UML
//! * [`write_atomically`], [`write_privately`], [`cache_folder`], [`state_folder`], [`data_home`]: files of kiln's own and of its user
//! * [`give_scratch`]: a file system that nobody else sees and that ends with it
//! * [`sandbox()`]: a program that runs a stranger's code
//! * [`with_subordinate_ids`]: a program that is root over user ids of its own
//! * [`find_program`], [`available_memory_mib`], [`free_mib`], [`is_writable`]: what there is
//! * [`Conditions`], [`Watching`]: what else happened while something was timed
//! * [`read_bounded`]: a file that may hold anything; [`open_beneath`], [`remove_beneath`]: files of a stranger's program
//! * [`on_all_cpus`]: the same work for each of many items
//! * [`task`]: a program that runs to its end before anything else is done

mod atomic;
mod beneath;
mod conditions;
mod contain;
mod folders;
mod means;
mod parallel;
mod reading;
mod sandbox;
mod scratch;
mod subordinate;
pub mod task;

pub use atomic::{write_atomically, write_privately};
pub use beneath::{open_beneath, remove_beneath, text_beneath};
pub use conditions::{Conditions, Watching};
pub use contain::{contain, end_with_parent, end_with_thread};
pub use folders::{cache_folder, data_home, state_folder};
pub use means::{available_memory_mib, find_program, free_mib, is_writable};
pub use parallel::on_all_cpus;
pub use reading::read_bounded;
pub use sandbox::{can_sandbox, sandbox};
pub use scratch::give_scratch;
pub use subordinate::{NEWUIDMAP, has_subordinate_ids, with_subordinate_ids};
pub use task::{Task, nameless};
