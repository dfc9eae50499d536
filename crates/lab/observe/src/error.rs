//! What cannot be observed.

use std::io;

use thiserror::Error;

/// Why something cannot be observed.
#[derive(Debug, Error)]
pub enum Error {
    /// A program does not start.
    #[error("{0}: {1}")]
    Program(String, io::Error),
    /// It cannot be traced.
    #[error("{0} cannot be traced: {1}; is it traced already? kernel.yama.ptrace_scope may forbid it, too")]
    Trace(String, io::Error),
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(i32),
    /// A process may not be looked at.
    #[error("process {0}: {1}; root may look at it")]
    Process(i32, io::Error),
    /// The kernel does not tell what happens to processes.
    #[error("the process connector: {0}; it needs root and the first PID namespace, and CONFIG_PROC_EVENTS")]
    Connector(io::Error),
    /// Something else.
    #[error(transparent)]
    Io(#[from] io::Error),
}
