//! How the machine is set up for a load.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::load::time;

/// The longest busy time for one packet, in nanoseconds.
const BUSY_MAX_NS: u64 = 1_000_000;

/// The receiving end of a network load, in the form that `Display` writes and `FromStr` reads: `rps=0,xdp=drop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Setup {
    /// Receive packet steering moves the packets to the CPU of the victim: `rps_cpus` of
    /// Documentation/networking/scaling.rst. Without it a veth pair delivers on the CPU of the sender.
    pub rps: bool,
    /// What an XDP program in generic mode does, which runs on the CPU that receive packet steering chose.
    pub xdp: Option<Xdp>,
}

/// XDP programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Xdp {
    /// `xdp=drop`: drops each packet.
    Drop,
    /// `xdp=busy:TIME`: is busy for a known time, in nanoseconds, then drops the packet.
    Busy(u64),
}

impl Default for Setup {
    fn default() -> Self {
        Self { rps: true, xdp: None }
    }
}

impl Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rps={}", u8::from(self.rps))?;
        match self.xdp {
            None => Ok(()),
            Some(Xdp::Drop) => f.write_str(",xdp=drop"),
            Some(Xdp::Busy(busy_ns)) => write!(f, ",xdp=busy:{busy_ns}ns"),
        }
    }
}

impl FromStr for Setup {
    type Err = String;

    /// Settings with commas between them; those that are left out keep their default.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut setup = Self::default();
        for setting in text.split(',') {
            match setting.split_once('=') {
                Some(("rps", "0")) => setup.rps = false,
                Some(("rps", "1")) => setup.rps = true,
                Some(("xdp", "none")) => setup.xdp = None,
                Some(("xdp", program)) => setup.xdp = Some(program.parse()?),
                _ => {
                    return Err(format!(
                        "{setting:?}: use rps=0, rps=1, xdp=none, xdp=drop or xdp=busy:TIME"
                    ));
                }
            }
        }
        Ok(setup)
    }
}

impl FromStr for Xdp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "drop" => Ok(Self::Drop),
            Some(("busy", busy)) => time("xdp=busy", busy, BUSY_MAX_NS).map(Self::Busy),
            _ => Err(format!("there is no XDP program {text:?}: use none, drop or busy:TIME")),
        }
    }
}

impl TryFrom<String> for Setup {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Setup> for String {
    fn from(setup: Setup) -> Self {
        setup.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setup_is_read_as_it_was_written() {
        for rps in [false, true] {
            for xdp in [None, Some(Xdp::Drop), Some(Xdp::Busy(5000))] {
                let setup = Setup { rps, xdp };
                assert_eq!(setup.to_string().parse(), Ok(setup));
            }
        }
        assert_eq!("xdp=busy:5us".parse(), Ok(Setup { rps: true, xdp: Some(Xdp::Busy(5000)) }));
    }

    #[test]
    fn what_is_no_setting_says_what_is_allowed() {
        for wrong in ["", "rps", "rps=2", "xdp=pass", "xdp=busy", "xdp=busy:0ns", "rps=1,", "gro=0"] {
            let why = wrong.parse::<Setup>().expect_err("it is none");
            assert!(why.contains("use "), "{why}");
        }
    }
}
