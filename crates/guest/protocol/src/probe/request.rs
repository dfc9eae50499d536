//! What the instrument is asked.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::workload::Workload;

/// Patterns of functions at most.
pub const PATTERNS_MAX: usize = 32;

/// Bytes of a pattern at most: as many as a name of the kernel has.
const PATTERN_MAX: usize = 512;

/// Bytes of a script at most.
pub const SCRIPT_MAX: usize = 64 << 10;

/// What looks into the kernel. The tools have the names by which they are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tool {
    /// How processes use the page cache.
    Cachetop,
    /// Which programs make processes and threads.
    Forks,
    /// How often functions are called.
    Funccount {
        /// Names of functions, with `*` and `?`: 1 to [`PATTERNS_MAX`].
        patterns: Vec<String>,
    },
    /// Waits for locks of the kernel.
    Klockstat,
    /// Which files are opened.
    Opensnoop {
        /// Only those that cannot be opened.
        failed: bool,
    },
    /// What is allocated from each cache of the slab allocator.
    Slabratetop,
    /// A script of bpftrace, where bpftrace is there.
    Bpftrace {
        /// The script, of up to [`SCRIPT_MAX`] bytes.
        script: String,
        /// Whether what it prints is for programs: a JSON object on each line (`-f json`).
        json: bool,
    },
}

/// Which tool, and while what runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProbeRequest {
    /// The tool.
    pub tool: Tool,
    /// Whose processes it looks at. A script looks at what it names itself; the number of the program is its first parameter, `$1`.
    pub workload: Workload,
}

/// A request that cannot be meant: what is wrong, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WrongRequest(String);

impl ProbeRequest {
    /// Checks that all of it is in its ranges.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), WrongRequest> {
        let wrong = self.tool.wrong().or_else(|| self.workload.wrong());
        wrong.map_or(Ok(()), |why| Err(WrongRequest(why)))
    }
}

impl Tool {
    /// The name by which it is known.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cachetop => "cachetop",
            Self::Forks => "forks",
            Self::Funccount { .. } => "funccount",
            Self::Klockstat => "klockstat",
            Self::Opensnoop { .. } => "opensnoop",
            Self::Slabratetop => "slabratetop",
            Self::Bpftrace { .. } => "bpftrace",
        }
    }

    fn wrong(&self) -> Option<String> {
        match self {
            Self::Funccount { patterns } if !(1..=PATTERNS_MAX).contains(&patterns.len()) => {
                Some(format!("{} patterns of functions: name 1 to {PATTERNS_MAX}", patterns.len()))
            }
            Self::Funccount { patterns } => {
                let wrong = patterns.iter().find(|pattern| !is_pattern(pattern))?;
                Some(format!("{wrong:?} is no name of functions: letters, digits, _ and . with * and ?"))
            }
            Self::Bpftrace { script, .. } if script.trim().is_empty() => {
                Some("the script is empty".to_owned())
            }
            Self::Bpftrace { script, .. } if script.len() > SCRIPT_MAX || script.contains('\0') => {
                Some(format!("a script is text of up to {SCRIPT_MAX} bytes"))
            }
            _ => None,
        }
    }
}

fn is_pattern(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.*?".contains(&byte);
    !text.is_empty() && text.len() <= PATTERN_MAX && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate(tool: Tool) -> Result<(), String> {
        let workload = Workload { command: vec!["true".to_owned()], ..Workload::default() };
        ProbeRequest { tool, workload }.validate().map_err(|error| error.to_string())
    }

    fn funccount(patterns: &[&str]) -> Tool {
        Tool::Funccount { patterns: patterns.iter().map(|&pattern| pattern.to_owned()).collect() }
    }

    #[test]
    fn only_what_can_be_meant_is_taken() {
        let script = |script: &str| Tool::Bpftrace { script: script.to_owned(), json: false };
        for tool in [Tool::Cachetop, funccount(&["vfs_*", "do_?.isra.0"]), script("BEGIN { exit() }")] {
            assert_eq!(validate(tool.clone()), Ok(()), "{tool:?}");
        }
        for (tool, why) in [
            (funccount(&[]), "0 patterns"),
            (funccount(&["x"; 33]), "33 patterns"),
            (funccount(&["vfs_*", "a b"]), "\"a b\" is no name"),
            (funccount(&[""]), "no name"),
            (script(" \n"), "empty"),
            (script("BEGIN\0"), "bytes"),
            (script(&"x".repeat(SCRIPT_MAX + 1)), "bytes"),
        ] {
            let found = validate(tool.clone()).expect_err("it is wrong");
            assert!(found.contains(why), "{tool:?}: {found}");
        }
        let nobody = ProbeRequest { tool: Tool::Cachetop, workload: Workload::default() };
        assert!(nobody.validate().is_err());
    }

    #[test]
    fn a_tool_is_called_as_in_requests() {
        for tool in [Tool::Forks, funccount(&["x"]), Tool::Opensnoop { failed: true }] {
            let json = serde_json::to_string(&tool).expect("plain data");
            assert!(json.contains(tool.name()), "{json}");
            assert_eq!(serde_json::from_str::<Tool>(&json).ok(), Some(tool));
        }
    }
}
