//! Writes what it hears into a folder.

use std::collections::HashMap;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use judge::run::{file_name, stamp};
use judge::{Run, Summary};
use lab::event::Session;
use lab::prepare::content::ProgramFile;
use lab::{Event, Listener};
use serde::Serialize;
use thiserror::Error;

use crate::document;
use crate::past::{BOOT_RUN, CASES, EVENTS, EXPERIMENT, PROGRAM};
use crate::result::{ExperimentResult, RESULT, SCRIPT_JOURNAL};

/// Space that must be left before a session starts, in bytes.
const SPACE_MIN: u64 = 16 << 20;

/// Most that is kept of all consoles of a session, in bytes.
const CONSOLE_MAX: u64 = 64 << 20;

/// What is kept of each clone's console whatever the others say, in bytes.
const CLONE_CONSOLE: u64 = 64 << 10;

/// Most that is kept of the files of an experiment, in bytes.
const EXPERIMENT_MAX: u64 = 64 << 20;

/// Where they are on their way in.
const HALF_EXPERIMENT: &str = "experiment.part";

/// Most sessions that one process begins within a second.
const SESSIONS_MAX: u32 = 10_000;

/// A folder that cannot be written.
#[derive(Debug, Error)]
pub enum Error {
    /// The host refused something.
    #[error("results folder {path}: {why}; choose another with --results")]
    Io {
        /// The folder.
        path: PathBuf,
        /// The refusal.
        why: io::Error,
    },
    /// It is in use.
    #[error("{path}: another kiln uses it: wait until it has ended")]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// There is no room.
    #[error("results folder {path}: only {} MiB are free, {} are needed; choose another with --results", .free >> 20, SPACE_MIN >> 20)]
    Full {
        /// The folder.
        path: PathBuf,
        /// Bytes that are free.
        free: u64,
    },
}

/// Makes the folder `root`, where there must be room.
pub(crate) fn prepare(root: &Path) -> Result<(), Error> {
    let io = |why| Error::Io { path: root.to_path_buf(), why };
    std::fs::create_dir_all(root).map_err(io)?;
    require_room(root)
}

/// Whether there is room in a folder that is there.
pub(crate) fn require_room(root: &Path) -> Result<(), Error> {
    let io = |why| Error::Io { path: root.to_path_buf(), why };
    let free = rustix::fs::statvfs(root).map_err(|error| io(error.into()))?;
    let free = free.f_bavail.saturating_mul(free.f_frsize);
    if free < SPACE_MIN {
        return Err(Error::Full { path: root.to_path_buf(), free });
    }
    Ok(())
}

/// Where sessions are kept by default: `$XDG_STATE_HOME/kiln/runs`.
#[must_use]
pub fn default_root() -> PathBuf {
    host::state_folder().join("runs")
}

/// The folder below `root` for a session of this process that started at `started`.
#[must_use]
pub fn folder(root: &Path, started: &str) -> PathBuf {
    root.join(format!("{}-{}", started.replace(':', "-"), std::process::id()))
}

/// Makes the folder of what started then; one process may begin several within a second.
pub(crate) fn make(root: &Path, started: &str) -> Result<PathBuf, Error> {
    prepare(root)?;
    let made = places(root, started).find_map(|place| match std::fs::create_dir(&place) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => None,
        made => Some(made.map(|()| place)),
    });
    let io = |why| Error::Io { path: root.to_path_buf(), why };
    made.unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into())).map_err(io)
}

/// The folders below `root` that what started then can have, in the order in which they are taken.
pub(crate) fn places(root: &Path, started: &str) -> impl Iterator<Item = PathBuf> {
    numbered_places(folder(root, started))
}

/// A folder, and those that others of the same name have.
pub(crate) fn numbered_places(first: PathBuf) -> impl Iterator<Item = PathBuf> {
    let later = (2..SESSIONS_MAX).map({
        let first = first.clone();
        move |number| numbered(&first, number)
    });
    std::iter::once(first).chain(later)
}

/// The events of a session, without a lock.
pub(crate) fn open_events(directory: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(directory.join(EVENTS))
}

/// The folder of a later session of the same second.
fn numbered(first: &Path, number: u32) -> PathBuf {
    let mut name = first.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Keeps a session.
#[derive(Debug)]
pub struct Recorder {
    directory: PathBuf,
    events: File,
    console: File,
    /// Those of the clones that are at work, by their numbers, and what is left of what each may write.
    consoles: HashMap<u32, (File, u64)>,
    console_left: u64,
    kernel_log: File,
    session: Option<Session>,
    trouble: Option<io::Error>,
    /// What is recorded was run elsewhere: it has no consoles here, and its command lines are not for shells.
    is_copy: bool,
}

/// The document about a whole session.
#[derive(Serialize)]
struct SessionDocument<'a> {
    #[serde(flatten)]
    session: &'a Session,
    summary: Option<Summary>,
    interrupted: bool,
    took_seconds: Option<f64>,
}

impl Recorder {
    /// A new folder below `root` for a session that started at `started`.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or there is no room.
    pub fn create(root: &Path, started: &str) -> Result<Self, Error> {
        let directory = make(root, started)?;
        Self::open(&directory).map_err(|why| Error::Io { path: root.to_path_buf(), why })
    }

    fn open(directory: &Path) -> io::Result<Self> {
        let events = open_events(directory)?;
        // Nobody removes it meanwhile.
        events.lock()?;
        Self::in_folder(directory, events)
    }

    /// Records in a folder whose events are open and locked.
    pub(crate) fn in_folder(directory: &Path, events: File) -> io::Result<Self> {
        let directory = directory.canonicalize()?;
        let file = |name: &str| File::options().create(true).append(true).open(directory.join(name));
        let (console, kernel_log) = (file("console.log")?, file("kernel.log")?);
        Ok(Self {
            directory,
            events,
            console,
            consoles: HashMap::new(),
            console_left: CONSOLE_MAX,
            kernel_log,
            session: None,
            trouble: None,
            is_copy: false,
        })
    }

    /// Records in an empty folder what another host has recorded.
    pub(crate) fn copying(directory: &Path) -> io::Result<Self> {
        Ok(Self { is_copy: true, ..Self::open(directory)? })
    }

    /// What could not be written, if anything could not.
    pub(crate) fn trouble(&self) -> Option<&io::Error> {
        self.trouble.as_ref()
    }

    /// The folder.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The name of the session: that of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Where an experiment keeps its journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.directory.join(SCRIPT_JOURNAL)
    }

    /// Keeps the files of an experiment as they are, so that the Run can be made again after a change; false if they take too
    /// much.
    ///
    /// # Errors
    ///
    /// When they cannot be read or written.
    pub fn keep_experiment(&self, name: &str, folder: &machine::Folder) -> Result<bool, Error> {
        let place = self.directory.join(EXPERIMENT);
        if place.exists() {
            return Ok(true);
        }
        if folder.size() > EXPERIMENT_MAX {
            return Ok(false);
        }
        // It is there as a whole or not at all.
        let half = self.directory.join(HALF_EXPERIMENT);
        let _ = std::fs::remove_dir_all(&half);
        let error = |why| Error::Io { path: place.clone(), why };
        std::fs::create_dir(&half).map_err(error)?;
        folder.copy_to(&half.join(name)).map_err(|why| error(io::Error::other(why.to_string())))?;
        std::fs::rename(&half, &place).map_err(error)?;
        Ok(true)
    }

    /// Keeps what came of an experiment.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn keep_result(&self, result: &ExperimentResult) -> Result<(), Error> {
        let path = self.directory.join(RESULT);
        document::write(&path, result).map_err(|why| Error::Io { path, why })
    }

    /// Keeps the user's program as it ran, so that the Run can be made again after a change.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn keep_program(&self, program: ProgramFile<'_>) -> Result<(), Error> {
        let folder = self.directory.join(PROGRAM);
        let path = folder.join(program.name);
        let write = || {
            std::fs::create_dir(&folder)?;
            std::fs::write(&path, program.content)?;
            std::fs::set_permissions(&path, Permissions::from_mode(0o755))
        };
        write().map_err(|why| Error::Io { path: path.clone(), why })
    }

    /// The first thing that could not be written, if any.
    ///
    /// # Errors
    ///
    /// That thing.
    pub fn finish(self) -> Result<(), Error> {
        match self.trouble {
            Some(why) => Err(Error::Io { path: self.directory, why }),
            None => Ok(()),
        }
    }

    fn record(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Console { clone, line, .. } => return self.write_console(*clone, line),
            // It is kept with its Run.
            Event::Output { .. } => return Ok(()),
            Event::Planned(session) => self.session = Some((**session).clone()),
            Event::Booting { boot, .. } => self.write_console(0, &format!("=== boot {boot}"))?,
            Event::CommandLine { .. } | Event::Started { .. } if self.is_copy => {}
            Event::CommandLine { boot, line } => self.write_command_line(*boot, line)?,
            Event::Started { case, clone } => {
                self.open_console(case, *clone)?;
                self.write_console(*clone, &format!("=== case {case}"))?;
            }
            Event::Repeated(run) => self.write_run(run, &format!("{}.{}", run.case, run.clone))?,
            Event::Finished(run) => self.write_run(run, &run.case)?,
            Event::Note { .. }
            | Event::Booted { .. }
            | Event::Hazard { .. }
            | Event::Waited { .. }
            | Event::Recorded { .. }
            | Event::Ended { .. } => {}
        }
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.append(&line)?;
        match event {
            Event::Planned(_) => self.write_session(None, false, None),
            Event::Ended { summary, took, interrupted, .. } => {
                self.write_session(Some(*summary), *interrupted, Some(took.as_secs_f64()))
            }
            _ => Ok(()),
        }
    }

    /// Adds a line to the events, as a whole or not at all: half a line would spoil the next one.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let size = self.events.metadata()?.len();
        self.events.write_all(line).or_else(|error| self.events.set_len(size).and(Err(error)))
    }

    /// Clones work side by side: each writes beside the document of its case.
    fn open_console(&mut self, case: &str, clone: u32) -> io::Result<()> {
        if clone > 0 {
            let path = self.case_file(case, "console")?;
            let file = File::options().create(true).append(true).open(path)?;
            self.consoles.insert(clone, (file, CLONE_CONSOLE));
        }
        Ok(())
    }

    fn write_console(&mut self, clone: u32, line: &str) -> io::Result<()> {
        let size = line.len() as u64 + 1;
        let (file, left) = match self.consoles.get_mut(&clone) {
            Some((file, own)) if size <= *own => (file, own),
            Some((file, _)) => (file, &mut self.console_left),
            None => (&mut self.console, &mut self.console_left),
        };
        if size > *left {
            return Ok(());
        }
        *left -= size;
        writeln!(file, "{line}")
    }

    fn write_command_line(&self, boot: u32, line: &str) -> io::Result<()> {
        let mut file = File::options().create(true).append(true).open(self.directory.join("qemu.sh"))?;
        writeln!(file, "# boot {boot}\n{line}")
    }

    /// The file of a case with this extension; its folder is there.
    fn case_file(&self, case: &str, extension: &str) -> io::Result<PathBuf> {
        let path = self.directory.join(CASES).join(format!("{}.{extension}", file_name(case)));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        Ok(path)
    }

    fn write_run(&mut self, run: &Run, name: &str) -> io::Result<()> {
        self.consoles.remove(&run.clone);
        // A Run that stands for several was told before, as one of them.
        let log = if run.repeats.is_empty() { &run.log[..] } else { &[] };
        for record in log {
            let stamp = stamp(record);
            writeln!(self.kernel_log, "{} {stamp} <{}> {}", run.case, record.level, record.text)?;
        }
        let path = if run.is_boot { self.directory.join(BOOT_RUN) } else { self.case_file(name, "json")? };
        document::write(&path, run)
    }

    fn write_session(
        &self,
        summary: Option<Summary>,
        interrupted: bool,
        took_seconds: Option<f64>,
    ) -> io::Result<()> {
        let Some(session) = &self.session else { return Ok(()) };
        let document = SessionDocument { session, summary, interrupted, took_seconds };
        document::write(&self.directory.join("session.json"), &document)
    }
}

impl Listener for Recorder {
    fn on_event(&mut self, event: &Event) {
        // A folder that fills up must not stop the session; it is told at the end.
        if let Err(error) = self.record(event) {
            self.trouble.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::Outcome;
    use judge::run;

    fn session() -> Session {
        Session {
            started: jiff::Timestamp::UNIX_EPOCH,
            kiln: "0".into(),
            request: None,
            command: vec!["run".into(), "x".into()],
            directory: "/home".into(),
            locator: "x".into(),
            kernel: "x".into(),
            kernels: Vec::new(),
            provenance: "x".into(),
            commit: None,
            release: None,
            identity: "x".into(),
            engine: None,
            machine: "x".into(),
            suite: "smoke".into(),
            content: String::new(),
            cases: vec!["pipe/full".into()],
            expected: [].into(),
            jobs: 2,
            origin: None,
        }
    }

    fn a_run(case: &str) -> Run {
        Run { case: case.into(), outcome: Outcome::Pass, ..run::Run::unstarted() }
    }

    #[test]
    fn a_session_can_be_read_back() {
        let root = tempfile::tempdir().expect("a directory");
        let mut recorder = Recorder::create(root.path(), "2026-11-20T10:07:31Z").expect("room");
        recorder.on_event(&Event::Planned(Box::new(session())));
        recorder.on_event(&Event::Console { boot: 1, clone: 0, line: "hello".into() });
        recorder.on_event(&Event::Finished(Box::new(a_run("pipe/full"))));
        let directory = recorder.directory().to_path_buf();
        recorder.finish().expect("written");
        let events = std::fs::read_to_string(directory.join("events.jsonl")).expect("events");
        let events: Vec<Event> =
            events.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
        assert_eq!(events.len(), 2);
        let run = std::fs::read_to_string(directory.join("cases/pipe/full.json")).expect("a document");
        assert_eq!(serde_json::from_str::<Run>(&run).expect("a Run"), a_run("pipe/full"));
        assert_eq!(std::fs::read_to_string(directory.join("console.log")).expect("console"), "hello\n");
    }

    #[test]
    fn a_flood_of_one_clone_takes_no_room_from_another() {
        let root = tempfile::tempdir().expect("a directory");
        let mut recorder = Recorder::create(root.path(), "t").expect("room");
        recorder.console_left = 2 * CLONE_CONSOLE;
        let begins = |case: &str, clone| Event::Started { case: case.into(), clone };
        let says = |clone, line: &str| Event::Console { boot: 1, clone, line: line.into() };
        recorder.on_event(&begins("flood", 1));
        for _ in 0..5 * CLONE_CONSOLE / 1024 {
            recorder.on_event(&says(1, &"x".repeat(1023)));
        }
        recorder.on_event(&begins("quiet", 2));
        recorder.on_event(&says(2, "a word"));
        let cases = recorder.directory().join("cases");
        recorder.finish().expect("written");
        let size = std::fs::metadata(cases.join("flood.console")).expect("written").len();
        assert!((2 * CLONE_CONSOLE..=3 * CLONE_CONSOLE).contains(&size), "{size}");
        let quiet = std::fs::read_to_string(cases.join("quiet.console")).expect("written");
        assert_eq!(quiet, "=== case quiet\na word\n");
    }

    #[test]
    fn a_case_cannot_leave_the_folder() {
        assert_eq!(file_name("../../etc/passwd"), "etc/passwd");
        assert_eq!(file_name("/a/./b"), "a/b");
    }

    #[test]
    fn what_cannot_be_written_is_told_at_the_end() {
        let root = tempfile::tempdir().expect("a directory");
        let mut recorder = Recorder::create(root.path(), "t").expect("room");
        std::fs::write(recorder.directory().join("cases"), "in the way").expect("written");
        recorder.on_event(&Event::Finished(Box::new(a_run("pipe/full"))));
        let error = recorder.finish().unwrap_err();
        assert!(std::error::Error::source(&error).is_none(), "what is in the text is not told twice");
    }
}
