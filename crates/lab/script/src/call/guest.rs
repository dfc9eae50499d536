//! What the agent in a machine is asked for.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::data::ObjectKind;
use crate::id::KernelIndex;
use crate::kind::Kind;
use crate::signature::{ALLOW, Gives, Signature, optional, required};

/// What the agent is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum GuestCall {
    /// Run a command to its end.
    Run {
        /// For the shell.
        command: String,
        /// How long it may take.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
        /// Its standard input.
        #[serde(default)]
        input: Option<String>,
        /// Variables of its environment.
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// Run an instrument, and give its report.
    Instrument {
        /// Its name.
        name: String,
        /// What it is asked; its defaults if there is none.
        #[serde(default)]
        request: Option<serde_json::Value>,
        /// How long it may take.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
    },
    /// Start a command, and go on.
    Start {
        /// For the shell.
        command: String,
        /// Its standard input.
        #[serde(default)]
        input: Option<String>,
        /// Variables of its environment.
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    /// The text of a file.
    Read {
        /// Where it is.
        path: String,
    },
    /// Write a file.
    Write {
        /// Where it is.
        path: String,
        /// What it holds then.
        text: String,
    },
    /// Copy a file of the experiment's folder into the machine.
    Put {
        /// The file, from that folder.
        file: crate::describe::LabFile,
        /// Where it goes; its name in `/tmp` if it is not set.
        #[serde(default)]
        path: Option<String>,
    },
    /// Keep a file of the machine with the Run.
    Get {
        /// Where it is.
        path: String,
    },
    /// Load a module.
    Modprobe {
        /// Its name.
        module: String,
        /// Its parameters.
        #[serde(default)]
        params: BTreeMap<String, serde_json::Value>,
    },
    /// Unload a module.
    Rmmod {
        /// Its name.
        module: String,
    },
    /// Read a sysctl, or write it.
    Sysctl {
        /// Its name, with dots.
        name: String,
        /// What it is set to.
        #[serde(default)]
        value: Option<serde_json::Value>,
    },
    /// Set the real-time clock.
    SetClock {
        /// The time of day in UTC, as ISO 8601 writes it.
        time: String,
    },
    /// The lines of the kernel log.
    Log {},
    /// Wait for a line, or until a command succeeds.
    WaitFor {
        /// A text in the line; or the command.
        pattern: String,
        /// Where to look.
        #[serde(default, rename = "where")]
        place: Place,
        /// How long to wait.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
    },
    /// Restart, and wait for the agent.
    Reboot {
        /// How long it may take.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
    },
    /// Go over to another kernel, and wait for the agent.
    Kexec {
        /// Which; the one that runs if it is not set.
        #[serde(default)]
        kernel: Option<KernelIndex>,
        /// Parameters in place of those that the machine was described with.
        #[serde(default)]
        append: Option<String>,
        /// How long it may take.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
    },
    /// Suspend to memory, and wake.
    Suspend {
        /// How long it sleeps.
        #[serde(default, rename = "time", with = "judge::json::optional_seconds")]
        duration: Option<Duration>,
    },
    /// Record what the kernel does from now on.
    Trace {
        /// Systems and events; there are usual ones.
        #[serde(default)]
        events: Option<Vec<String>>,
        /// Bytes that the kernel has for the events of each CPU; there is a usual size.
        #[serde(default)]
        buffer: Option<u64>,
    },
    /// End the recording.
    EndTrace {},
    /// Shut down.
    Stop {},
}

/// Where a line is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In the kernel log.
    #[default]
    Log,
    /// On the console.
    Console,
    /// Nowhere: a command is repeated until it succeeds.
    Command,
}

const ENV: Kind = Kind::Dict(&Kind::Text);

/// The methods.
pub(crate) const METHODS: &[Signature] = &[
    Signature {
        name: "run",
        parameters: &[
            required("command", Kind::Text),
            optional("timeout", Kind::Time),
            optional("input", Kind::Text),
            optional("env", ENV),
            ALLOW,
        ],
        rest: None,
        gives: Gives::Outcome,
        about: "runs a command to its end",
    },
    Signature {
        name: "instrument",
        parameters: &[
            required("name", Kind::Text),
            optional("request", Kind::Dict(&Kind::Plain)),
            optional("timeout", Kind::Time),
            ALLOW,
        ],
        rest: None,
        gives: Gives::Plain,
        about: "runs an instrument of kiln, and gives its report",
    },
    Signature {
        name: "start",
        parameters: &[required("command", Kind::Text), optional("input", Kind::Text), optional("env", ENV)],
        rest: None,
        gives: Gives::Object(ObjectKind::Job),
        about: "starts a command and goes on",
    },
    Signature {
        name: "read",
        parameters: &[required("path", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Text,
        about: "the text of a file of the guest",
    },
    Signature {
        name: "write",
        parameters: &[required("path", Kind::Text), required("text", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "writes a file of the guest",
    },
    Signature {
        name: "put",
        parameters: &[required("file", Kind::Described(&["file"])), optional("path", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "copies a file of the experiment into the guest",
    },
    Signature {
        name: "get",
        parameters: &[required("path", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Text,
        about: "keeps a file of the guest with the Run, and gives its name there",
    },
    Signature {
        name: "modprobe",
        parameters: &[required("module", Kind::Text), optional("params", Kind::Dict(&Kind::Plain)), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "loads a module with all that it needs",
    },
    Signature {
        name: "rmmod",
        parameters: &[required("module", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "unloads a module with all that it needs",
    },
    Signature {
        name: "sysctl",
        parameters: &[required("name", Kind::Text), optional("value", Kind::Plain), ALLOW],
        rest: None,
        gives: Gives::Text,
        about: "reads a sysctl, or sets it and gives what it was set to",
    },
    Signature {
        name: "set_clock",
        parameters: &[required("time", Kind::Text), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "sets the real-time clock of the guest to a time in UTC, such as 2038-01-19T03:14:00",
    },
    Signature {
        name: "log",
        parameters: &[],
        rest: None,
        gives: Gives::Lines,
        about: "what the kernel has logged since the machine is there; `dmesg` has the boot",
    },
    Signature {
        name: "wait_for",
        parameters: &[
            required("pattern", Kind::Text),
            optional("where", Kind::OneOf(&["log", "console", "command"])),
            optional("timeout", Kind::Time),
            ALLOW,
        ],
        rest: None,
        gives: Gives::Outcome,
        about: "waits for a text in the log or on the console, or until a command succeeds",
    },
    Signature {
        name: "reboot",
        parameters: &[optional("timeout", Kind::Time), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "restarts the machine and waits for its agent",
    },
    Signature {
        name: "kexec",
        parameters: &[
            optional("kernel", Kind::Object(ObjectKind::Kernel)),
            optional("append", Kind::Text),
            optional("timeout", Kind::Time),
            ALLOW,
        ],
        rest: None,
        gives: Gives::Outcome,
        about: "goes over to another kernel, or to its own again, by kexec, and waits for its agent",
    },
    Signature {
        name: "trace",
        parameters: &[optional("events", Kind::List(&Kind::Text)), optional("buffer", Kind::Size), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "records what the kernel does from now on, until `end_trace` or the end of the machine",
    },
    Signature {
        name: "end_trace",
        parameters: &[ALLOW],
        rest: None,
        gives: Gives::Plain,
        about: "ends the recording, which is a trace with the Run, and gives its name and how many events it has",
    },
    Signature {
        name: "suspend",
        parameters: &[optional("time", Kind::Time), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "suspends to memory and wakes",
    },
    Signature { name: "stop", parameters: &[ALLOW], rest: None, gives: Gives::Outcome, about: "shuts down" },
];
