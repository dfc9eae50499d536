//! The program inside the machine.
//!
//! * [`case`]: what a case is: name, needs, time limit, body
//! * [`check`]: how a body checks and reports
//! * [`cases`]: the cases, one file per area of the kernel
//! * [`child`]: processes that a case makes
//! * [`sys`]: raw system calls, for those that no library wraps
//! * [`page`]: the results page from inside a process
//! * [`micro`]: the instrument that measures what small operations cost
//! * [`init`]: process 1: mounts, control port, kernel log, running work, shell
//!
//! The library is also linked into kiln itself, which reads names and needs of the cases from it
//! without booting anything.

pub mod case;
pub mod cases;
pub mod check;
pub mod child;
pub mod init;
pub mod micro;
pub mod page;
pub mod sys;
