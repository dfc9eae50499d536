//! Where lab scripts find their machines: real ones, of this host.
//!
//! * [`laboratory`]: what is asked goes to a machine, a command or a segment of a step
//! * [`guest`]: a machine of a script, and the commands that run in it; [`pump`]: the thread that listens to it; [`transcript`]: what it
//!   has said
//! * [`order`]: what the agent is asked, and what becomes of it
//! * [`inside`]: calls that the agent answers; [`instrument`]: instruments; [`outside`]: calls that the machine itself does
//! * [`calling`]: what belongs to a call; [`setting`]: what a laboratory is made of; [`kept`]: files that stay
//! * [`recording`]: what the kernel of a machine does becomes a trace; [`trace`]: the calls about it
//! * [`hazards`]: where a machine is stopped because it waits for too long
//! * [`kexec`]: a machine goes over to another kernel
//! * [`snapshot`]: a machine is put back to where it was; [`disks`]: what it has written
//! * [`wire`]: segments; [`way_out`]: of a segment; [`describe`]: from what a script writes to a machine
//! * [`carry_out`]: an experiment from its request to its Run; [`session`]: the same as a session; [`lines`]: what a person reads
//!   of it
//! * [`catalogue`]: which experiments there are; [`choice`]: one of them, for runs on one Kernel each

mod calling;
pub mod carry_out;
pub mod catalogue;
pub mod choice;
mod describe;
mod disks;
mod guest;
mod hazards;
mod inside;
mod instrument;
mod kept;
mod kexec;
mod laboratory;
pub mod lines;
mod order;
mod outside;
mod pump;
mod recording;
pub mod session;
mod setting;
mod snapshot;
mod trace;
mod transcript;
mod way_out;
mod wire;

pub use carry_out::{Carried, PreparedExperiment, Watching};
pub use choice::ExperimentChoice;
pub use laboratory::Laboratory;
pub use session::Places;
pub use setting::{Setting, Subject};
