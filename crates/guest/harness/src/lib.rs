//! What the programs inside the machine are written with.
//!
//! * [`check`]: how a body checks and reports; [`mod@plain`]: values in a report
//! * [`page`]: the results page from inside a process
//! * [`child`]: processes that a case makes; [`checkpoint`] and [`waiting`]: how they wait for each other; [`execute`]: programs that cannot be executed
//! * [`sys`]: raw system calls, for those that no library wraps
//! * [`storage`]: mounts, loop devices, tools of the host
//! * [`memory`]: mapped memory; [`timer`], [`loopback`], [`keys`], [`seccomp`], [`io_uring`], [`bpf`]: what else a body
//!   asks of the kernel
//! * [`modules`]: kernel modules; [`instrument`]: the programs of instruments; [`companion`]: those that they run
//! * [`needs`]: needs that only the running kernel can judge
//! * [`random`]: numbers that are the same for the same seed; [`clock`]: the time

pub mod bpf;
pub mod check;
pub mod checkpoint;
pub mod child;
pub mod clock;
pub mod companion;
mod errno;
pub mod execute;
pub mod instrument;
pub mod io_uring;
pub mod keys;
pub mod loopback;
pub mod memory;
pub mod modules;
pub mod needs;
pub mod page;
pub mod plain;
pub mod random;
pub mod seccomp;
pub mod storage;
pub mod sys;
pub mod timer;
pub mod waiting;
