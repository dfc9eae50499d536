//! The script of a bundle, out of its template.

use std::time::Duration;

use machine::Accel;
use machine::qemu::{command_line_from_files, files};
use protocol::waiting::BEGINS;

use super::{Parts, SLOWNESS, tables};
use judge::Dialect;

const SCRIPT: &str = include_str!("run.sh");
pub(super) const REPORTS: &str = include_str!("reports.awk");
pub(super) const VERDICT: &str = include_str!("verdict.awk");

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
        ("DISK_MIB", parts.spec.disk_mib.to_string()),
        ("ACCEL", accel.name().to_string()),
        ("QEMU_KVM", command_line_from_files(parts.spec, Accel::Kvm)),
        ("QEMU_TCG", command_line_from_files(parts.spec, Accel::Tcg)),
        ("SILENCE", seconds(silence)),
        ("LIMIT", seconds(BOOT * SLOWNESS + limit * 2 + silence * 2)),
        ("JUDGE", judge(parts)),
    ];
    fill(SCRIPT, &values)
}

/// What awk is given: what is true of this Run, the tables and the rules.
fn judge(parts: Parts<'_>) -> String {
    let expects: Vec<&str> = parts.item.expects.iter().map(String::as_str).collect();
    let about = about(&parts.item.name, parts.item.dialect, parts.is_users, &expects);
    [about, tables::write(), REPORTS.to_string(), VERDICT.trim_end().to_string()].join("\n")
}

/// What is true of this Run.
pub(super) fn about(name: &str, dialect: Dialect, is_users: bool, expects: &[&str]) -> String {
    let dialect = match dialect {
        Dialect::Kiln => "kiln",
        Dialect::Program => "program",
        Dialect::Kselftest => "kselftest",
        Dialect::Ltp => "ltp",
    };
    let (name, dialect) = (tables::string(&console::printable(name.as_bytes())), tables::string(dialect));
    let (begins, expects) = (tables::string(BEGINS), tables::list("EXPECT", expects));
    format!(
        "BEGIN {{\n    CASE = {name}\n    DIALECT = {dialect}; IS_EXEC = {}\n    BEGINS = {begins}; SHOWN = 30\n    \
         {expects}\n}}\n",
        u8::from(is_users)
    )
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
