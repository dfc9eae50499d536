//! What the figures depend on besides the request.

use std::fs::{self, File};
use std::io::{self, Read};
use std::str::FromStr;

use flate2::read::GzDecoder;
use harness::hypervisor::hypervisor;
use protocol::results::cut;
use protocol::steal::{Accounting, Budget, Conditions, TEXT_MAX};

/// Bytes of a configuration at most.
const CONFIG_MAX: u64 = 4 << 20;

/// What this machine is, with a load that sends from this CPU.
pub(crate) fn look(sender: Option<u32>) -> Conditions {
    let hypervisor = hypervisor().map(|name| cut(&name, TEXT_MAX).to_owned());
    Conditions { accounting: accounting(), hypervisor, sender, budget: budget() }
}

fn accounting() -> Accounting {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let configs = [config_gz(), text(&format!("/boot/config-{release}"))];
    let known = configs.into_iter().filter_map(Result::ok).map(|config| Accounting::of(&config));
    known.into_iter().find(|accounting| *accounting != Accounting::Unknown).unwrap_or_default()
}

/// What `CONFIG_IKCONFIG_PROC` shows.
fn config_gz() -> io::Result<String> {
    limited(GzDecoder::new(File::open("/proc/config.gz")?))
}

fn text(path: &str) -> io::Result<String> {
    limited(File::open(path)?)
}

fn limited(file: impl Read) -> io::Result<String> {
    let mut text = String::new();
    file.take(CONFIG_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn budget() -> Option<Budget> {
    Some(Budget {
        weight: setting("dev_weight")?,
        packets: setting("netdev_budget")?,
        usecs: setting("netdev_budget_usecs")?,
    })
}

fn setting<T: FromStr>(name: &str) -> Option<T> {
    fs::read_to_string(format!("/proc/sys/net/core/{name}")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sender_is_kept_and_no_text_is_too_long() {
        let conditions = look(Some(3));
        assert_eq!(conditions.sender, Some(3));
        assert!(conditions.hypervisor.is_none_or(|name| name.len() <= TEXT_MAX));
    }

    #[test]
    fn a_file_that_is_not_there_is_no_configuration() {
        assert!(text("/boot/config-of-no-kernel").is_err());
    }
}
