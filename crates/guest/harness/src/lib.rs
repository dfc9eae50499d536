//! What the programs inside the machine are written with.
//!
//! * [`check`]: how a body checks and reports; [`mod@plain`]: values in a report
//! * [`page`]: the results page from inside a process
//! * [`child`]: processes that a case makes; [`checkpoint`] and [`waiting`]: how they wait for each other; [`execute`]: programs that cannot be executed
//! * [`sys`]: raw system calls, for those that no library wraps
//! * [`storage`]: mounts, loop devices, tools of the host
//! * [`memory`]: mapped memory; [`timer`], [`loopback`], [`netlink`], [`keys`], [`seccomp`], [`io_uring`], [`bpf`], [`perf`]: what else a body
//!   asks of the kernel
//! * [`kallsyms`]: functions of the kernel; [`modules`]: kernel modules; [`instrument`]: the programs of instruments; [`companion`]: those that they run;
//!   [`mod@program`]: one of the user that they measure, [`mod@workload`]: or all of a machine; [`signals`]: how they end early; [`tracefs`]: how they trace; [`counter`]: what one thread counts and others read
//! * [`needs`]: needs that only the running kernel can judge; [`mod@hypervisor`]: what this machine runs on
//! * [`random`]: numbers that are the same for the same seed; [`clock`]: the time; [`usage`]: what a thread was charged with

pub mod bpf;
pub mod check;
pub mod checkpoint;
pub mod child;
pub mod clock;
pub mod companion;
pub mod counter;
mod errno;
pub mod execute;
pub mod hypervisor;
pub mod instrument;
pub mod io_uring;
pub mod kallsyms;
pub mod keys;
pub mod loopback;
pub mod memory;
pub mod modules;
pub mod needs;
pub mod netlink;
pub mod page;
pub mod perf;
pub mod plain;
pub mod program;
pub mod random;
pub mod rcu;
pub mod seccomp;
pub mod signals;
pub mod storage;
pub mod sys;
pub mod timer;
pub mod tracefs;
pub mod usage;
pub mod waiting;
pub mod workload;
