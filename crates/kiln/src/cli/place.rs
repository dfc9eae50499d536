//! Where an instrument runs.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use hardware::Device;
use hardware::part::INSTRUCTION_NS;
use kernel::Locator;
use lab::request::{KernelRequest, MachineRequest};
use protocol::count::{Counter, Event};

use super::machine::AccelName;
use super::{BuildOptions, MachineOptions, OUTPUT, UserSpaceOptions, Workload};
use crate::units;

/// This host, or a machine.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// Run in a machine with this kernel: deb:latest-cloud, an image, a tree or another locator [default: on this host]
    #[arg(long = "in", value_name = "KERNEL")]
    pub(crate) kernel: Option<Locator>,
    #[command(flatten)]
    pub(crate) build: BuildOptions,
    #[command(flatten)]
    pub(crate) machine: MachineOptions,
    #[command(flatten)]
    pub(crate) user_space: UserSpaceOptions,
    /// With --in: where to make the folder with the results [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder(), help_heading = OUTPUT)]
    pub(crate) results: Option<PathBuf>,
}

impl Place {
    /// The machine that was described.
    pub(crate) fn machine(&self) -> MachineRequest {
        self.user_space.add_to(self.machine.request())
    }

    /// Whether options for a machine were given without a kernel.
    pub(crate) fn describes_no_machine(&self) -> bool {
        self.kernel.is_none() && !self.is_here()
    }

    /// Whether neither a kernel nor a machine was named.
    pub(crate) fn is_here(&self) -> bool {
        self.kernel.is_none()
            && self.machine() == MachineRequest::default()
            && self.build.request() == lab::request::BuildOptions::default()
            && self.results.is_none()
    }

    /// The same for these events of a workload. QEMU has no unit that counts instructions, but a clock that goes by them: a machine gets
    /// that if instructions are named, and nothing speaks against it.
    pub(crate) fn with_clock_for(&self, events: &[Event], workload: &Workload) -> Self {
        let mut place = self.clone();
        let is_named = events.iter().any(|event| event.counter() == Counter::INSTRUCTIONS);
        if is_named && !workload.everywhere && self.may_have_instruction_clock() {
            place.machine.device.extend(Device::instruction_clock());
        }
        place
    }

    /// How many nanoseconds an instruction takes, if the machine's clock goes by instructions.
    pub(crate) fn instruction_ns(&self) -> Option<NonZeroU32> {
        self.machine().hardware.has_instruction_clock().then_some(INSTRUCTION_NS)
    }

    /// Whether the machine can have a clock that goes by instructions, and has none yet: QEMU's TCG with one CPU.
    fn may_have_instruction_clock(&self) -> bool {
        let is_emulated = self.kernel.as_ref().is_some_and(|kernel| *kernel != Locator::UmlDeb)
            && !matches!(self.machine.accel, AccelName::Kvm);
        let hardware = self.machine().hardware;
        let cpus = self.machine.cpus.or(hardware.cpus()).unwrap_or(1);
        is_emulated && cpus == 1 && !hardware.has_instruction_clock()
    }

    /// The Kernel of the machine, if there is one.
    pub(crate) fn kernel(&self) -> Option<KernelRequest> {
        self.kernel.as_ref().map(|kernel| self.build.kernel(kernel))
    }
}
