//! What is told to whoever reports or records.
//!
//! The terminal, the machine-readable formats and the recorder are equal listeners: what cannot be
//! derived from these events is not reported.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use machine::{Engine, Hazard};
use protocol::hazard::Site;
use script::KernelInfo;
use serde::{Deserialize, Serialize};

use crate::request::Request;
use judge::Exit;
use judge::json::Seconds;
use judge::run::{Run, Summary};

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// First: what is going to be done.
    Planned(Box<Session>),
    /// Worth knowing, and no part of any Run.
    Note {
        /// One line.
        text: String,
    },
    /// A machine is being started.
    Booting {
        /// From 1.
        boot: u32,
        /// Cases that this boot is going to run.
        cases: u32,
    },
    /// The machine's program has been started with this command line.
    CommandLine {
        /// The boot.
        boot: u32,
        /// As a shell reads it.
        line: String,
    },
    /// A line on the console.
    Console {
        /// The boot.
        boot: u32,
        /// The clone of that boot, by its number in this session; 0 for the booted machine itself.
        clone: u32,
        /// Without control characters.
        line: String,
    },
    /// The agent has said hello.
    Booted {
        /// The boot.
        boot: u32,
        /// `uname -r`.
        release: String,
        /// From the start of the machine's program to the hello.
        #[serde(with = "judge::json::seconds")]
        took: Duration,
        /// An earlier session booted it and kept it to be cloned.
        #[serde(default)]
        kept: bool,
    },
    /// A case begins, for the first time or once more.
    Started {
        /// Its name.
        case: String,
        /// The clone that it runs in; 0 for the booted machine itself.
        clone: u32,
    },
    /// A line that a program wrote to its standard output or error.
    Output {
        /// The case that it is.
        case: String,
        /// The clone that it runs in; 0 for the booted machine itself.
        clone: u32,
        /// As it was written.
        line: String,
    },
    /// A CPU waits for too long in a loop, for the first time in this Run.
    Hazard {
        /// The case that runs.
        case: String,
        /// The clone that it runs in; 0 for the booted machine itself.
        clone: u32,
        /// Where, and what else happens.
        hazard: Box<Hazard>,
    },
    /// How often CPUs waited for too long in a Run, at its end.
    Waited {
        /// The case.
        case: String,
        /// The clone that it ran in; 0 for the booted machine itself.
        clone: u32,
        /// By the numbers of the loops.
        sites: Vec<Site>,
    },
    /// The script of an experiment recorded something.
    Recorded {
        /// The case that the experiment is.
        case: String,
        /// What it recorded. Texts are as the script has them, often from a guest.
        record: script::Event,
    },
    /// One of several Runs of a case has been judged.
    Repeated(Box<Run>),
    /// All Runs of a case have been judged; this is the one that stands for them.
    Finished(Box<Run>),
    /// Last.
    Ended {
        /// Counts.
        summary: Summary,
        /// From the first event to the last.
        #[serde(with = "judge::json::seconds")]
        took: Duration,
        /// The user stopped it.
        interrupted: bool,
        /// The exit code of kiln, and whose it is; sessions of earlier versions do not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<Exit>,
    },
}

/// What a session is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// When it began.
    pub started: jiff::Timestamp,
    /// Version of kiln.
    pub kiln: String,
    /// What was asked; sessions of earlier versions say it by their `command` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// The arguments by which kiln is asked the same, for people.
    #[serde(default)]
    pub command: Vec<String>,
    /// Where relative paths in it begin.
    #[serde(default)]
    pub directory: PathBuf,
    /// The locator that the user gave.
    pub locator: String,
    /// The locator by which the very same Kernel is found later, as far as there is one.
    #[serde(default)]
    pub kernel: String,
    /// Of an experiment: its Kernels, each by the locator by which the very same is found later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelInfo>,
    /// Where the Kernel comes from, for people.
    pub provenance: String,
    /// The commit that it was built from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<kernel::Commit>,
    /// Its release, where it is known before the boot.
    pub release: Option<String>,
    /// Hash over image, modules, configuration and parameters; of an experiment, over all that its journal depends on.
    pub identity: String,
    /// What runs its machines; sessions of earlier versions say it by `machine` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// The machine, for people: `QEMU with TCG, 2 CPUs, 1024 MiB` or `UML, 1 CPU, 1024 MiB`.
    pub machine: String,
    /// The suite's name, or the program's.
    pub suite: String,
    /// Hash over what runs: the user's program with its libraries, the files of the suite or of the experiment, or the agent
    /// with kiln's own cases; empty in sessions of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// Names of all cases, in the order in which they run.
    pub cases: Vec<String>,
    /// How long cases took before, or say that they take.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expected: BTreeMap<String, Seconds>,
    /// Machines at a time; 0 where it is not known.
    #[serde(default)]
    pub jobs: usize,
    /// Where it was run, if on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Where a session was run, and what it is called there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The host.
    pub host: String,
    /// The name of its folder there.
    pub session: String,
}

impl Session {
    /// When it began, as its folder is called.
    #[must_use]
    pub fn stamp(&self) -> String {
        stamp(self.started)
    }
}

/// A time in UTC, as folders are called that are made then.
#[must_use]
pub fn stamp(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H-%M-%SZ").to_string()
}

/// Whoever reports or records.
pub trait Listener {
    /// Takes notice of an event.
    fn on_event(&mut self, event: &Event);
}
