//! A Run that was kept, and the request that made it, ready to be carried out again.

use std::path::{Path, PathBuf};

use judge::{Outcome, Run};
use lab::event::Session;
use lab::experiment::catalogue::case_of;
use lab::prepare::{self, Again};
use lab::request::ExperimentRequest;
use lab::request::kept::KeptRequest;
use lab::{File, Request};
use thiserror::Error;

use crate::Hold;
use crate::past::{self, Past, SESSION, sessions};
use crate::recorder::default_root;
use crate::result::ExperimentResult;
use crate::wanted::{Wanted, find};

/// Why a Run cannot be made again.
#[derive(Debug, Error)]
pub enum Error {
    /// It cannot be found or read.
    #[error(transparent)]
    Past(#[from] past::Error),
    /// Its request cannot be carried out again.
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    /// Its session is of another version.
    #[error("session {session} is from another version of kiln: it {why}")]
    Foreign {
        /// The session.
        session: String,
        /// What it does not say.
        why: &'static str,
    },
    /// Another host ran it.
    #[error("session {session} was run on {host}: make a bundle there (kiln bundle) and replay that")]
    Elsewhere {
        /// The session.
        session: String,
        /// The host.
        host: String,
    },
    /// A file of it cannot be read.
    #[error("{path}: {why}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
}

impl Error {
    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Past(error) => error.is_usage(),
            Self::Prepare(error) => error.is_usage(),
            Self::Foreign { .. } | Self::Elsewhere { .. } => true,
            Self::Io { .. } => false,
        }
    }
}

/// A Run that was kept, and what makes it again.
#[derive(Debug)]
pub struct Recalled {
    /// The Run.
    pub run: Run,
    /// What asks for this one case on the very same kernel.
    pub request: Request,
    /// What is kept to meanwhile.
    pub again: Again,
    /// Where relative paths of the request begin.
    pub directory: PathBuf,
    /// The folder of all sessions.
    pub sessions: PathBuf,
    past: Past,
    /// Of an experiment, what came of it.
    result: Option<ExperimentResult>,
}

/// Finds the Run. Sessions of kiln 0.1 kept the arguments that it was called with, and no request: `read` makes one of
/// them.
///
/// # Errors
///
/// When there is no such Run, or it cannot be made again.
pub fn recall(kept: &KeptRequest, read: &dyn Fn(&[String]) -> Option<Request>) -> Result<Recalled, Error> {
    let root = kept.sessions.clone().unwrap_or_else(default_root);
    let sessions = std::path::absolute(&root).map_err(|why| Error::Io { path: root, why })?;
    let Wanted { past, run } = find(&sessions, &kept.run).map_err(|error| asked_for(&error))?;
    let session = past.session().map_err(|error| asked_for(&error))?;
    if let Some(origin) = session.origin {
        // What it asks for is a stranger's, down to the options of QEMU.
        return Err(Error::Elsewhere { session: past.name(), host: origin.host });
    }
    let result = past.result().map_err(|error| asked_for(&error))?;
    // A bundle is complete: its paths begin where it is.
    let is_bundle = session.directory.as_os_str().is_empty();
    let directory = if is_bundle { past.directory().to_owned() } else { session.directory.clone() };
    let directory = std::path::absolute(&directory).map_err(|why| Error::Io { path: directory, why })?;
    let request = request_of(&session, &past.name(), read)?;
    let copy = match &request {
        Request::Experiment(request) => changed_experiment(&past, &directory, (&session, request)),
        request => changed_program(&past, &directory, request),
    };
    let again = Again::new(&run, past.name(), session, request);
    let again = copy.into_iter().fold(again, Again::with_copy);
    let request = again.request()?;
    Ok(Recalled { run, request, again, directory, sessions, past, result })
}

/// The program that ran, if the user's is not the same any more.
fn changed_program(past: &Past, directory: &Path, request: &Request) -> Option<PathBuf> {
    let Request::Run(request) = request else { return None };
    let path = directory.join(&request.cases.program()?.path);
    let kept = past.program(path.file_name()?);
    let then = std::fs::read(&kept).ok()?;
    let is_same = std::fs::read(path).is_ok_and(|now| now == then);
    (!is_same).then_some(kept)
}

/// The experiment that ran, if the user's is not the same any more.
fn changed_experiment(
    past: &Past,
    directory: &Path,
    (session, request): (&Session, &ExperimentRequest),
) -> Option<PathBuf> {
    let folder = directory.join(&request.folder);
    let is_same = |folder: &Path| {
        let content = machine::Folder::survey(folder).and_then(|folder| folder.content());
        content.is_ok_and(|content| content == session.content)
    };
    let name = session.cases.first()?.strip_prefix(&case_of(""))?;
    let kept = past.experiment(name);
    (!is_same(&folder) && kept.is_dir()).then_some(kept)
}

/// What cannot be read is not there for whoever asks for it.
fn asked_for(error: &past::Error) -> past::Error {
    past::Error::Wanted(error.to_string())
}

fn request_of(
    session: &Session,
    name: &str,
    read: &dyn Fn(&[String]) -> Option<Request>,
) -> Result<Request, Error> {
    let foreign = |why| Error::Foreign { session: name.to_string(), why };
    match &session.request {
        Some(request) => Ok(request.clone()),
        None if session.command.is_empty() => Err(foreign("does not record the command")),
        None => read(&session.command).ok_or_else(|| foreign("has a command that this kiln cannot read")),
    }
}

impl Recalled {
    /// What was kept of the Run.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn evidence(&self) -> Result<Vec<File>, Error> {
        let read = |(name, path): (&str, PathBuf)| match std::fs::read(&path) {
            Ok(content) => Ok(File::new(name, content)),
            Err(why) => Err(Error::Io { path, why }),
        };
        self.past.evidence(&self.run).into_iter().map(read).collect()
    }

    /// The folder of its session.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.past.directory()
    }

    /// The document of its session with this one in its place: that of a bundle.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn document(&self, session: &Session) -> Result<File, Error> {
        Ok(File::new(SESSION, self.past.document_with(session)?))
    }

    /// A line for each root that the machines of the experiment that has been made again had, and that is another one by now.
    #[must_use]
    pub fn other_roots(&self) -> Vec<String> {
        let now = self.own_session().and_then(|past| past.result().ok().flatten());
        let both = self.result.as_ref().zip(now);
        both.map(|(before, now)| before.other_roots(&now)).unwrap_or_default()
    }

    /// Keeps its session from being removed.
    ///
    /// # Errors
    ///
    /// When the folder of the sessions cannot be written.
    pub fn hold(&self) -> Result<Hold, crate::Error> {
        let hold = Hold::new(&self.sessions)?;
        hold.add(&self.past.name())?;
        Ok(hold)
    }

    /// The Run that has been made by this process meanwhile: that of the case, else that of the boot.
    #[must_use]
    pub fn made_again(&self) -> Option<Run> {
        made_again(&self.own_session()?, &self.run)
    }

    /// The session of this process.
    fn own_session(&self) -> Option<Past> {
        let own = format!("-{}", std::process::id());
        sessions(&self.sessions).into_iter().find(|past| past.name().ends_with(&own) && past.is_own())
    }
}

/// The Run of a session that made `before` again.
fn made_again(past: &Past, before: &Run) -> Option<Run> {
    let Run { case, is_boot, .. } = before;
    let good_boot = || Run { case: case.clone(), outcome: Outcome::Pass, ..Run::unstarted() };
    let own = if *is_boot { past.boot() } else { past.run(case) };
    match own.or_else(|_| past.boot()) {
        Ok(run) => Some(run),
        // Only a boot that went badly leaves a Run.
        Err(_) => (*is_boot && past.ended()).then(good_boot),
    }
}

/// Whether the session of this name, which this host ran, has a Run of `case` that accuses the kernel.
#[must_use]
pub fn shows(root: &Path, session: &str, case: &str) -> bool {
    let past = Past::open(&root.join(session));
    let own = past.filter(Past::is_own);
    own.and_then(|past| past.run(case).ok()).is_some_and(|run| run.outcome.is_failure())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;
    use crate::past::tests::keep;
    use crate::result::tests::{finished, session};
    use lab::{Event, Listener};

    #[test]
    fn an_old_session_is_made_again_by_its_arguments_or_refused() {
        let root = tempfile::tempdir().expect("a directory");
        keep(root.path(), "2026", &[("a", Outcome::Fail)], Some(false));
        let kept = KeptRequest { run: "last".to_string(), sessions: Some(root.path().to_owned()) };
        let error = recall(&kept, &|_| None).unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().ends_with("from another version of kiln: it does not record the command"));
    }

    #[test]
    fn an_experiment_whose_result_is_damaged_is_not_made_again() {
        let root = tempfile::tempdir().expect("a directory");
        let mut recorder = Recorder::create(root.path(), "2026").expect("room");
        recorder.on_event(&Event::Planned(Box::new(session("x"))));
        recorder.on_event(&finished(Outcome::Fail));
        let kept = KeptRequest { run: "last".to_string(), sessions: Some(root.path().to_owned()) };
        assert!(recall(&kept, &|_| None).is_ok(), "a kiln that was killed kept no result");
        std::fs::write(recorder.directory().join("result.json"), "{half").expect("writable");
        let error = recall(&kept, &|_| None).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("result.json: is not a document of kiln"));
    }

    #[test]
    fn a_boot_that_went_well_is_made_again_by_a_session_that_ended() {
        let root = tempfile::tempdir().expect("a directory");
        let boot = Run { case: "boot".into(), is_boot: true, ..Run::unstarted() };
        let well = keep(root.path(), "2026", &[("a", Outcome::Pass)], Some(false));
        assert_eq!(made_again(&well, &boot).map(|run| run.outcome), Some(Outcome::Pass));
        let cut = keep(root.path(), "2027", &[("a", Outcome::Pass)], None);
        assert_eq!(made_again(&cut, &boot), None);
    }
}
