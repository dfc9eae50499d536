//! What runs a machine.

use std::fmt;

use console::ConsoleSupport;
use kernel::{Arch, Config};

use crate::accel::{Accel, AccelChoice};
use crate::error::Error;

/// The program that is the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// QEMU emulates a PC.
    Qemu(Accel),
    /// User-Mode Linux: the kernel itself is a program of the host.
    Uml,
}

impl Engine {
    /// What runs kernels of this architecture here, looking at the host where it must.
    ///
    /// # Errors
    ///
    /// When the user asked for an accelerator that there is not.
    pub fn choose(arch: Arch, choice: AccelChoice) -> Result<Self, Error> {
        match (arch, choice) {
            (Arch::X86_64, choice) => Accel::choose(choice).map(Self::Qemu),
            (Arch::Um, AccelChoice::Auto) => Ok(Self::Uml),
            (Arch::Um, AccelChoice::Kvm | AccelChoice::Tcg) => Err(Error::UmlAccel),
        }
    }

    /// CPUs of a machine whose user asked for `asked`; nothing where it may have as many as it needs.
    ///
    /// # Errors
    ///
    /// When it cannot have so many.
    pub fn cpus(self, asked: Option<u32>) -> Result<Option<u32>, Error> {
        match (self, asked) {
            (Self::Uml, Some(asked @ 2..)) => Err(Error::UmlCpus { asked }),
            (Self::Uml, _) => Ok(Some(1)),
            (Self::Qemu(_), asked) => Ok(asked),
        }
    }

    /// How much longer things may take than on the bare host.
    #[must_use]
    pub fn slowness(self) -> u32 {
        match self {
            Self::Qemu(accel) => accel.slowness(),
            // The smoke suite takes a third of the CPU time that it takes under TCG. But each system call in
            // the guest is several switches between processes, which a busy host draws out.
            Self::Uml => 4,
        }
    }

    /// Kernel parameters that kiln gives before the user's.
    #[must_use]
    pub fn parameters(self) -> &'static str {
        match self {
            // Early output tells a kernel that hangs early from one without a serial console; a panic ends
            // the machine at once; random numbers must not wait for a device that is not there. A kernel that
            // hangs prints back traces on a break and a letter, or at an NMI. On a busy host the timer ticks too
            // seldom for a test at which the kernel panics.
            Self::Qemu(_) => {
                "console=ttyS0 earlyprintk=ttyS0 panic=-1 random.trust_cpu=on sysrq_always_enabled unknown_nmi_panic \
                 no_timer_check"
            }
            Self::Uml => "console=tty0 panic=-1",
        }
    }

    /// Whether a kernel of this configuration, if it is known, can print on the console.
    pub(crate) fn console_support(self, config: Option<&Config>) -> ConsoleSupport {
        let options = match self {
            Self::Qemu(_) => console::CONSOLE_OPTIONS,
            Self::Uml => &["CONFIG_STDERR_CONSOLE", "CONFIG_PRINTK"],
        };
        ConsoleSupport::new(options, config.map(|config| |option: &str| config.is_enabled(option)))
    }

    /// What a kernel without a control port lacks.
    pub(crate) fn port_option(self) -> &'static str {
        match self {
            Self::Qemu(_) => console::PORT_OPTION,
            Self::Uml => "CONFIG_SSL",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Qemu(accel) => write!(f, "QEMU with {}", accel.name().to_uppercase()),
            Self::Uml => f.write_str("UML"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_mode_linux_has_one_cpu_and_no_accelerator() {
        assert_eq!(Engine::choose(Arch::Um, AccelChoice::Auto).unwrap(), Engine::Uml);
        for choice in [AccelChoice::Kvm, AccelChoice::Tcg] {
            assert!(Engine::choose(Arch::Um, choice).unwrap_err().is_usage());
        }
        assert_eq!(Engine::Uml.cpus(None).unwrap(), Some(1));
        assert_eq!(Engine::Uml.cpus(Some(1)).unwrap(), Some(1));
        let error = Engine::Uml.cpus(Some(4)).unwrap_err();
        assert!(error.is_usage() && error.to_string().starts_with("--cpus 4: "), "{error}");
        assert_eq!(Engine::Qemu(Accel::Tcg).cpus(Some(4)).unwrap(), Some(4));
        assert_eq!(Engine::Qemu(Accel::Tcg).cpus(None).unwrap(), None);
    }

    #[test]
    fn a_console_needs_what_its_engine_prints_on() {
        let config = Config::parse("CONFIG_SERIAL_8250_CONSOLE=y\nCONFIG_PRINTK=y\n");
        let support = |engine: Engine| engine.console_support(Some(&config));
        assert_eq!(support(Engine::Qemu(Accel::Tcg)), ConsoleSupport::Present("CONFIG_SERIAL_8250_CONSOLE"));
        assert_eq!(support(Engine::Uml), ConsoleSupport::Missing("CONFIG_STDERR_CONSOLE"));
        assert_eq!(Engine::Uml.console_support(None), ConsoleSupport::Unknown("CONFIG_STDERR_CONSOLE"));
    }

    #[test]
    fn its_name_is_for_people() {
        assert_eq!(Engine::Qemu(Accel::Kvm).to_string(), "QEMU with KVM");
        assert_eq!(Engine::Uml.to_string(), "UML");
    }
}
