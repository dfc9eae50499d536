//! A program that is root over user ids of its own, also for an ordinary user.
//!
//! Packages are unpacked by root, for many users. unshare(1) gives an ordinary user the ids that `/etc/subuid` and
//! `/etc/subgid` set aside for them: subuid(5), user_namespaces(7). The program sees only its own processes and mounts,
//! and both end with it; it ends with kiln.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::Signal;

use crate::contain::{end_with_parent, heed_interrupts};

/// The program that makes the namespaces.
const UNSHARE: &str = "unshare";

/// What unshare(1) calls to map the ids.
pub const NEWUIDMAP: &str = "newuidmap";

/// A command that runs `program` as root over ids of its own.
pub fn with_subordinate_ids(program: &str, arguments: &[impl AsRef<OsStr>]) -> Command {
    let parent = std::process::id();
    let mut command = Command::new(UNSHARE);
    command.args(["--mount", "--pid", "--fork", "--kill-child"]);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user", "--map-auto"]);
    }
    command.arg("--").arg(program).args(arguments).process_group(0);
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            end_with_parent(parent, Signal::KILL)?;
            heed_interrupts();
            Ok(())
        })
    };
    command
}

/// Whether this user has ids to give away; root needs none.
#[must_use]
pub fn has_subordinate_ids() -> bool {
    let uid = rustix::process::geteuid();
    let names = [user_name(uid.as_raw()).unwrap_or_default(), uid.as_raw().to_string()];
    let has = |file: &str| fs::read_to_string(file).is_ok_and(|text| has_line(&text, &names));
    uid.is_root() || (has("/etc/subuid") && has("/etc/subgid"))
}

/// Lines are `name:first:count`: subuid(5).
fn has_line(text: &str, names: &[String]) -> bool {
    let owner = |line: &str| Some(line.split_once(':')?.0.to_owned());
    text.lines().filter_map(owner).any(|owner| !owner.is_empty() && names.contains(&owner))
}

/// The name in passwd(5).
fn user_name(uid: u32) -> Option<String> {
    let text = fs::read_to_string("/etc/passwd").ok()?;
    let uid = uid.to_string();
    let line = text.lines().find(|line| line.split(':').nth(2) == Some(&uid))?;
    line.split(':').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_root_and_alone() {
        let script = "id -u; echo $$; mount -t tmpfs none /mnt && echo mounted";
        let output = with_subordinate_ids("sh", &["-c", script]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if has_subordinate_ids() {
            assert_eq!(text, "0\n1\nmounted\n", "{output:?}");
        } else {
            assert!(!output.status.success(), "{output:?}");
        }
    }

    #[test]
    fn ids_are_set_aside_by_name_or_number() {
        let text = "somebody:100000:65536\n1001:165536:65536\n:1:1\n";
        let has = |name: &str| has_line(text, &[name.to_owned(), "77".to_owned()]);
        assert!(has("somebody") && has("1001"));
        assert!(!has("some") && !has("") && !has("100000"));
        assert_eq!(user_name(0).as_deref(), Some("root"));
    }
}
