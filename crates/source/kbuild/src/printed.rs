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
    /// Objects that were compiled from C or assembler, as paths below the tree: `fs/xfs/xfs_log.o`.
    pub compiled: Vec<String>,
}

/// What the build of a Kernel printed; nothing of a Kernel that kiln has not built.
pub fn printed(kernel: &Kernel, context: &Context<'_>) -> Option<Printed> {
    let entry = entry_of(kernel, context)?;
    let diagnostics = read_json(&entry.join(DIAGNOSTICS))?;
    Some(Printed { diagnostics, compiled: compiled(&entry.join(LOG)) })
}

/// The objects that were compiled by what a log says, in its order.
pub(crate) fn compiled(log: &Path) -> Vec<String> {
    let Ok(file) = File::open(log) else { return Vec::new() };
    let lines = BufReader::new(file.take(LOG_MAX)).split(b'\n').map_while(Result::ok);
    lines.filter_map(|line| object(&String::from_utf8_lossy(&line))).collect()
}

/// `  CC [M]  fs/xfs/xfs_log.o`
fn object(line: &str) -> Option<String> {
    let step = step(line)?;
    step.strip_prefix("CC ").or_else(|| step.strip_prefix("AS ")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_were_compiled_are_found() {
        assert_eq!(object("  CC      kernel/fork.o").as_deref(), Some("kernel/fork.o"));
        assert_eq!(object("  CC [M]  fs/xfs/xfs_log.o").as_deref(), Some("fs/xfs/xfs_log.o"));
        assert_eq!(object("  AS      arch/x86/entry.o").as_deref(), Some("arch/x86/entry.o"));
        for line in ["  LD      vmlinux", "  HOSTCC  scripts/x", "CC x", ""] {
            assert_eq!(object(line), None, "{line}");
        }
    }
}
