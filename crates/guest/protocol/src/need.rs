//! What a case or a program cannot do without.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use parse::WrongNeed;

/// How a file of the host is named that a machine must have also where its root has a program of this name.
pub const OF_HOST: &str = "host:";

/// Something of kernel, machine or host. `Display` writes the form that `FromStr` reads: `module=loop`, `disk=512M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need<Name = &'static str> {
    /// A kernel module, loadable or built in.
    Module(Name),
    /// A kernel module that is loaded where the kernel has it; without it the program does what it can.
    OptionalModule(Name),
    /// A file system type, from a module of the same name or built in.
    Filesystem(Name),
    /// A configuration option, without `CONFIG_`, that is `y` or `m`.
    Config(Name),
    /// A device node.
    Device(Name),
    /// An empty disk of this many MiB.
    Disk(u64),
    /// A machine with at least this much memory, in MiB.
    Memory(u64),
    /// A machine with at least this many CPUs.
    Cpus(u32),
    /// A capability of capabilities(7), by its number.
    Capability(u32),
    /// A program of the host, shipped into the machine; where there is a root, one of the root, unless it is an instrument or [`OF_HOST`].
    Tool(Name),
}

impl<Name: AsRef<str>> Need<Name> {
    /// The same without a name of its own.
    pub fn borrowed(&self) -> Need<&str> {
        self.named(|name| name)
    }

    /// The same with a name of its own.
    pub fn owned(&self) -> Need<String> {
        self.named(str::to_string)
    }

    fn named<'a, Other>(&'a self, name: impl FnOnce(&'a str) -> Other) -> Need<Other> {
        match self {
            Self::Module(module) => Need::Module(name(module.as_ref())),
            Self::OptionalModule(module) => Need::OptionalModule(name(module.as_ref())),
            Self::Filesystem(kind) => Need::Filesystem(name(kind.as_ref())),
            Self::Config(option) => Need::Config(name(option.as_ref())),
            Self::Device(path) => Need::Device(name(path.as_ref())),
            Self::Disk(mib) => Need::Disk(*mib),
            Self::Memory(mib) => Need::Memory(*mib),
            Self::Cpus(count) => Need::Cpus(*count),
            Self::Capability(number) => Need::Capability(*number),
            Self::Tool(program) => Need::Tool(name(program.as_ref())),
        }
    }
}

impl<Name: fmt::Display> fmt::Display for Need<Name> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(name) => write!(f, "module={name}"),
            Self::OptionalModule(name) => write!(f, "optional-module={name}"),
            Self::Filesystem(name) => write!(f, "fs={name}"),
            Self::Config(option) => write!(f, "config={option}"),
            Self::Device(path) => write!(f, "device={path}"),
            Self::Disk(mib) => write!(f, "disk={}", size(*mib)),
            Self::Memory(mib) => write!(f, "memory={}", size(*mib)),
            Self::Cpus(count) => write!(f, "cpus={count}"),
            Self::Capability(number) => write!(f, "capability={number}"),
            Self::Tool(name) => write!(f, "program={name}"),
        }
    }
}

/// A number of MiB with its unit.
fn size(mib: u64) -> String {
    if mib.is_multiple_of(1024) { format!("{}G", mib / 1024) } else { format!("{mib}M") }
}
