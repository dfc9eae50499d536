//! `kiln hazard`: where a machine waits for too long.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use introspect::{Call, Registers};
use judge::Outcome;
use judge::run::Run;
use lab::{Event, Listener, Prepared, RunRequest};
use machine::hazards::Spin;
use machine::{Conditions, Hazard};
use observe::{Program, Thread};
use report::hazard::Hazards;
use report::observe::stack::called;
use report::safe;

use crate::cli::{self, Format};
use crate::failure::WrongUsage;
use crate::find::preparing;
use crate::listeners::{self, View, print};
use crate::output::Output;
use crate::requests::program_or_cases;
use crate::run::run_with;
use crate::signals;
use crate::terminal::Progress;

/// Looks for hazards and gives the exit code.
pub(crate) fn hazard(args: &cli::Hazard) -> Result<u8> {
    let Some(kernel) = args.place.kernel() else {
        let why = "hazards are found in what a machine executes: name its kernel with --in, such as --in host; on this host, \
                   kiln count --events lock:contention_begin counts what waits";
        return Err(WrongUsage(why.to_owned()).into());
    };
    let interrupt = signals::interrupt_flag().context("signals")?;
    let program = (args.exec.as_deref(), &args.arguments[..]);
    let cases = program_or_cases(program, (args.suite.as_deref(), &args.case));
    let mut wanted = RunRequest::new(kernel, cases);
    wanted.machine = args.place.machine();
    wanted.machine.hazards = Conditions(args.when.clone());
    wanted.policy.no_retry = true;
    let prepared = preparing(&interrupt, |context| Prepared::new(&wanted, context))?;
    let is_found = Arc::new(AtomicBool::new(false));
    let collector = Collector {
        hazards: Hazards::new(Conditions(args.when.clone())),
        progress: Progress::new(),
        json: args.json,
        is_found: Arc::clone(&is_found),
        has_looked: false,
        program: args.exec.as_deref().and_then(Program::open),
    };
    let view = View { format: Format::Human, color: false, verbose: false };
    let output = Output { view, results: args.place.results.as_deref() };
    let code = run_with(prepared, output, Some(Box::new(collector)), &interrupt)?;
    Ok(if code == 0 { u8::from(is_found.load(Ordering::Relaxed)) } else { code })
}

/// Collects the hazards of all Runs.
struct Collector {
    hazards: Hazards,
    progress: Progress,
    json: bool,
    is_found: Arc<AtomicBool>,
    /// Something ran in which hazards were looked for.
    has_looked: bool,
    /// The program, if one runs.
    program: Option<Program>,
}

impl Listener for Collector {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Booting { .. } => self.progress.show("boots the machine"),
            Event::Started { case, .. } => self.progress.show(&format!("{} runs", safe(case))),
            Event::Output { line, .. } => self.progress.note(&safe(line)),
            Event::Note { text } => self.progress.note(text),
            Event::Hazard { case, hazard, .. } => {
                self.is_found.store(true, Ordering::Relaxed);
                let hazard = match (**hazard).clone() {
                    Hazard::LockSpin(spin) => Hazard::LockSpin(self.named(spin)),
                    other @ (Hazard::LockWait(_) | Hazard::Write(_)) => other,
                };
                self.hazards.add(case, hazard);
                self.progress.show(&self.hazards.progress());
            }
            Event::Waited { case, sites, .. } => self.hazards.count(case, sites),
            Event::Finished(run) => self.finished(run),
            _ => {}
        }
    }
}

impl Collector {
    /// The same with the calls of the program, if it is there.
    fn named(&mut self, mut spin: Spin) -> Spin {
        let frames = self.program.as_mut().zip(spin.program.as_ref()).and_then(|(program, place)| {
            let Registers { ip: rip, sp: rsp, bp: rbp } = place.registers;
            let registers = observe::Registers { rip, rsp, rbp };
            program.frames(Thread { registers, code: (spin.address, &place.code), stack: &place.stack })
        });
        if let Some(frames) = frames {
            spin.function = frames.first().and_then(|frame| frame.function.clone());
            spin.calls = frames.iter().map(|frame| Call { text: called(frame), is_guess: false }).collect();
        }
        spin
    }

    /// Shows why a Run did not pass.
    fn finished(&mut self, run: &Run) {
        self.has_looked |= !matches!(run.outcome, Outcome::Skip | Outcome::Broken);
        if run.outcome != Outcome::Pass {
            run.evidence.iter().for_each(|line| self.progress.note(&safe(line)));
            let reason = format!("{}: {}: {}", safe(&run.case), run.outcome.name(), safe(&run.reason));
            self.progress.note(&reason);
        }
    }
}

impl listeners::Report for Collector {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.progress.clear();
        let json =
            self.json.then(|| report::json_line(&self.hazards)).transpose().map_err(io::Error::other)?;
        let has_looked = self.has_looked || self.is_found.load(Ordering::Relaxed);
        let text = || if has_looked { self.hazards.text() } else { String::new() };
        print(&json.unwrap_or_else(text)).map_err(io::Error::other)
    }
}
