//! Instruments, on this host or in a machine.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use judge::{Outcome, Run};
use kernel::Kernel;
use lab::request::Selection;
use lab::{Event, Listener, Prepared, RunRequest};
use protocol::Report;
use protocol::instrument::{self, Line};
use report::safe;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::{Format, Place};
use crate::failure::{WrongUsage, complain};
use crate::find::preparing;
use crate::listeners::{self, View, print};
use crate::order::Order;
use crate::output::Output;
use crate::run::run_with;
use crate::terminal::Progress;
use crate::{report_file, signals};

/// An instrument with its request, and how what it reports is shown.
pub(crate) struct Call<T> {
    pub(crate) order: Order,
    /// Whether an instrument can have reported this.
    pub(crate) validate: fn(&T) -> Result<()>,
    /// Adds what only this host knows of a report, on a machine with a Kernel: what is missing for it.
    pub(crate) complete: fn(&mut T, &Kernel) -> Result<(), String>,
    /// One line about what is known so far.
    pub(crate) progress: fn(&T) -> String,
    /// All of it, for people.
    pub(crate) text: Text<T>,
    /// Files that get it, too.
    pub(crate) files: Vec<File<T>>,
    /// What programs get instead, if they want it.
    pub(crate) json: Option<Json<T>>,
    /// The user wants to see all that is known so far, again and again.
    pub(crate) live: bool,
}

/// A file that gets a report in a form of its own.
pub(crate) struct File<T> {
    pub(crate) path: PathBuf,
    pub(crate) content: fn(&T) -> String,
}

/// What makes a line of JSON of a report.
pub(crate) type Json<T> = fn(&T) -> io::Result<String>;

/// What shows a report to people.
pub(crate) type Text<T> = Box<dyn Fn(&T) -> String + Send>;

/// What an instrument reports.
pub(crate) trait Reported: DeserializeOwned + Serialize + Send + 'static {}

impl<T: DeserializeOwned + Serialize + Send + 'static> Reported for T {}

/// What an instrument says, as it is heard.
struct Hearing<T> {
    call: Call<T>,
    progress: Progress,
    /// The user wants to see the next report.
    is_wanted: Arc<AtomicBool>,
    /// That of the machine.
    kernel: Option<Kernel>,
    /// Its last word.
    last: Option<Result<T, Report>>,
}

/// Runs an instrument and gives the exit code. SIGUSR2 shows what it has so far, on standard error.
pub(crate) fn run<T: Reported>(call: Call<T>, place: &Place) -> Result<u8> {
    if place.describes_no_machine() {
        return Err(WrongUsage("there is no machine to set up: name its kernel with --in".to_string()).into());
    }
    let is_wanted = signals::report_flag().context("signals")?;
    let hearing = Hearing { call, progress: Progress::new(), is_wanted, kernel: None, last: None };
    match place.kernel() {
        None => here(hearing),
        Some(kernel) => inside(hearing, kernel, place),
    }
}

fn here<T: Reported>(mut hearing: Hearing<T>) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let order = &hearing.call.order;
    let (instrument, request, others) = (order.instrument, order.request.clone(), order.others.clone());
    let status = instrument.run_here(&request, &others, &interrupt, &mut |line| hearing.hear(line))?;
    hearing.show()?;
    let known = [instrument::DONE, instrument::FAULT, instrument::BROKEN, instrument::SKIPPED];
    match status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| known.contains(code)) {
        Some(code) => Ok(code),
        None => bail!("{} ended with {status}", instrument.name),
    }
}

fn inside<T: Reported>(
    hearing: Hearing<T>,
    kernel: lab::request::KernelRequest,
    place: &Place,
) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let order = &hearing.call.order;
    let mut request = RunRequest::new(kernel, Selection::Program(order.program()));
    request.machine = place.machine();
    request.case_limit = Some(order.limit());
    // A measurement that failed is not made again behind the user's back.
    request.policy.no_retry = true;
    let prepared = preparing(&interrupt, |context| Prepared::new(&request, context))?;
    let hearing = Hearing { kernel: Some(prepared.kernel.clone()), ..hearing };
    let view = View { format: Format::Human, color: false, verbose: false };
    let output = Output { view, results: place.results.as_deref() };
    run_with(prepared, output, Some(Box::new(hearing)), &interrupt)
}

impl<T: Reported> Hearing<T> {
    fn hear(&mut self, line: &str) {
        match serde_json::from_str::<Line<T>>(line) {
            Ok(Line::SoFar(report)) if (self.call.validate)(&report).is_ok() => {
                if self.is_wanted.swap(false, Ordering::Relaxed) {
                    self.show_so_far(&report);
                }
                match self.call.live {
                    true => self.progress.show_page(&(self.call.text)(&report)),
                    false => self.progress.show(&(self.call.progress)(&report)),
                }
            }
            Ok(Line::Done(report)) => self.last = Some(Ok(report)),
            Ok(Line::Stopped(why)) => self.last = Some(Err(why)),
            // The C library or the kernel may have spoken in between.
            Ok(Line::SoFar(_)) | Err(_) => {}
        }
    }

    #[expect(clippy::print_stderr, reason = "this is the command line")]
    fn show_so_far(&mut self, report: &T) {
        self.progress.clear();
        eprint!("{}", (self.call.text)(report));
    }

    /// Prints the report, or why there is none.
    #[expect(clippy::print_stderr, reason = "this is the command line")]
    fn show(&mut self) -> Result<()> {
        self.progress.clear();
        match &mut self.last {
            Some(Ok(report)) => {
                (self.call.validate)(report)?;
                let completed = self.kernel.as_ref().map(|kernel| (self.call.complete)(report, kernel));
                completed.and_then(Result::err).iter().for_each(|missing| complain(missing));
                for file in &self.call.files {
                    report_file::write(&file.path, |out| out.write_all((file.content)(report).as_bytes()))?;
                }
                let json = self.call.json.map(|json| json(report)).transpose()?;
                print(&json.unwrap_or_else(|| (self.call.text)(report)))?;
            }
            Some(Err(Report { kind, text })) => {
                eprintln!("kiln: {}: {}: {}", self.call.order.instrument.name, kind.name(), safe(text));
            }
            None => {}
        }
        Ok(())
    }
}

impl<T: Reported> Listener for Hearing<T> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Booting { .. } => self.progress.show("boots the machine"),
            Event::Started { .. } => self.progress.show("starts the instrument"),
            Event::Output { line, .. } => self.hear(line),
            Event::Note { text } => self.progress.note(text),
            Event::Finished(run) => self.finished(run),
            _ => {}
        }
    }
}

impl<T> Hearing<T> {
    /// Shows why a Run that did not pass ended as it did, unless the instrument says it itself.
    #[expect(clippy::print_stderr, reason = "this is the command line")]
    fn finished(&mut self, run: &Run) {
        if run.outcome == Outcome::Pass || matches!(self.last, Some(Err(_))) {
            return;
        }
        self.progress.clear();
        run.evidence.iter().for_each(|line| eprintln!("{}", safe(line)));
        eprintln!("kiln: {}: {}: {}", self.call.order.instrument.name, run.outcome.name(), safe(&run.reason));
    }
}

impl<T: Reported> listeners::Report for Hearing<T> {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.show().map_err(io::Error::other)
    }
}
