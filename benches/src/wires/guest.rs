//! A machine in which one command runs after the other.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hardware::nic::{Link, Mac};
use hardware::{Device, Hardware, Nic};
use kernel::Kernel;
use lab::Plan;
use lab::request::MachineRequest;
use machine::program::Program;
use machine::{Built, Connections, Event, Machine, Spec, Vmm};
use protocol::job::{Interface, Order, Task};
use protocol::{Command, End, FromAgent, ToAgent};

use crate::clones::LIMIT;

/// Where the program is.
const PROGRAM: &str = "/wire";

/// What a command writes, at most, in bytes.
const OUTPUT_MAX: u64 = 4096;

/// How often something is waited for.
const INTERVAL: Duration = Duration::from_millis(100);

pub(super) struct Guest {
    machine: Vmm,
    last: u32,
}

impl Guest {
    /// Boots a machine with these interfaces and this program.
    pub(super) fn start(
        kernel: &Kernel,
        links: [Link; 2],
        connections: Connections,
        program: &Path,
    ) -> Result<Self> {
        let nic =
            |(place, link)| Device::Nic(Nic { mac: Some(Mac::of_number(place)), link, ..Nic::default() });
        let hardware = Hardware::new(links.into_iter().enumerate().map(nic).collect())?;
        let request = MachineRequest { hardware, boot_limit: Some(LIMIT), ..MachineRequest::default() };
        let engine = request.engine(kernel)?;
        let mut plan = Plan::nothing("wires", request.fixed(engine, None)?);
        let lacking = plan.give_devices(kernel, engine, &request.hardware)?;
        lacking.map_or(Ok(()), |why| bail!(why))?;
        let program = Program { content: std::fs::read(program)?, libraries: Vec::new() };
        plan.payload.program(program, PROGRAM);
        let spec = Spec { connections, ..request.spec(&plan, engine) };
        let never = AtomicBool::new(false);
        let booted = Built::new(&spec, kernel)?.start()?.wait_for_hello(&never, &mut |_| {});
        let booted =
            booted.map_err(|failure| anyhow::anyhow!("the machine did not boot: {}", failure.trouble))?;
        Ok(Self { machine: booted.machine, last: 0 })
    }

    /// Gives an interface its addresses.
    pub(super) fn configure(&mut self, interface: Interface) -> Result<()> {
        self.order(Order::Interface(interface)).map(drop)
    }

    /// Starts the program.
    pub(super) fn begin(&mut self, arguments: &[&str]) -> Result<u32> {
        let argv = [PROGRAM].iter().chain(arguments).map(ToString::to_string).collect();
        let task = Task::Program(Command::new(argv));
        self.order(Order::Start { task, input: Vec::new(), output_max: OUTPUT_MAX })
    }

    /// Runs the program to its end, and gives what it wrote.
    pub(super) fn run(&mut self, arguments: &[&str]) -> Result<String> {
        let number = self.begin(arguments)?;
        let mut output = Vec::new();
        let end = self.wait(|message| match message {
            FromAgent::JobOutput { job, bytes } if job == number => {
                output.extend(bytes);
                None
            }
            FromAgent::JobEnded { job, end } if job == number => Some(end),
            _ => None,
        })?;
        let output = String::from_utf8_lossy(&output).into_owned();
        ensure!(end == End::Exited(0), "{PROGRAM} {arguments:?} ended with {end:?}: {output}");
        Ok(output)
    }

    /// Has the agent do something; gives its number.
    fn order(&mut self, order: Order) -> Result<u32> {
        self.last += 1;
        let number = self.last;
        self.machine.send(&ToAgent::Do { number, order });
        let trouble = self.wait(|message| match message {
            FromAgent::Answer { number: answered, trouble } if answered == number => Some(trouble),
            _ => None,
        })?;
        trouble.map_or(Ok(number), |why| bail!(why))
    }

    /// Listens until `look` finds something.
    fn wait<T>(&mut self, mut look: impl FnMut(FromAgent) -> Option<T>) -> Result<T> {
        let deadline = Instant::now() + LIMIT;
        while Instant::now() < deadline {
            match self.machine.next(Instant::now() + INTERVAL) {
                Event::Agent(message) => {
                    if let Some(found) = look(message) {
                        return Ok(found);
                    }
                }
                Event::Ended(death) => bail!("the machine ended: {death:?}"),
                _ => {}
            }
        }
        None.context("the machine does not answer")
    }
}
