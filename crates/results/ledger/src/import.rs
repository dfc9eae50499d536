//! Takes in what another host ran: what it reported becomes folders of sessions, as if it were reported here.
//!
//! It may come from anybody: names are checked, all is bounded, and a session is there as a whole or not at all. Its request is
//! kept to say what ran, and is never carried out.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind};
use std::path::Path;

use lab::event::{Origin, Session};
use lab::{Event, Listener};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;
use thiserror::Error;

use crate::database::Ledger;
use crate::events::Lines;
use crate::past::Past;
use crate::recorder::{self, Recorder, numbered_places, prepare, require_room};

/// How the folders begin in which sessions are before they are complete.
const INCOMING: &str = ".importing-";

/// The file that is locked while somebody imports.
const LOCK: &str = ".import.lock";

/// Longest name of a session or a host.
const NAME_MAX: usize = 200;

/// Longest line, in bytes: a Run with output and kernel log, each with every byte escaped.
const LINE_MAX: u64 = 32 << 20;

/// Most that a session takes, in bytes.
const SESSION_BYTES: u64 = 1 << 30;

/// Most cases of a session.
const CASES_MAX: usize = 100_000;

/// Why nothing more is taken in; what was before is.
#[derive(Debug, Error)]
pub enum Error {
    /// The input is not what kiln exports.
    #[error("line {line}: {why}")]
    Input {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A session cannot be kept.
    #[error(transparent)]
    Folder(#[from] recorder::Error),
}

impl Error {
    /// Whether the user gave something that cannot be taken in.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Input { .. })
    }
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions that are new, or of which there is more than before.
    pub new: Vec<String>,
    /// How many were there already.
    pub known: usize,
    /// Sessions that cannot be kept, each with the reason.
    pub refused: Vec<String>,
}

/// Where a session was run.
#[must_use]
pub fn origin(past: &Past, session: &Session) -> Origin {
    session.origin.clone().unwrap_or_else(|| Origin { host: host_name(), session: past.name() })
}

/// This host, as others call it.
fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain: String = name.chars().filter(|c| is_plain(*c)).take(NAME_MAX).collect();
    if plain.is_empty() || plain.starts_with('.') { "unknown".to_owned() } else { plain }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._".contains(c)
}

/// What is wrong with a session that arrives, if anything is.
fn fault(session: &Session) -> Option<String> {
    let Some(Origin { host, session: name }) = &session.origin else {
        return Some("is not from kiln export: it has no origin".to_owned());
    };
    let is_host =
        !host.is_empty() && host.len() <= NAME_MAX && !host.starts_with('.') && host.chars().all(is_plain);
    // `2026-11-20T10-07-31Z-4711`, or `2026-11-20T10-07-31Z-4711.2`.
    let rest = name.strip_prefix(&session.stamp()).and_then(|rest| rest.strip_prefix('-'));
    let is_number =
        |text: &str| (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_session = rest.is_some_and(|rest| match rest.split_once('.') {
        None => is_number(rest),
        Some((process, number)) => is_number(process) && is_number(number),
    });
    match (is_host, is_session) {
        (false, _) => Some(format!("{host:?} is not a valid name of a host")),
        (_, false) => {
            Some(format!("{name:?} is not a valid name of a session that began at {}", session.started))
        }
        _ if session.cases.len() > CASES_MAX => Some(format!("it has more than {CASES_MAX} cases")),
        _ => None,
    }
}

/// Takes the sessions of `input` in below `root`; `progress` is called with the name of each.
///
/// # Errors
///
/// At the first line that is none, and when nothing more can be written. All that was complete before is kept.
pub fn import(input: impl BufRead, root: &Path, progress: &mut dyn FnMut(&str)) -> Result<Imported, Error> {
    prepare(root)?;
    let place = Incoming::new(root)?;
    let mut imported = Imported::default();
    let mut current: Option<Arriving> = None;
    for (number, line) in Lines::new(input, LINE_MAX).enumerate() {
        let wrong = |why: String| Error::Input { line: number + 1, why };
        let line = line.map_err(|error| wrong(error.to_string()))?;
        let event: Event = serde_json::from_slice(&line)
            .map_err(|error| wrong(format!("is not what kiln export --format json writes: {error}")))?;
        if let Event::Planned(session) = event {
            fault(&session).map_or(Ok(()), |fault| Err(wrong(fault)))?;
            current.take().map_or(Ok(()), |arriving| arriving.settle(root, &mut imported))?;
            require_room(root)?;
            let arriving = place.begin(*session)?;
            progress(&arriving.name);
            current = Some(arriving);
        } else {
            let arriving = current.as_mut().ok_or_else(|| wrong("no session has begun".to_owned()))?;
            arriving.take(&event, line.len() as u64).map_err(wrong)?;
        }
    }
    current.map_or(Ok(()), |arriving| arriving.settle(root, &mut imported))?;
    Ok(imported)
}

/// The folder in which sessions are before they are complete; nobody else imports meanwhile.
struct Incoming {
    folder: TempDir,
    _lock: File,
}

impl Incoming {
    /// One of its own; those of kilns that were killed are removed.
    fn new(root: &Path) -> Result<Self, recorder::Error> {
        let make = || -> io::Result<Self> {
            let lock = File::options().create(true).append(true).open(root.join(LOCK))?;
            lock.lock()?;
            remove_abandoned(root);
            let folder = tempfile::Builder::new().prefix(INCOMING).tempdir_in(root)?;
            Ok(Self { folder, _lock: lock })
        };
        make().map_err(|why| recorder::Error::Io { path: root.to_path_buf(), why })
    }

    fn begin(&self, session: Session) -> Result<Arriving, recorder::Error> {
        // The one before was refused, was known, or is what it replaces.
        let folder = self.folder.path().join("session");
        let _ = std::fs::remove_dir_all(&folder);
        let begun = std::fs::create_dir(&folder).and_then(|()| Recorder::copying(&folder));
        let mut recorder = begun.map_err(|why| recorder::Error::Io { path: folder, why })?;
        let name = session.origin.as_ref().map(|origin| origin.session.clone()).unwrap_or_default();
        recorder.on_event(&Event::Planned(Box::new(session)));
        Ok(Arriving { name, recorder, left: SESSION_BYTES, has_ended: false })
    }
}

/// Removes what kilns left behind that were killed.
fn remove_abandoned(root: &Path) {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let abandoned = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(INCOMING));
    abandoned.for_each(|entry| drop(std::fs::remove_dir_all(entry.path())));
}

/// A session on its way in.
struct Arriving {
    name: String,
    recorder: Recorder,
    /// Bytes that may still come.
    left: u64,
    has_ended: bool,
}

impl Arriving {
    /// Takes an event of so many bytes, or says what is wrong with it.
    fn take(&mut self, event: &Event, size: u64) -> Result<(), String> {
        if self.has_ended {
            return Err("its session has ended already".to_owned());
        }
        self.left = self
            .left
            .checked_sub(size)
            .ok_or_else(|| format!("session {} takes more than {} MiB", self.name, SESSION_BYTES >> 20))?;
        self.has_ended = matches!(event, Event::Ended { .. });
        // What comes after the first that cannot be written is not tried.
        if self.recorder.trouble().is_none() {
            self.recorder.on_event(event);
        }
        Ok(())
    }

    /// Gives it a place among the others, unless it is there.
    fn settle(self, root: &Path, imported: &mut Imported) -> Result<(), Error> {
        let Self { name, recorder, .. } = self;
        let folder = recorder.directory().to_owned();
        if let Some(why) = recorder.trouble() {
            if is_of_host(why) {
                recorder.finish()?;
            } else {
                imported.refused.push(format!("session {name}: {why}"));
            }
            return Ok(());
        }
        recorder.finish()?;
        let arrived = Past::open(&folder).filter(|past| past.session().is_ok());
        let Some(arrived) = arrived else {
            imported.refused.push(format!("session {name}: cannot be read back"));
            return Ok(());
        };
        let io = |why| recorder::Error::Io { path: root.to_path_buf(), why };
        // Another host may have one of the same name.
        for place in numbered_places(root.join(&name)) {
            match extent(&place, &arrived, root) {
                Extent::Same | Extent::More => {
                    imported.known += 1;
                    return Ok(());
                }
                Extent::Other => continue,
                // In one step: whoever looks sees one of both.
                Extent::Less => {
                    let exchanged = renameat_with(CWD, &folder, CWD, &place, RenameFlags::EXCHANGE);
                    exchanged.map_err(|why| io(why.into()))?;
                }
                Extent::Nothing => std::fs::rename(&folder, &place).map_err(io)?,
            }
            imported.new.push(place.file_name().unwrap_or_default().to_string_lossy().into_owned());
            return Ok(());
        }
        Err(io(ErrorKind::AlreadyExists.into()).into())
    }
}

/// Whether nothing else can be written either.
fn is_of_host(why: &io::Error) -> bool {
    use ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(why.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem | PermissionDenied)
}

/// How much a place has of a session.
#[derive(Debug, PartialEq, Eq)]
enum Extent {
    Same,
    More,
    Less,
    /// It has another session.
    Other,
    /// It has none.
    Nothing,
}

/// How much `place` has of the session that has arrived.
fn extent(place: &Path, arrived: &Past, root: &Path) -> Extent {
    let Some(there) = Past::open(place) else {
        // The Runs of a session whose folder is gone are known.
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        return match Ledger::host_of(root, &name) {
            _ if place.exists() => Extent::Other,
            None => Extent::Nothing,
            Some(host) => {
                let host = host.unwrap_or_else(host_name);
                let is_from =
                    arrived.session().is_ok_and(|session| session.origin.is_some_and(|it| it.host == host));
                if is_from { Extent::Same } else { Extent::Other }
            }
        };
    };
    if !there.has_events() {
        let is_from = |session: Session| origin(&there, &session);
        let both = [&there, arrived].map(|past| past.session().ok().map(is_from));
        return if both[0] == both[1] { Extent::More } else { Extent::Other };
    }
    let (Ok(mut known), Ok(mut new)) = (there.events(), arrived.events()) else { return Extent::Other };
    let (Some(Event::Planned(first)), Some(Event::Planned(second))) = (known.next(), new.next()) else {
        return Extent::Other;
    };
    let is_own = first.origin.is_none();
    let from = origin(&there, &first);
    if second.origin.as_ref() != Some(&from) || (Session { origin: Some(from), ..*first }) != *second {
        return Extent::Other;
    }
    loop {
        match (known.next(), new.next()) {
            (None, None) => return Extent::Same,
            (Some(_), None) => return Extent::More,
            // Nobody adds to what this host ran.
            (None, Some(_)) if !is_own => return Extent::Less,
            (Some(a), Some(b)) if a == b => {}
            _ => return Extent::Other,
        }
    }
}

#[cfg(test)]
mod tests;
