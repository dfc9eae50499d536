//! What was submitted, on the disk: a folder for each array of jobs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use lab::RunRequest;
use lab::event::stamp;
use lab::request::Version;
use serde::{Deserialize, Serialize};

use crate::error::{Error, plain};
use crate::script::{JobRequest, script};

/// Beside the sessions.
const FOLDER: &str = ".slurm";

/// Locked while somebody looks at the submissions and submits.
const LOCK: &str = "lock";

/// What was submitted, in the folder of a submission.
const DOCUMENT: &str = "submission.json";

/// What its jobs run.
const SCRIPT: &str = "script";

/// Largest document.
const DOCUMENT_MAX: u64 = 4 << 20;

/// Largest log that is looked into.
const LOG_MAX: u64 = 1 << 20;

/// Submissions that one process makes within a second.
const WITHIN_A_SECOND: u32 = 1000;

/// All submissions.
#[derive(Debug)]
pub(crate) struct Submissions {
    folder: PathBuf,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) folder: PathBuf,
    /// The name of its folder and of its jobs.
    pub(crate) name: String,
    /// What each job runs, as a hash, by its place in the array.
    pub(crate) sessions: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: Version<1>,
    sessions: Vec<String>,
}

impl Submissions {
    /// Those whose results go to this folder of sessions.
    pub(crate) fn of(sessions: &Path) -> Result<Self, Error> {
        // Jobs begin elsewhere.
        let folder = std::path::absolute(sessions.join(FOLDER)).map_err(failed(sessions))?;
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
        Ok(Self { folder })
    }

    /// Keeps others from looking and submitting as long as it lives; nothing if another does so now.
    pub(crate) fn lock(&self) -> Result<Option<File>, Error> {
        let path = self.folder.join(LOCK);
        let file = File::options().create(true).append(true).open(&path).map_err(failed(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(why)) => Err(failed(&path)(why)),
        }
    }

    /// All that are there. One whose document cannot be read was never submitted, and is removed.
    pub(crate) fn all(&self) -> Result<Vec<Submission>, Error> {
        let entries = fs::read_dir(&self.folder).map_err(failed(&self.folder))?.flatten();
        let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
        let mut all: Vec<Submission> = folders.filter_map(Submission::open).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Writes down what is about to be submitted: requests, each with the hash of its session.
    pub(crate) fn begin(&self, kiln: &Path, wanted: &[(String, &RunRequest)]) -> Result<Submission, Error> {
        let (folder, name) = self.make()?;
        let request = |(_, run): &(String, &RunRequest)| JobRequest {
            version: Version,
            folder: folder.clone(),
            run: RunRequest::clone(run),
        };
        let requests: Vec<JobRequest> = wanted.iter().map(request).collect();
        let sessions: Vec<String> = wanted.iter().map(|(digest, _)| digest.clone()).collect();
        let write = || {
            fs::write(folder.join(SCRIPT), script(kiln, &requests)?)?;
            let document = serde_json::to_vec(&Document { version: Version, sessions: sessions.clone() })?;
            host::write_atomically(&folder.join(DOCUMENT), &document)
        };
        write().map_err(failed(&folder))?;
        Ok(Submission { folder, name, sessions })
    }

    /// A folder with a name that no other submission of this host has.
    fn make(&self) -> Result<(PathBuf, String), Error> {
        let first = format!("kiln-{}-{}", stamp(jiff::Timestamp::now()), std::process::id());
        let later = (2..WITHIN_A_SECOND).map(|number| format!("{first}.{number}"));
        for name in std::iter::once(first.clone()).chain(later) {
            let folder = self.folder.join(&name);
            match fs::create_dir(&folder) {
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| (folder.clone(), name)).map_err(failed(&folder)),
            }
        }
        Err(failed(&self.folder)(io::ErrorKind::AlreadyExists.into()))
    }
}

impl Submission {
    fn open(folder: PathBuf) -> Option<Self> {
        let submission = Self::read(&folder);
        if submission.is_none() {
            let _ = fs::remove_dir_all(folder);
        }
        submission
    }

    fn read(folder: &Path) -> Option<Self> {
        let name = folder.file_name()?.to_str()?.to_owned();
        let text = host::read_bounded(&folder.join(DOCUMENT), DOCUMENT_MAX).ok()??;
        let document: Document = serde_json::from_slice(&text).ok()?;
        Some(Self { folder: folder.to_owned(), name, sessions: document.sessions })
    }

    /// What its jobs run.
    pub(crate) fn script(&self) -> PathBuf {
        self.folder.join(SCRIPT)
    }

    /// The places in the array and the hashes of what they run.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = (u32, &String)> {
        (0..).zip(&self.sessions)
    }

    /// Removes all of it.
    pub(crate) fn remove(&self) {
        // What stays is looked at again, and costs a few files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What is known of the jobs of a submission without Slurm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// The name of the jobs.
    pub name: String,
    /// How many there are.
    pub jobs: usize,
    /// How many have answered.
    pub answered: usize,
}

/// The submissions whose results go to this folder of sessions, the oldest first; nothing is changed.
#[must_use]
pub fn submitted(sessions: &Path) -> Vec<Submitted> {
    let folders = fs::read_dir(sessions.join(FOLDER)).into_iter().flatten().flatten();
    let submissions = folders.filter_map(|entry| Submission::read(&entry.path()));
    let known = |submission: Submission| {
        let answered = submission.jobs().filter(|(index, _)| answer(&submission.folder, *index).is_file());
        Submitted { answered: answered.count(), jobs: submission.sessions.len(), name: submission.name }
    };
    let mut all: Vec<Submitted> = submissions.map(known).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The answer of a job, in the folder of its submission.
pub(crate) fn answer(folder: &Path, index: u32) -> PathBuf {
    folder.join(format!("{index}.jsonl"))
}

/// The last line that a job said which left no answer, if it is to be had.
pub(crate) fn last_words(answer: &Path) -> Option<String> {
    let text = host::read_bounded(&answer.with_extension("log"), LOG_MAX).ok()??;
    let line = String::from_utf8_lossy(&text).lines().rfind(|line| !line.trim().is_empty())?.to_owned();
    Some(plain(&line))
}

/// What is locked while a job is at work.
pub(crate) fn lock(folder: &Path, index: u32) -> PathBuf {
    folder.join(format!("{index}.lock"))
}

pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    move |why| Error::Io { path: path.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use lab::request::{KernelRequest, Selection};

    use super::*;

    fn request() -> RunRequest {
        RunRequest::new(KernelRequest::named("host".parse().expect("a locator")), Selection::default())
    }

    #[test]
    fn what_was_submitted_is_found_again() {
        let root = tempfile::tempdir().expect("a directory");
        let (submissions, request) = (Submissions::of(root.path()).expect("writable"), request());
        let wanted = [("a".to_owned(), &request), ("b".to_owned(), &request)];
        let first = submissions.begin(Path::new("/opt/kiln"), &wanted).expect("writable");
        let second = submissions.begin(Path::new("/opt/kiln"), &wanted[..1]).expect("writable");
        // A kiln was killed before it had written all.
        fs::create_dir(submissions.folder.join("kiln-half")).expect("writable");
        let all = submissions.all().expect("readable");
        let mut names = [first.name, second.name];
        names.sort();
        assert_eq!(all.iter().map(|one| &one.name).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
        let jobs: usize = all.iter().map(|one| one.jobs().count()).sum();
        assert!(jobs == 3 && all[0].script().is_file() && !submissions.folder.join("kiln-half").exists());
        all.iter().for_each(Submission::remove);
        assert!(submissions.all().expect("readable").is_empty());
    }

    #[test]
    fn who_only_looks_changes_nothing() {
        let root = tempfile::tempdir().expect("a directory");
        assert_eq!(submitted(root.path()), []);
        assert!(!root.path().join(FOLDER).exists());
        let (submissions, request) = (Submissions::of(root.path()).expect("writable"), request());
        let wanted = [("a".to_owned(), &request), ("b".to_owned(), &request)];
        let one = submissions.begin(Path::new("/opt/kiln"), &wanted).expect("writable");
        fs::create_dir(submissions.folder.join("kiln-half")).expect("writable");
        fs::write(answer(&one.folder, 1), "{}").expect("writable");
        assert_eq!(submitted(root.path()), [Submitted { name: one.name, jobs: 2, answered: 1 }]);
        assert!(submissions.folder.join("kiln-half").exists());
    }

    #[test]
    fn what_a_job_said_last_is_known() {
        let folder = tempfile::tempdir().expect("a directory");
        let answer = answer(folder.path(), 7);
        assert_eq!(last_words(&answer), None);
        fs::write(folder.path().join("7.log"), "one\nkiln: no\x1b[2J room\n \n").expect("written");
        assert_eq!(last_words(&answer), Some("kiln: no[2J room".to_owned()));
    }

    #[test]
    fn one_kiln_submits_at_a_time() {
        let root = tempfile::tempdir().expect("a directory");
        let submissions = Submissions::of(root.path()).expect("writable");
        let lock = submissions.lock().expect("writable").expect("nobody has it");
        assert!(submissions.lock().expect("writable").is_none());
        drop(lock);
        assert!(submissions.lock().expect("writable").is_some());
    }
}
