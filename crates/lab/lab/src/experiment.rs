//! Where lab scripts find their machines: real ones, of this host.
//!
//! * [`laboratory`]: what is asked goes to a machine, a command or a segment of a step
//! * [`guest`]: a machine of a script, and the commands that run in it; [`pump`]: the thread that listens to it; [`heard`]: what
//!   was heard of it
//! * [`order`]: what the agent is asked, and what becomes of it
//! * [`inside`]: calls that the agent answers; [`outside`]: calls that the machine itself does
//! * [`wire`]: segments; [`describe`]: from what a script writes to a machine
//! * [`carry_out`]: an experiment from its folder to its Run

pub mod carry_out;
mod describe;
mod guest;
mod heard;
mod inside;
mod laboratory;
mod order;
mod outside;
mod pump;
mod wire;

pub use carry_out::{Carried, PreparedExperiment};
pub use laboratory::{Laboratory, Setting, Subject};
