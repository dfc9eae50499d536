//! Observes a program and all that it starts.

use std::fs::{File, create_dir_all};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use observe::{Crash, Event, Fate, Frame, Job, Listener, Names, Processes, Unwinding, Usage, process};
use report::observe::{events, job, stack};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, test_kill_process};
use serde_json::{Value, json};

use crate::cli::ObservedJob;
use crate::failure::{WrongUsage, complain};
use crate::signals;

/// How soon an interrupt is noticed while a process is held.
const INTERVAL: Duration = Duration::from_millis(100);

/// Runs a program and gives its exit code.
pub(super) fn observe(args: &ObservedJob) -> Result<u8> {
    let command = super::command(&args.program)?;
    if let Some(folder) = &args.cores {
        create_dir_all(folder).map_err(|error| WrongUsage(format!("{}: {error}", folder.display())))?;
    }
    let interrupt = signals::interrupt_flag().context("signals")?;
    let file = args.output.as_deref().map(create).transpose()?;
    let mut watcher = Watcher::new(args, file);
    let observed = observe::observe(command, &mut watcher).map_err(super::refused)?;
    let told = watcher.finish();
    for &process in &observed.left {
        complain(&format!("process {process} still runs: {}", process::command(process)));
    }
    wait_for_held(&observed.held, || interrupt.load(Ordering::Relaxed));
    told?;
    Ok(observed.ending.code())
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    let created = File::create(path).map_err(|error| WrongUsage(format!("{}: {error}", path.display())));
    Ok(BufWriter::new(created?))
}

/// Shows and keeps what happens.
struct Watcher<'a> {
    args: &'a ObservedJob,
    job: Option<Job>,
    processes: Processes,
    names: Names,
    begin: u64,
    /// Where all of it is written, and the first error of that.
    file: Option<BufWriter<File>>,
    wrong: io::Result<()>,
}

impl<'a> Watcher<'a> {
    fn new(args: &'a ObservedJob, file: Option<BufWriter<File>>) -> Self {
        let (processes, names) = (Processes::default(), Names::default());
        Self { args, job: None, processes, names, begin: process::now(), file, wrong: Ok(()) }
    }

    fn write(&mut self, value: &Value) {
        if let (Some(file), true) = (&mut self.file, self.wrong.is_ok()) {
            self.wrong = writeln!(file, "{value}");
        }
    }

    /// Shows what is shown at the end.
    fn finish(mut self) -> Result<()> {
        let Some(seen) = self.job.take() else { return Ok(()) };
        complain(&job::summary(&seen));
        super::show(&self.args.end, &seen);
        self.write(&job::json(&seen));
        let written = self.wrong.and_then(|()| self.file.map_or(Ok(()), |mut file| file.flush()));
        written.with_context(|| {
            self.args.output.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
        })
    }
}

impl Listener for Watcher<'_> {
    fn event(&mut self, event: &Event) {
        let begin = self.begin;
        self.job.get_or_insert_with(|| Job::new(event.process, begin)).see(event);
        // Looking at processes costs those that are observed time.
        if self.file.is_some() || self.args.events {
            self.show(event);
        }
    }

    fn crash(&mut self, crash: &Crash) -> Fate {
        let frames = self.stack(crash);
        let command = process::command(crash.process);
        let line = format!("{} {command} dies of {}", crash.process, crash.signal);
        complain(&format!("{line}\n{}", stack::frames(&frames)));
        self.write(&json!({
            "event": "crash", "process": crash.process, "thread": crash.thread, "command": command,
            "signal": crash.signal.to_string(), "frames": stack::frames_json(&frames),
        }));
        let core = self.args.cores.as_deref().map(|folder| keep_core(crash, folder));
        core.into_iter().for_each(|said| complain(&said));
        let Some(limit) = self.args.hold else { return Fate::Die };
        hold(crash.process, limit);
        Fate::Hold
    }

    fn ended(&mut self, process: i32, usage: &Usage) {
        if let Some(job) = &mut self.job {
            job.used(process, usage);
        }
    }
}

impl Watcher<'_> {
    fn show(&mut self, event: &Event) {
        self.processes.see(event);
        if self.file.is_some() {
            self.write(&events::json(event, &self.processes));
        }
        if self.args.events {
            complain(&events::line(event, &self.processes, self.begin));
        }
        self.processes.forget(event);
    }

    fn stack(&mut self, crash: &Crash) -> Vec<Frame> {
        let Ok(mut unwinding) = Unwinding::new(crash.process) else { return Vec::new() };
        let calls = unwinding.calls(&crash.registers);
        unwinding.frames(&calls, &mut self.names)
    }
}

/// Writes a core dump; says where it is, or why it is not.
fn keep_core(crash: &Crash, folder: &Path) -> String {
    let comm = process::describe(crash.process).map(|process| process.comm).unwrap_or_default();
    // A process may call itself what it likes.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_+.".contains(letter);
    let name: String = comm.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let path = folder.join(format!("{name}.{}.core", crash.process));
    match observe::write_core(crash, &path) {
        Ok(bytes) => format!("core dump: {} ({})", path.display(), report::kernels::size(bytes)),
        Err(error) => format!("no core dump: {}: {error}", path.display()),
    }
}

/// Says what can be done with a process that is held, and lets it go after a time.
fn hold(process: i32, limit: Option<Duration>) {
    let until = limit
        .map(|limit| format!(" (it goes on by itself in {} s)", limit.as_secs_f64()))
        .unwrap_or_default();
    complain(&format!(
        "{process} is held: gdb -p {process} attaches; kill -CONT {process} lets it die{until}"
    ));
    let (Some(limit), Some(pid)) = (limit, Pid::from_raw(process)) else { return };
    // The descriptor is that of this very process, whatever has its number later.
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let release = move || {
        sleep(limit);
        let _ = pidfd_send_signal(&descriptor, Signal::CONT);
    };
    drop(std::thread::Builder::new().name("hold".to_owned()).spawn(release));
}

/// Waits until the processes that are held are gone; an interrupt lets them die.
fn wait_for_held(held: &[i32], is_over: impl Fn() -> bool) {
    let held: Vec<Pid> = held.iter().filter_map(|&process| Pid::from_raw(process)).collect();
    let is_there = |process: &Pid| test_kill_process(*process).is_ok();
    if held.iter().any(is_there) {
        complain("processes are held; Ctrl-C lets them die");
    }
    while held.iter().any(is_there) {
        if is_over() {
            for &process in &held {
                let _ = rustix::process::kill_process(process, Signal::CONT);
            }
            return;
        }
        sleep(INTERVAL);
    }
}
