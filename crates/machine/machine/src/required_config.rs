//! What a kernel must have been built with so that it can boot here at all.

use kernel::Config;

use crate::engine::Engine;
use crate::error::Error;

/// Options without which no kernel comes up, and what each is for.
const OF_ALL: &[(&str, &str)] = &[
    ("BLK_DEV_INITRD", "it boots from an initramfs"),
    ("BINFMT_ELF", "the agent is an ELF program"),
    ("DEVTMPFS", "the agent finds its control port by it"),
];

/// The same for what only one engine has.
const OF_QEMU: &[(&str, &str)] = &[("SERIAL_8250", "the control port is a serial port")];
const OF_UML: &[(&str, &str)] = &[("SSL", "the control port is a serial line")];

/// Refuses a kernel of which it is known that it cannot come up.
pub(crate) fn check(engine: Engine, config: Option<&Config>) -> Result<(), Error> {
    let own = match engine {
        Engine::Qemu(_) => OF_QEMU,
        Engine::Uml => OF_UML,
    };
    let Some(config) = config else { return Ok(()) };
    let missing = OF_ALL.iter().chain(own).find(|(option, _)| !config.is_enabled(option));
    missing.map_or(Ok(()), |&(option, purpose)| Err(Error::Unfit { option, purpose }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accel::Accel;

    const FIT: &str = "CONFIG_BLK_DEV_INITRD=y\nCONFIG_BINFMT_ELF=y\nCONFIG_DEVTMPFS=y\nCONFIG_SSL=y\n";

    #[test]
    fn what_is_missing_is_named_with_its_purpose() {
        let check = |text: &str, engine| check(engine, Some(&Config::parse(text)));
        check(FIT, Engine::Uml).unwrap();
        let error = check(&FIT.replace("BLK_DEV_INITRD", "X"), Engine::Uml).unwrap_err();
        assert!(error.is_usage());
        assert_eq!(
            error.to_string(),
            "the kernel was built without CONFIG_BLK_DEV_INITRD and cannot run here (it boots from an initramfs): switch the option on and build it again"
        );
        let error = check(FIT, Engine::Qemu(Accel::Tcg)).unwrap_err().to_string();
        assert!(error.contains("CONFIG_SERIAL_8250 "), "{error}");
    }

    #[test]
    fn an_unknown_configuration_is_given_its_chance() {
        for engine in [Engine::Uml, Engine::Qemu(Accel::Kvm)] {
            check(engine, None).unwrap();
        }
    }
}
