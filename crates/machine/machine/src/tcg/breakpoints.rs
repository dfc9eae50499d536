//! Whether QEMU keeps translations of breakpoints that are gone.
//!
//! A kernel that changes its code puts a breakpoint there first (`text_poke_bp` of arch/x86/kernel/alternative.c). QEMU before
//! 8.1 reads code first and locks its page later, where each CPU is a thread of its own: a CPU that translates the breakpoint while
//! another one takes it away may keep the translation. Each CPU that comes there then takes a breakpoint that memory does not have,
//! for ever, and the kernel reports a soft lockup. Two CPUs that make system calls met it once in 13 changes of the tracepoint
//! `sys_enter`. The plugin forgets such translations.

use std::path::Path;
use std::process::Command;

use super::question::Question;
use crate::host;

/// The first QEMU that locks first.
const MENDED: (u32, u32) = (8, 1);

static QUESTION: Question = Question::new("tcg-breakpoints");

/// Whether this QEMU keeps them, and takes plugins. The answer is remembered as long as the program is the same.
#[must_use]
pub fn keeps_breakpoints(program: &Path) -> bool {
    QUESTION.answer(program, || Some(ask(program)))
}

fn ask(program: &Path) -> bool {
    let output = Command::new(program).arg("-help").output();
    output.is_ok_and(|output| can_be_mended(&String::from_utf8_lossy(&output.stdout)))
}

/// The same by what `-help` prints, which begins with the version. A QEMU can be built without plugins.
fn can_be_mended(help: &str) -> bool {
    let version = help.lines().next().and_then(host::version);
    version.is_some_and(|(major, minor, _)| (major, minor) < MENDED)
        && help.lines().any(|line| line.starts_with("-plugin "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::QemuProgram;

    #[test]
    fn only_old_ones_are_mended_and_only_with_plugins() {
        let help = |version: &str, more: &str| {
            format!("QEMU emulator version {version} (Debian)\nusage: qemu-system-x86_64\n{more}\n")
        };
        let plugin = "-plugin [file=]<file>[,<argname>=<argvalue>]";
        assert!(can_be_mended(&help("7.2.22", plugin)));
        assert!(can_be_mended(&help("8.0.5", plugin)));
        assert!(!can_be_mended(&help("8.1.0", plugin)));
        assert!(!can_be_mended(&help("10.0.2", plugin)));
        assert!(!can_be_mended(&help("7.2.22", "-plugins")));
        assert!(!can_be_mended(""));
    }

    #[test]
    fn qemu_says_of_itself_which_it_is() {
        let qemu = QemuProgram::find().expect("installed for the tests");
        let (major, minor, _) = host::version(&format!("version {}", qemu.version)).expect("a version");
        assert_eq!(keeps_breakpoints(&qemu.path), (major, minor) < MENDED);
        assert!(!keeps_breakpoints(Path::new("/bin/true")));
    }
}
