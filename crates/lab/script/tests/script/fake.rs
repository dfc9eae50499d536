//! A bench without machines: each command says what becomes of it. And what a test needs to run a script on it.

use std::fs;
use std::ops::Deref;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use judge::Blame;
use script::call::{Call, GuestCall, JobCall, LabCall, MachineCall, Request, SegmentCall};
use script::{
    Answer, Bench, CommandResult, ErrorName, Event, Experiment, KernelInfo, Listener, Setup, Trouble, Verdict,
};
use serde_json::json;
use tempfile::TempDir;

/// Without machines.
#[derive(Debug, Default)]
pub(crate) struct Fake {
    pub(crate) requests: Mutex<Vec<Request>>,
    pub(crate) ended: Mutex<Vec<String>>,
    pub(crate) next: AtomicU32,
    /// How many calls it takes before the host dies.
    pub(crate) lives: Option<usize>,
    pub(crate) calls: AtomicUsize,
    pub(crate) cancelled: bool,
}

impl Fake {
    pub(crate) fn dying(lives: usize) -> Self {
        Self { lives: Some(lives), ..Self::default() }
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.requests.lock().unwrap().iter().map(|request| request.call.clone()).collect()
    }

    fn new_id(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Bench for Fake {
    fn call(&self, request: &Request) -> Result<Answer, Trouble> {
        let count = self.calls.fetch_add(1, Ordering::Relaxed);
        if self.lives.is_some_and(|lives| count >= lives) {
            return Err(Trouble::broken(Blame::Host, "the host died"));
        }
        self.requests.lock().unwrap().push(request.clone());
        match &request.call {
            Call::Lab(LabCall::Machine(_)) => Ok(Answer::Machine(self.new_id())),
            Call::Lab(LabCall::Segment(_)) => Ok(Answer::Segment(self.new_id())),
            Call::Lab(LabCall::Sleep { .. }) => Ok(Answer::Done),
            Call::Guest { call, .. } => self.guest(call),
            Call::Machine { call, .. } => self.machine(call),
            Call::Job { call, .. } => job(call),
            Call::Segment { call, .. } => segment(call),
        }
    }

    fn end_step(&self, step: &str) -> Result<(), Trouble> {
        self.ended.lock().unwrap().push(step.to_owned());
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled
    }
}

impl Fake {
    fn guest(&self, call: &GuestCall) -> Result<Answer, Trouble> {
        match call {
            GuestCall::Run { command, .. } => command_of(command),
            GuestCall::Instrument { .. } => Ok(Answer::Plain(json!({"elapsed-ns": 7}))),
            GuestCall::Start { .. } => Ok(Answer::Job(self.new_id())),
            GuestCall::Read { path } if path == "/none" => {
                Err(Trouble::new(ErrorName::Refused, "/none: No such file or directory"))
            }
            GuestCall::Read { path } if path == "/huge" => Ok(Answer::Text(vec![b'x'; 5_000_000])),
            GuestCall::Read { path } => Ok(Answer::Text(format!("text of {path}\n").into_bytes())),
            GuestCall::Get { .. } => Ok(Answer::Text(b"kept-1".to_vec())),
            GuestCall::Sysctl { .. } => Ok(Answer::Text(b"1".to_vec())),
            GuestCall::EndTrace {} => Ok(Answer::Plain(json!({"trace": "3-trace", "events": 12}))),
            GuestCall::Log {} => Ok(Answer::Lines(vec![b"one".to_vec(), b"two\xff".to_vec()])),
            GuestCall::WaitFor { pattern, .. } if pattern == "never" => {
                Err(Trouble::new(ErrorName::Timeout, "\"never\" did not come in 30 s"))
            }
            _ => Ok(Answer::Done),
        }
    }

    fn machine(&self, call: &MachineCall) -> Result<Answer, Trouble> {
        match call {
            MachineCall::Qmp { .. } => Ok(Answer::Plain(json!({"return": {"running": true}}))),
            MachineCall::Tasks {} => Ok(Answer::Plain(json!([{"name": "init"}]))),
            MachineCall::Hazards {} => Ok(Answer::Plain(json!([{"cpu": 1}]))),
            MachineCall::Registers {} => Ok(Answer::Plain(json!({"rip": 18}))),
            MachineCall::Receive { .. } => Ok(Answer::Text(b"D".to_vec())),
            MachineCall::Dump {} => Ok(Answer::Text(b"kept-2".to_vec())),
            MachineCall::Memory { length, .. } => Ok(Answer::Plain(json!(vec![0; *length as usize]))),
            MachineCall::Nmi {} => Err(Trouble::new(ErrorName::Report, "NMI: not continuing")),
            _ => Ok(Answer::Done),
        }
    }
}

fn job(call: &JobCall) -> Result<Answer, Trouble> {
    match call {
        JobCall::Wait { .. } => command_of("true"),
        JobCall::Kill { .. } => Ok(Answer::Done),
        JobCall::Output {} => Ok(Answer::Text(b"so far".to_vec())),
    }
}

fn segment(call: &SegmentCall) -> Result<Answer, Trouble> {
    match call {
        SegmentCall::Statistics {} => Ok(Answer::Plain(json!({"sent": 10, "lost": 1}))),
        SegmentCall::Capture {} => Ok(Answer::Text(b"kept.pcapng".to_vec())),
        _ => Ok(Answer::Done),
    }
}

/// What becomes of a command is the command.
fn command_of(command: &str) -> Result<Answer, Trouble> {
    let ended = |output: &str, status, signal| {
        let (output, duration) = (output.as_bytes().to_vec(), Duration::from_millis(1500));
        Ok(Answer::Command(CommandResult { output, status, signal, duration }))
    };
    let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
    match verb {
        "exit" => ended("ls: cannot open \x1b[31mx\n", rest.parse().ok(), None),
        "signal" => ended("", None, rest.parse().ok()),
        "echo" => ended(rest, Some(0), None),
        "iperf3" => ended(r#"{"end": {"sum_received": {"bits_per_second": 9.5e6}}}"#, Some(0), None),
        "liar" => Ok(Answer::Machine(1)),
        "nothing" => ended("", None, None),
        "huge" => ended(&"y".repeat(3_000_000), Some(0), None),
        "timeout" | "crash" | "hang" | "reboot" | "stopped" | "missing" | "refused" | "report" => {
            let name = serde_json::from_value(json!(verb)).unwrap();
            Err(Trouble::new(name, format!("there was a {verb}")))
        }
        "host" => Err(Trouble::broken(Blame::Host, "no memory is left")),
        _ => ended("", Some(0), None),
    }
}

/// Remembers events.
#[derive(Debug, Default)]
pub(crate) struct Ear(Mutex<Vec<Event>>);

impl Ear {
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }
}

impl Listener for Ear {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// What a run showed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) verdict: Verdict,
    pub(crate) events: Vec<Event>,
    pub(crate) calls: Vec<Call>,
    pub(crate) journal: Vec<u8>,
}

impl Ran {
    /// The problem as people see it.
    pub(crate) fn said(&self) -> String {
        self.verdict.problem.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// The texts of the notes.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = self.events.iter().filter_map(|event| match event {
            Event::Note { text } => Some(text.clone()),
            _ => None,
        });
        notes.collect()
    }
}

pub(crate) fn setup() -> Setup {
    let kernel = KernelInfo {
        locator: "deb:6.1".to_owned(),
        release: "6.1.0-56-amd64".to_owned(),
        identity: "k1".to_owned(),
    };
    Setup { kernels: vec![kernel], seed: 7, ..Setup::default() }
}

pub(crate) const BEGIN: &str = r#"experiment(
    question = "why?",
    measures = [metric_info("speed", unit = "Mbit/s", better = "more", kind = "timed")],
)
"#;

/// An experiment, and its folder as long as it is used.
#[derive(Debug)]
pub(crate) struct Opened {
    experiment: Experiment,
    _folder: TempDir,
}

impl Deref for Opened {
    type Target = Experiment;

    fn deref(&self) -> &Experiment {
        &self.experiment
    }
}

/// An experiment with these files.
pub(crate) fn experiment(files: &[(&str, &str)]) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let experiment = Experiment::open(folder.path()).unwrap_or_else(|problem| panic!("{problem}"));
    Opened { experiment, _folder: folder }
}

/// Runs a script that is given without its beginning.
pub(crate) fn run(script: &str) -> Ran {
    run_with(&[("experiment.star", &format!("{BEGIN}{script}"))], &setup())
}

/// Runs one step with this body.
pub(crate) fn run_step(body: &str) -> Ran {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    run(&format!("def check(lab):\n{}\nstep(check)\n", lines.join("\n")))
}

pub(crate) fn run_with(files: &[(&str, &str)], setup: &Setup) -> Ran {
    run_on(&Fake::default(), files, setup)
}

pub(crate) fn run_on(fake: &Fake, files: &[(&str, &str)], setup: &Setup) -> Ran {
    let (mut journal, ear) = (Vec::new(), Ear::default());
    let verdict = experiment(files).run(setup, fake, &mut journal, &ear);
    Ran { verdict, events: ear.events(), calls: fake.calls(), journal }
}
