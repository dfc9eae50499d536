//! The devices of a plan's machine, and what drives them.

use hardware::{Device, Hardware};
use kernel::{Kernel, Presence};
use machine::Engine;
use protocol::Need;

use super::Plan;

impl Plan {
    /// Gives the machine what drives its devices; what the kernel lacks for one of them skips everything and is the answer.
    ///
    /// # Errors
    ///
    /// When a module's files are damaged.
    pub fn give_devices(
        &mut self,
        kernel: &Kernel,
        engine: Engine,
        hardware: &Hardware,
    ) -> Result<Option<String>, machine::Error> {
        // What User-Mode Linux can have is built in: UBD_BLK is there on every UML.
        if engine == Engine::Uml {
            return Ok(None);
        }
        let mut names = Vec::new();
        for device in &hardware.devices {
            for need in device.needs() {
                if let Some(why) = lacks(kernel, device, &need) {
                    self.items
                        .iter_mut()
                        .for_each(|item| item.skip = item.skip.take().or_else(|| Some(why.clone())));
                    return Ok(Some(why));
                }
                names.extend(loadable(kernel, need));
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.payload.load_at_boot(kernel.modules.closure(&names)?);
        Ok(None)
    }
}

/// A module that is no part of the kernel's image.
fn loadable(kernel: &Kernel, need: Need<String>) -> Option<String> {
    match need {
        Need::Module(name) if kernel.modules.presence(&name) == Presence::Loadable => Some(name),
        _ => None,
    }
}

/// What the kernel lacks for a device, as far as its files tell.
fn lacks(kernel: &Kernel, device: &Device, need: &Need<String>) -> Option<String> {
    let missing = match need {
        Need::Module(name) if kernel.modules.presence(name) == Presence::Absent => {
            format!("the kernel has no module {name}")
        }
        Need::Config(option) if kernel.config.as_ref().is_some_and(|config| !config.is_enabled(option)) => {
            format!("the kernel was built without CONFIG_{option}")
        }
        _ => return None,
    };
    Some(format!("{missing}, which {device} needs"))
}

/// A device with which no figures can be counted: it answers when the host does.
pub(crate) fn uncountable(hardware: &Hardware) -> Option<&Device> {
    let is_silent =
        |device: &&Device| matches!(device, Device::Topology(_) | Device::Rtc(_) | Device::Acpi(_));
    hardware.devices.iter().find(|device| !is_silent(device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Fixed, fixture};
    use crate::suites::select::{DEFAULT, select};
    use kernel::Config;
    use machine::Accel;

    fn hardware(devices: &[&str]) -> Hardware {
        Hardware::new(devices.iter().map(|text| text.parse().expect(text)).collect()).expect("they fit")
    }

    #[test]
    fn what_a_kernel_lacks_for_a_device_skips_everything() {
        let kernel = Kernel { config: Some(Config::parse("CONFIG_PCI=y\n")), ..fixture::kernel() };
        let cases = select(DEFAULT, &["pipe/*".to_string()]).unwrap();
        let mut plan = Plan::for_cases(DEFAULT, &kernel, &cases, Fixed::default()).unwrap();
        let tcg = Engine::Qemu(Accel::Tcg);
        assert_eq!(plan.give_devices(&kernel, tcg, &hardware(&["nic", "edu"])).unwrap(), None);
        let why = "the kernel was built without CONFIG_INTEL_IOMMU, which iommu,kind=intel needs";
        let found = plan.give_devices(&kernel, tcg, &hardware(&["iommu,intel"])).unwrap();
        assert_eq!(found.as_deref(), Some(why));
        assert!(plan.items.iter().all(|item| item.skip.as_deref() == Some(why)));
    }

    #[test]
    fn what_answers_when_the_host_does_is_not_counted() {
        assert_eq!(uncountable(&hardware(&["rtc,base=2038-01-19T03:14:00"])), None);
        let mixed = hardware(&["topology,sockets=1", "disk,1G"]);
        assert!(matches!(uncountable(&mixed), Some(Device::Disk(_))));
    }
}
