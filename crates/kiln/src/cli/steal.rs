//! What can be said of a measurement of stolen time.

use std::time::Duration;

use clap::Args;
use protocol::steal::{LOADS, Load, Setup, StealRequest, WrongLoad};
use script::nearest::nearest;

use super::{OUTPUT, Place};
use crate::units;

/// `kiln steal`.
#[derive(Debug, Args)]
pub(crate) struct Steal {
    /// A program and its arguments, which are run instead of the probe
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// The CPU that the victim is pinned to [default: the last one]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) cpu: Option<u32>,
    /// How long a pass of the probe takes, or after which time a command is ended
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    pub(crate) duration: Duration,
    /// What takes the time: net:udp,pps=N,size=BYTES, net:tcp-stream,N, net:request,N or timer:hz=N,busy=TIME [default: nothing
    /// but what runs there anyway]
    #[arg(long, value_name = "LOAD", value_parser = load)]
    pub(crate) load: Option<Load>,
    /// How the receiving end of a network load is set up: rps=1 (on the CPU of the victim) or rps=0 (on that of the sender), xdp=none,
    /// xdp=drop or xdp=busy:TIME; may be given more than once
    #[arg(long, value_name = "SETTING", requires = "load", value_parser = setting)]
    pub(crate) setup: Vec<String>,
    /// A second set-up, which is compared with the first; may be given more than once
    #[arg(long, value_name = "SETTING", requires = "load", conflicts_with = "command", value_parser = setting)]
    pub(crate) against: Vec<String>,
    /// With --against: how many passes of each, in turns
    #[arg(long, value_name = "COUNT", default_value = "5", requires = "against")]
    pub(crate) pairs: u32,
    /// No second pass with tracing: a command is run once
    #[arg(long)]
    pub(crate) no_trace: bool,
    /// Fail if more of the CPU is stolen
    #[arg(long, value_name = "PERCENT", value_parser = units::percent)]
    pub(crate) max_steal: Option<f64>,
    /// One JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

impl Steal {
    /// What is asked.
    pub(crate) fn request(&self) -> StealRequest {
        // Each setting was read before.
        let setup = |settings: &[String]| settings.join(",").parse::<Setup>().ok();
        StealRequest {
            cpu: self.cpu,
            duration_ms: units::milliseconds(self.duration),
            command: self.command.clone(),
            load: self.load,
            setup: setup(&self.setup).unwrap_or_default(),
            against: setup(&self.against),
            pairs: self.pairs,
            trace: !self.no_trace,
            max_steal: self.max_steal,
        }
    }
}

fn load(text: &str) -> Result<Load, String> {
    text.parse().map_err(|error: WrongLoad| match &error {
        WrongLoad::Unknown(name) => match nearest(name, LOADS) {
            Some(near) => format!("{error}; did you mean {near}?"),
            None => error.to_string(),
        },
        WrongLoad::Option(..) => error.to_string(),
    })
}

fn setting(text: &str) -> Result<String, String> {
    text.parse::<Setup>().map(|_| text.to_owned())
}
