//! How a process ended.

use std::fmt;

use crate::signal::name;

/// How a process or a thread ended, as wait(2) reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// A signal killed it.
    Killed {
        /// The signal.
        signal: i32,
        /// The kernel wrote a core dump.
        core: bool,
    },
    /// Nobody saw how.
    Unseen,
}

impl Ending {
    /// What a status of wait(2) says of a process that has ended.
    #[must_use]
    pub fn of_status(status: i32) -> Self {
        match status & 0x7f {
            0 => Self::Code(status >> 8 & 0xff),
            signal => Self::Killed { signal, core: status & 0x80 != 0 },
        }
    }

    /// The code that a shell gives: a signal's number is added to 128. 255 if nobody saw it.
    #[must_use]
    pub fn code(self) -> u8 {
        let code = match self {
            Self::Code(code) => code,
            Self::Killed { signal, .. } => 128 + signal,
            Self::Unseen => i32::from(u8::MAX),
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }

    /// Whether it ended as programs do that have no complaint.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit {code}"),
            Self::Killed { signal, core: false } => write!(f, "killed by {}", name(*signal)),
            Self::Unseen => f.write_str("ended unseen"),
            Self::Killed { signal, core: true } => write!(f, "killed by {}, core dumped", name(*signal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_those_of_wait() {
        assert_eq!(Ending::of_status(0x0300), Ending::Code(3));
        assert_eq!(Ending::of_status(9), Ending::Killed { signal: 9, core: false });
        assert_eq!(Ending::of_status(0x80 | 11).to_string(), "killed by SIGSEGV, core dumped");
        assert_eq!(Ending::of_status(15).code(), 143);
    }
}
