//! The script of a bundle, out of its template.

use std::time::Duration;

use console::CONSOLE_OPTIONS;
use judge::standalone::About;
use kernel::Config;
use machine::Accel;
use machine::qemu::{command_line_from_files, files};

use super::{Parts, SLOWNESS, devices};

const SCRIPT: &str = include_str!("run.sh");

/// The program that judges, and what it is to know of the case.
pub(super) const JUDGE: &str = "judge";
/// See [`JUDGE`].
pub(super) const CASE: &str = "case.txt";

/// Time for a boot on the bare, idle host.
const BOOT: Duration = Duration::from_secs(15);

/// Silence on the bare, idle host after which a machine counts as hanging.
const SILENCE: Duration = Duration::from_secs(8);

/// The script for a case that has this limit inside of the machine.
pub(super) fn write(parts: Parts<'_>, accel: Accel, limit: Duration) -> String {
    let silence = SILENCE * SLOWNESS;
    let seconds = |time: Duration| time.as_secs().to_string();
    let values = [
        ("IMAGE", files::IMAGE.to_string()),
        ("INITRAMFS", files::INITRAMFS.to_string()),
        ("CONSOLE", files::CONSOLE.to_string()),
        ("CONTROL", files::CONTROL.to_string()),
        ("DISK", files::DISK.to_string()),
        ("ROOT", files::ROOT.to_string()),
        ("DISK_MIB", parts.spec.disk_mib.to_string()),
        ("DEVICES", devices::commands(&parts.spec.hardware)),
        ("ACCEL", accel.name().to_string()),
        ("QEMU_KVM", command_line_from_files(parts.spec, Accel::Kvm)),
        ("QEMU_TCG", command_line_from_files(parts.spec, Accel::Tcg)),
        ("SILENCE", seconds(silence)),
        ("LIMIT", seconds(BOOT * SLOWNESS + limit * 2 + silence * 2 + parts.settle)),
        ("JUDGE", JUDGE.to_string()),
        ("CASE", CASE.to_string()),
    ];
    fill(SCRIPT, &values)
}

/// What is true of the case.
pub(super) fn about(parts: Parts<'_>, limit: Duration) -> About {
    let Parts { item, is_users, kernel, .. } = parts;
    let has = |config: &Config| {
        CONSOLE_OPTIONS.iter().filter(|option| config.is_enabled(option)).map(ToString::to_string).collect()
    };
    About {
        name: console::printable(item.name.as_bytes()),
        dialect: item.dialect,
        is_users,
        limit,
        expects: item.expects.iter().map(ToString::to_string).collect(),
        lacking: item.lacking.clone(),
        console_options: kernel.config.as_ref().map(has),
    }
}

/// A template with values in the places of `@NAME@`; what they hold is not looked into.
pub(super) fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut parts = template.split('@');
    let mut text = parts.next().unwrap_or_default().to_string();
    let mut is_filled = false;
    for part in parts {
        let value = values.iter().find(|(name, _)| *name == part).filter(|_| !is_filled);
        match value {
            Some((_, value)) => text.push_str(value),
            // The second sign of a place ends it.
            None if is_filled => text.push_str(part),
            None => text.extend(["@", part]),
        }
        is_filled = value.is_some();
    }
    text
}
