//! What can go wrong on the way to a running machine.

use thiserror::Error;

use crate::engine::Engine;
use crate::{Death, Facts};

/// A machine that could not be had. Nothing here says anything about the kernel.
#[derive(Debug, Error)]
pub enum Error {
    /// QEMU is not installed.
    #[error("{0} is not installed: apt-get install qemu-system-x86")]
    NoQemu(String),
    /// QEMU is too old or cannot say what it is.
    #[error("{program}: version 7.2 or later is needed, this is {found}")]
    OldQemu {
        /// The program.
        program: String,
        /// What it said.
        found: String,
    },
    /// KVM was asked for and does not work.
    #[error("--accel kvm: {0}; without --accel kiln uses TCG by itself")]
    NoKvm(String),
    /// An accelerator was asked for and there is none to choose.
    #[error("--accel: User-Mode Linux is a program of this host, there is no accelerator to choose")]
    UmlAccel,
    /// More CPUs were asked for than there can be.
    #[error("--cpus {asked}: User-Mode Linux has one CPU")]
    UmlCpus {
        /// CPUs asked for.
        asked: u32,
    },
    /// The kernel cannot come up here whatever it does.
    #[error(
        "the kernel was built without CONFIG_{option} and cannot run here ({purpose}): switch the option on and build it again"
    )]
    Unfit {
        /// The option, without `CONFIG_`.
        option: &'static str,
        /// What it is for.
        purpose: &'static str,
    },
    /// The machine would be too small for its own initramfs.
    #[error("--memory {asked}M is too little: this kernel and its initramfs need at least {needed}M")]
    SmallMemory {
        /// MiB asked for.
        asked: u64,
        /// MiB needed.
        needed: u64,
    },
    /// The host has not got the memory.
    #[error("the host has {available} MiB of memory left, the machine wants {asked}: use a smaller --memory")]
    NoMemory {
        /// MiB asked for.
        asked: u64,
        /// MiB that the host could give.
        available: u64,
    },
    /// A program cannot be shipped.
    #[error("{program}: {why}")]
    Program {
        /// Its path or name.
        program: String,
        /// Why not.
        why: String,
    },
    /// A module cannot be read.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The host refused something.
    #[error("{what}: {source}")]
    Host {
        /// What was tried.
        what: String,
        /// The refusal.
        source: std::io::Error,
    },
}

impl Error {
    /// A refusal of the host while `what` was tried.
    pub fn host(what: &str, source: impl Into<std::io::Error>) -> Self {
        Self::Host { what: what.to_string(), source: source.into() }
    }

    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::UmlAccel
            | Self::UmlCpus { .. }
            | Self::Unfit { .. }
            | Self::SmallMemory { .. }
            | Self::Program { .. } => true,
            Self::Kernel(error) => error.is_usage(),
            Self::NoQemu(_)
            | Self::OldQemu { .. }
            | Self::NoKvm(_)
            | Self::NoMemory { .. }
            | Self::Host { .. } => false,
        }
    }
}

/// A boot that did not reach the agent's hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootFailure {
    /// What happened.
    pub trouble: BootTrouble,
    /// The last lines of the console.
    pub console: Vec<String>,
    /// Registers and the like, where the machine could still be asked.
    pub facts: Box<Facts>,
    /// What became of a dump of its memory, in words.
    pub dump: Option<String>,
}

impl BootFailure {
    /// A machine from which others cannot be cloned.
    #[must_use]
    pub fn unclonable(why: impl Into<String>) -> Self {
        Self {
            trouble: BootTrouble::Unclonable(why.into()),
            console: Vec::new(),
            facts: Box::default(),
            dump: None,
        }
    }
}

impl BootTrouble {
    /// A machine of this engine that came to this end before its agent was ready.
    pub(crate) fn of(death: Death, engine: Engine) -> Self {
        match death {
            Death::Panic(title) => Self::Panic(title),
            Death::AgentDied(title) => Self::AgentDied(title),
            Death::Reset => Self::Reset,
            Death::Fault(signal) => Self::Fault(signal),
            Death::Restarted => Self::Panic("the kernel restarted before user space".to_string()),
            // The agent gives up when it finds no port. A kernel with one serial port drops its console for
            // the second one, so that the agent's own words about it may be lost.
            Death::PoweredOff => Self::no_control_port(engine),
            Death::Broken(text) => Self::Machine(text),
        }
    }

    pub(crate) fn no_control_port(engine: Engine) -> Self {
        Self::NoControlPort { option: engine.port_option() }
    }
}

/// The ways in which a boot fails.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BootTrouble {
    /// The kernel panicked before user space.
    #[error("the kernel panicked: {0}")]
    Panic(String),
    /// The machine was reset without a message.
    #[error("the machine was reset without a message (a triple fault?)")]
    Reset,
    /// The kernel died of a fault that it did not handle.
    #[error("the kernel died of signal {0} without a message")]
    Fault(i32),
    /// Nothing at all on the console.
    #[error("nothing came on the console in {seconds} s: the kernel hangs early, or lacks {option}")]
    NoConsole {
        /// Seconds of silence.
        seconds: u64,
        /// The configuration that a console needs.
        option: &'static str,
    },
    /// The console went silent.
    #[error("the kernel stopped after {lines} lines on the console and said nothing for {seconds} s")]
    Hang {
        /// Lines up to then.
        lines: u64,
        /// Seconds of silence.
        seconds: u64,
    },
    /// The console was still talking when the time for a boot was over.
    #[error("the kernel did not reach user space within {0} s; --timeout gives it more time")]
    Late(u64),
    /// Process 1 died before it could say hello.
    #[error("process 1 died: {0}")]
    AgentDied(String),
    /// User space ran but the agent could not speak.
    #[error("the agent found no control port: the kernel needs {option}")]
    NoControlPort {
        /// The configuration that the port needs.
        option: &'static str,
    },
    /// An agent of another version answered.
    #[error("the agent speaks protocol {0}, this kiln speaks {version}", version = protocol::VERSION)]
    Protocol(u32),
    /// The machine is up, but others cannot be cloned from it.
    #[error("this machine cannot be cloned: {0}")]
    Unclonable(String),
    /// QEMU, UML or the host failed; says which.
    #[error("{0}")]
    Machine(String),
    /// The user did not want to wait.
    #[error("interrupted")]
    Interrupted,
}
