//! How a machine, or a boot of it, comes to its end.

use thiserror::Error;

/// What a kernel needs so that its messages reach the console of a PC.
pub const CONSOLE_OPTIONS: &[&str] = &["CONFIG_SERIAL_8250_CONSOLE", "CONFIG_PRINTK"];

/// What a kernel needs for the control port of a PC.
pub const PORT_OPTION: &str = "CONFIG_SERIAL_8250 with at least two ports";

/// Why a machine is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Death {
    /// The kernel panicked; the text after `Kernel panic - not syncing: `.
    Panic(String),
    /// Process 1 died: kiln's own fault or that of a case that killed it.
    AgentDied(String),
    /// The machine was reset without a word: a triple fault or the like.
    Reset,
    /// The kernel, a process of the host under UML, did something that such a process dies of; the signal.
    Fault(i32),
    /// The kernel was asked to restart.
    Restarted,
    /// The kernel was asked to power off or halt.
    PoweredOff,
    /// QEMU, UML or the host failed; says which.
    Broken(String),
}

/// What a machine that stopped answering does, for a person to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Registers of its processors, or what its processes do.
    pub state: Vec<String>,
    /// The tasks of its kernel, as its memory has them.
    pub tasks: Vec<String>,
    /// Back traces that its kernel printed when it was provoked. A panic among them is no cause of anything.
    pub traces: Vec<String>,
}

impl Facts {
    /// All of it, after the last lines that the kernel printed by itself.
    #[must_use]
    pub fn after(&self, console: &[String]) -> Vec<String> {
        [console, &self.state, &self.tasks, &self.traces].concat()
    }
}

/// Whether a kernel was built with what its console needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConsoleSupport {
    /// It was: a silent kernel hangs.
    #[error("the kernel hangs early, since its configuration has {0}")]
    Present(&'static str),
    /// It was built without this option.
    #[error("the kernel was built without {0}")]
    Missing(&'static str),
    /// Nobody knows its configuration; it may lack this option.
    #[error("the kernel hangs early, or lacks {0}")]
    Unknown(&'static str),
}

impl ConsoleSupport {
    /// That of a kernel whose console needs all of `options`, the most telling first; `has`, if the configuration is
    /// known, says whether it has an option.
    #[must_use]
    pub fn new(options: &[&'static str], has: Option<impl Fn(&str) -> bool>) -> Self {
        let first = options.first().copied().unwrap_or_default();
        let Some(has) = has else { return Self::Unknown(first) };
        options
            .iter()
            .find(|option| !has(option))
            .map_or(Self::Present(first), |missing| Self::Missing(missing))
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
    /// A machine that came to this end before its agent was ready; its control port needs the kernel's `port_option`.
    #[must_use]
    pub fn of(death: Death, port_option: &'static str) -> Self {
        match death {
            Death::Panic(title) => Self::Panic(title),
            Death::AgentDied(title) => Self::AgentDied(title),
            Death::Reset => Self::Reset,
            Death::Fault(signal) => Self::Fault(signal),
            Death::Restarted => Self::Panic("the kernel restarted before user space".to_string()),
            // The agent gives up when it finds no port. A kernel with one serial port drops its console for
            // the second one, so that the agent's own words about it may be lost.
            Death::PoweredOff => Self::NoControlPort { option: port_option },
            Death::Broken(text) => Self::Machine(text),
        }
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
    #[error("no output on the console within {seconds} s: {support}")]
    NoConsole {
        /// Seconds of silence.
        seconds: u64,
        /// Whether the kernel could have printed something.
        support: ConsoleSupport,
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
    #[error("the kernel did not reach user space within {seconds} s; {remedy} gives it more time")]
    Late {
        /// Seconds that it had.
        seconds: u64,
        /// What the user can set to make the limit longer.
        remedy: &'static str,
    },
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
    /// A machine was to go over to this kernel, and the one that runs in it did not let it; says why.
    #[error("the running kernel does not start the next one: {0}")]
    NotStarted(String),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_kernel_is_told_by_its_configuration() {
        let told = |config: Option<&[&str]>| {
            let has = config.map(|config| |option: &str| config.contains(&option));
            let support = ConsoleSupport::new(CONSOLE_OPTIONS, has);
            BootTrouble::NoConsole { seconds: 9, support }.to_string()
        };
        assert_eq!(
            [told(None), told(Some(CONSOLE_OPTIONS)), told(Some(&CONSOLE_OPTIONS[..1])), told(Some(&[]))],
            [
                "no output on the console within 9 s: the kernel hangs early, or lacks CONFIG_SERIAL_8250_CONSOLE",
                "no output on the console within 9 s: the kernel hangs early, since its configuration has \
                 CONFIG_SERIAL_8250_CONSOLE",
                "no output on the console within 9 s: the kernel was built without CONFIG_PRINTK",
                "no output on the console within 9 s: the kernel was built without CONFIG_SERIAL_8250_CONSOLE",
            ]
        );
    }
}
