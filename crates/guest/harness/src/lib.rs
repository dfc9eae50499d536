//! What the programs inside the machine are written with.
//!
//! * [`check`]: how a body checks and reports
//! * [`page`]: the results page from inside a process
//! * [`child`]: processes that a case makes
//! * [`sys`]: raw system calls, for those that no library wraps
//! * [`storage`]: mounts, loop devices, tools of the host
//! * [`modules`]: loading kernel modules
//! * [`needs`]: needs that only the running kernel can judge

pub mod check;
pub mod child;
pub mod modules;
pub mod needs;
pub mod page;
pub mod storage;
pub mod sys;
