//! What a build printed, as it is kept beside its Kernel.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use kernel::builds::entry_of;
use kernel::store::read_json;
use kernel::{Context, Kernel};

use crate::diagnostics::Diagnostics;
use crate::progress::step;

/// The file of an entry with all complaints.
pub(crate) const DIAGNOSTICS: &str = "diagnostics.json";

/// The file of an entry with all that make printed.
pub(crate) const LOG: &str = "build.log";

/// Most of a log that is read, in bytes.
const LOG_MAX: u64 = 128 << 20;

/// What a build printed. It compiled what was not up to date, and complained about nothing else.
#[derive(Debug, Clone, Default)]
pub struct Printed {
    /// Warnings of compilers and their relatives.
    pub diagnostics: Diagnostics,
    /// Objects that were compiled from C, as paths below the tree: `fs/xfs/xfs_log.o`.
    pub compiled: Vec<String>,
}

/// What the build of a Kernel printed; nothing of a Kernel that kiln has not built.
pub fn printed(kernel: &Kernel, context: &Context<'_>) -> Option<Printed> {
    let entry = entry_of(kernel, context)?;
    let diagnostics = read_json(&entry.join(DIAGNOSTICS))?;
    Some(Printed { diagnostics, compiled: compiled(&entry.join(LOG)) })
}

fn compiled(log: &Path) -> Vec<String> {
    let Ok(file) = File::open(log) else { return Vec::new() };
    let lines = BufReader::new(file.take(LOG_MAX)).split(b'\n').map_while(Result::ok);
    lines.filter_map(|line| object(&String::from_utf8_lossy(&line))).collect()
}

/// `  CC [M]  fs/xfs/xfs_log.o`
fn object(line: &str) -> Option<String> {
    Some(step(line)?.strip_prefix("CC ")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_c_are_found() {
        assert_eq!(object("  CC      kernel/fork.o").as_deref(), Some("kernel/fork.o"));
        assert_eq!(object("  CC [M]  fs/xfs/xfs_log.o").as_deref(), Some("fs/xfs/xfs_log.o"));
        for line in ["  LD      vmlinux", "  AS      arch/x86/entry.o", "  HOSTCC  scripts/x", "CC x", ""] {
            assert_eq!(object(line), None, "{line}");
        }
    }
}
