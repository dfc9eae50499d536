//! What can be said of samples.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use protocol::count::{Counter, Event};
use protocol::sample::SampleRequest;

use super::{OUTPUT, Place, Workload, count::event};
use crate::units;

/// From sample to sample where nobody says anything else: not a part of what timers have, so that samples do not go with them.
const CLOCK: Duration = Duration::from_nanos(1_003_009);
const HARDWARE: u64 = 1_000_003;

/// The same where the clock goes by instructions: about as many as in that time.
const INSTRUCTIONS: u64 = 125_003;

/// Below its help.
pub(super) const HELP: &str = "\
Examples:
  kiln sample --exec ./load                                  where the time goes, in the program and in the kernel
  kiln sample --flame load.svg --exec make -- -j2            the same as a flame graph
  kiln sample --tree --event page-faults --exec ./load       who causes page faults
  kiln sample --tree --in deb:latest-cloud --event kprobe:vfs_read --exec ./load    who calls this function
  kiln sample --every 250us --duration 10s                   everything on this host
  kiln sample --pid 4711 --duration 10s                      a process that runs already
  kiln sample --in deb:latest-cloud --event block:block_rq_issue --exec ./load
  kiln sample --in deb:latest-cloud --event instructions --exec ./load       where the instructions go, the same each time

Functions of programs have names where their files have symbols; inlined functions where there is debug information. Code in which the kernel \
has interrupts off is seen where it turns them on, unless the CPU's own counters take the samples (--event cycles). Exit codes: 0 sampled, 2 wrong \
usage, 3 broken, 4 there is no such program or no such samples.";

/// `kiln sample`.
#[derive(Debug, Args)]
pub(crate) struct Sample {
    /// Take samples at this event: a clock, or any that kiln count counts
    #[arg(long, value_name = "EVENT", default_value = "cpu-clock", value_parser = event)]
    pub(crate) event: Event,
    /// From sample to sample: a time for a clock, or a number of events [default: 1003us, 1000003 for events of the CPU, 125003 for instructions of a machine, otherwise each]
    #[arg(long, value_name = "TIME|COUNT")]
    pub(crate) every: Option<String>,
    /// Bytes of a program's stack that are copied to find its calls; 0 for the functions alone
    #[arg(long, value_name = "BYTES", default_value_t = 8192)]
    pub(crate) stack: u32,
    #[command(flatten)]
    pub(crate) workload: Workload,
    /// Show the calls as a tree instead of functions
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub(crate) tree: bool,
    /// Write a flame graph to this file, as SVG
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) flame: Option<PathBuf>,
    /// Write a line for each way to a function to this file, as flamegraph.pl reads it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) folded: Option<PathBuf>,
    /// One JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

impl Sample {
    /// Where samples are taken.
    pub(crate) fn place(&self) -> Place {
        self.place.with_clock_for(std::slice::from_ref(&self.event), &self.workload)
    }

    /// What is asked, of this workload in the machine of a place.
    ///
    /// # Errors
    ///
    /// What of it cannot be meant.
    pub(crate) fn request(
        &self,
        workload: protocol::workload::Workload,
        place: &Place,
    ) -> Result<SampleRequest, String> {
        let event = self.event.clone();
        let instruction_ns = place.instruction_ns();
        let period = match &self.every {
            None if instruction_ns.is_some() && event.counter() == Counter::INSTRUCTIONS => INSTRUCTIONS,
            None => default_period(&event),
            Some(text) if event.is_time() => units::nanoseconds(units::fine_duration(text)?),
            Some(text) => text.parse().map_err(|_| format!("--every {text}: a number of events is meant"))?,
        };
        let request = SampleRequest { event, period, stack: self.stack, workload, instruction_ns };
        request.validate().map_err(|error| error.to_string())?;
        Ok(request)
    }
}

fn default_period(event: &Event) -> u64 {
    match event.counter() {
        _ if event.is_time() => units::nanoseconds(CLOCK),
        Counter::Hardware(_) | Counter::Raw(_) => HARDWARE,
        Counter::Software(_) | Counter::Tracepoint | Counter::Kprobe { .. } => 1,
    }
}
