//! Process 1 of the machine: mounts, control port, kernel log, running work, shell.

pub mod init;
