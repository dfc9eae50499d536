//! Submits what is missing, waits, and takes in what comes.
//!
//! Nothing about the jobs is kept in memory: each time kiln looks, what is on the disk and what Slurm says decide what is done. So it does
//! not matter which kiln submitted a job.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lab::RunRequest;
use ledger::{Ledger, Place, Progress};

use crate::client::{Array, Client, Slurm};
use crate::error::Error;
use crate::queue::{Job, State};
use crate::resources::Resources;
use crate::submission::{Submission, Submissions, answer, failed, last_words};
use crate::take::{Asked, Taken, take};
use crate::wanted::Wanted;

/// Most jobs of an array, unless Slurm is told otherwise (`MaxArraySize` of slurm.conf(5)).
const ARRAY_MAX: usize = 1000;

/// How often one call submits a session.
const ATTEMPTS: u32 = 3;

/// How often Slurm may give no answer in a row: its controller may be away for half an hour.
const FAILURES_MAX: u32 = 100;

/// How long kiln waits between two looks: at first, and later.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(15);

/// How often the user's wish to stop is looked at.
const TICK: Duration = Duration::from_millis(100);

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Sessions without an answer.
    pub failed: usize,
    /// Sessions in which something else than the kernel or a case broke a Run.
    pub incomplete: usize,
}

/// A session that has no answer yet.
struct Open {
    wanted: Wanted,
    digest: String,
    /// How often this call has submitted it.
    attempts: u32,
    /// This call has seen its job.
    is_watched: bool,
}

/// What is known of a session after a look; what counts more is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Lost(&'static str),
    Cancelled,
    Waiting,
    Running,
    Refused,
    Answered,
}

struct Watch<'a> {
    place: Place<'a>,
    slurm: &'a dyn Slurm,
    submissions: Submissions,
    ledger: Ledger,
    kiln: PathBuf,
    open: Vec<Open>,
    total: usize,
    /// Answers that were taken in, or could not be.
    taken: HashSet<PathBuf>,
    /// Submissions with jobs that are waited for.
    names: BTreeSet<String>,
    /// Why one of them waits, in Slurm's words.
    reason: Option<String>,
    /// Looks in a row that failed; none before the first that did not.
    failures: Option<u32>,
    carried: Carried,
}

/// Runs sessions as jobs of Slurm's and keeps them below `place.sessions`. Jobs that this or another kiln has submitted before are waited for.
/// One that is lost is submitted again; one that somebody cancels is not.
///
/// # Errors
///
/// When Slurm refuses or is gone, nothing can be kept, and when the user wants to stop: the jobs go on.
pub fn carry_out(
    wanted: Vec<Wanted>,
    place: Place<'_>,
    emit: &mut dyn FnMut(Progress),
) -> Result<Carried, Error> {
    if wanted.is_empty() {
        return Ok(Carried::default());
    }
    let client = Client { interrupt: place.interrupt };
    let mut watch = Watch::new(wanted, place, &client)?;
    let mut pause = PAUSE;
    loop {
        watch.look(emit)?;
        if watch.open.is_empty() {
            return Ok(watch.carried);
        }
        watch.wait(pause)?;
        pause = (pause * 5 / 4).min(PAUSE_MAX);
    }
}

impl<'a> Watch<'a> {
    fn new(wanted: Vec<Wanted>, place: Place<'a>, slurm: &'a dyn Slurm) -> Result<Self, Error> {
        let kiln = std::env::current_exe().map_err(failed(Path::new("/proc/self/exe")))?;
        if !kiln.is_file() {
            return Err(failed(&kiln)(std::io::ErrorKind::NotFound.into()));
        }
        let mut seen = HashSet::new();
        let open = wanted.into_iter().map(|mut wanted| {
            // A node may have more CPUs than the job has asked for.
            wanted.request.policy.jobs.get_or_insert(1);
            let digest = wanted.digest();
            Open { wanted, digest, attempts: 0, is_watched: false }
        });
        // Two names of one kernel are one session.
        let open: Vec<Open> = open.filter(|open| seen.insert(open.digest.clone())).collect();
        Ok(Self {
            place,
            slurm,
            submissions: Submissions::of(place.sessions)?,
            ledger: Ledger::open(place.sessions, &mut |_, _| {})?,
            kiln,
            total: open.len(),
            open,
            taken: HashSet::new(),
            names: BTreeSet::new(),
            reason: None,
            failures: None,
            carried: Carried::default(),
        })
    }

    /// Looks once, unless another kiln does so now. Where Slurm gives no answer, kiln looks again later.
    fn look(&mut self, emit: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        let Some(_lock) = self.submissions.lock()? else { return Ok(()) };
        match (self.look_alone(emit), self.failures) {
            (Ok(()), _) => self.failures = Some(0),
            (Err(Error::Slurm { program, why }), Some(failures)) if failures < FAILURES_MAX => {
                self.failures = Some(failures + 1);
                emit(Progress::Working(format!("{program}: {why}")));
            }
            (Err(error), _) if error.is_interrupt() => return Err(self.interrupted()),
            (Err(error), _) => return Err(error),
        }
        Ok(())
    }

    fn look_alone(&mut self, emit: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        let all = self.submissions.all()?;
        let names: Vec<&str> = all.iter().map(|submission| &*submission.name).collect();
        let jobs = self.slurm.jobs(&names)?;
        let mut seen = HashMap::new();
        self.names.clear();
        self.reason = None;
        for submission in &all {
            self.look_at(submission, &jobs, &mut seen, emit)?;
        }
        self.ledger.refresh()?;
        let missing = self.settle(&seen, emit)?;
        self.submit(missing)?;
        self.tell(&seen, emit);
        Ok(())
    }

    /// Takes in the answers of a submission, and removes it if none of its jobs goes on.
    fn look_at(
        &mut self,
        submission: &Submission,
        jobs: &[Job],
        seen: &mut HashMap<String, Seen>,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<(), Error> {
        let own = jobs.iter().filter(|job| job.name == submission.name);
        let own: HashMap<u32, &Job> = own.map(|job| (job.index, job)).collect();
        for (index, digest) in submission.jobs() {
            let job = own.get(&index).copied();
            let open = self.open.iter().find(|open| open.digest == *digest);
            let node = job.map(|job| &*job.node).unwrap_or_default();
            let wanted =
                open.map(|open| Asked { about: &open.wanted.about, session: &open.wanted.session, node });
            let path = answer(&submission.folder, index);
            let is_new = !self.taken.contains(&path);
            let mut source = None;
            if let (Some(job), Some(Asked { about, .. }), true) = (job, wanted, is_new && !path.exists())
                && job.state == State::Ended
            {
                self.taken.insert(path.clone());
                source = self.fetch(about, job, &path, emit)?.then_some(node);
            }
            let mut now = Seen::of(job);
            if is_new && path.exists() {
                self.taken.insert(path.clone());
                now = match take(&path, wanted, self.place.sessions, emit)? {
                    Taken::Session => Seen::Answered,
                    Taken::Refusal => Seen::Refused,
                    Taken::Nothing => now,
                };
            }
            // What stays there takes a few KiB.
            source.into_iter().for_each(|node| drop(self.slurm.remove(node, &path)));
            if wanted.is_some() && matches!(now, Seen::Waiting | Seen::Running) {
                self.names.insert(submission.name.clone());
                self.reason = job.filter(|job| !job.reason.is_empty()).map(|job| job.reason.clone());
            }
            seen.entry(digest.clone()).and_modify(|before| *before = now.max(*before)).or_insert(now);
        }
        if !own.values().any(|job| job.state.goes_on()) {
            submission.remove();
        }
        Ok(())
    }

    /// Gets an answer from a node that does not share its files; without one, says what the job said last.
    fn fetch(
        &self,
        about: &str,
        job: &Job,
        path: &Path,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<bool, Error> {
        emit(Progress::Working(format!("{about}: fetching the session from {}", job.node)));
        let part = path.with_extension("part");
        match self.slurm.fetch(&job.node, path, &part) {
            Ok(()) => std::fs::rename(&part, path).map_err(failed(path)).map(|()| true),
            Err(error) if error.is_interrupt() => Err(error),
            Err(error) => {
                // Where its log is to be seen, the answer would be, too.
                let is_shared = path.with_extension("log").exists();
                let why = if is_shared { last_words(path) } else { Some(error.to_string()) };
                why.into_iter().for_each(|why| {
                    emit(Progress::Note(format!("{about}: node {}: {why}", job.node)));
                });
                Ok(false)
            }
        }
    }

    /// Closes what has an answer or gets none, and gives what is to be submitted.
    fn settle(
        &mut self,
        seen: &HashMap<String, Seen>,
        emit: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Open>, Error> {
        let mut missing = Vec::new();
        for mut open in std::mem::take(&mut self.open) {
            let about = &open.wanted.about;
            match seen.get(&open.digest) {
                Some(Seen::Running | Seen::Waiting) => {
                    open.is_watched = true;
                    self.open.push(open);
                }
                // Another kiln may have taken it in.
                _ if open.wanted.is_needless(&mut self.ledger)? => {}
                Some(Seen::Answered) => {
                    emit(Progress::Note(format!("{about}: what came back is not all that was asked")));
                    self.carried.incomplete += 1;
                }
                Some(Seen::Refused) => self.carried.incomplete += 1,
                Some(Seen::Cancelled) if open.is_watched => {
                    emit(Progress::Note(format!("{about}: somebody cancelled its job")));
                    self.carried.failed += 1;
                }
                lost if open.attempts < ATTEMPTS => {
                    if let Some(Seen::Lost(why)) = lost.filter(|_| open.is_watched) {
                        emit(Progress::Note(format!("{about}: {why}: its job is submitted again")));
                    }
                    missing.push(open);
                }
                _ => {
                    emit(Progress::Note(format!("{about}: {ATTEMPTS} jobs ended without a result")));
                    self.carried.failed += 1;
                }
            }
        }
        Ok(missing)
    }

    /// Submits what is missing. What Slurm does not take stays open, and so does what it may have taken without saying so.
    fn submit(&mut self, missing: Vec<Open>) -> Result<(), Error> {
        let mut missing = missing.into_iter().peekable();
        let mut refused = None;
        while missing.peek().is_some() {
            let mut array: Vec<Open> = missing.by_ref().take(ARRAY_MAX).collect();
            if refused.is_none() {
                refused = self.submit_array(&array).err();
            }
            if refused.is_none() {
                array
                    .iter_mut()
                    .for_each(|open| (open.attempts, open.is_watched) = (open.attempts + 1, true));
            }
            self.open.append(&mut array);
        }
        refused.map_or(Ok(()), Err)
    }

    fn submit_array(&mut self, array: &[Open]) -> Result<(), Error> {
        let each = array.iter().map(|open| open.wanted.resources.after(open.attempts));
        let Some(resources) = each.reduce(Resources::max) else { return Ok(()) };
        let wanted: Vec<(String, &RunRequest)> =
            array.iter().map(|open| (open.digest.clone(), &open.wanted.request)).collect();
        let submission = self.submissions.begin(&self.kiln, &wanted)?;
        let (name, script) = (&*submission.name, &*submission.script());
        self.slurm.submit(&Array { name, script, count: array.len(), resources })?;
        self.names.insert(submission.name);
        Ok(())
    }

    fn tell(&self, seen: &HashMap<String, Seen>, emit: &mut dyn FnMut(Progress)) {
        let is_running = |open: &&Open| seen.get(&open.digest) == Some(&Seen::Running);
        let (total, done) = (self.total, self.total - self.open.len());
        let running = self.open.iter().filter(is_running).count();
        let reason = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let waiting = self.open.len() - running;
        let text =
            format!("slurm: {done} of {total} sessions done, {running} running, {waiting} waiting{reason}");
        emit(Progress::Working(text));
    }

    /// Waits for some time, or until the user wants to stop.
    fn wait(&self, pause: Duration) -> Result<(), Error> {
        let begun = Instant::now();
        while begun.elapsed() < pause {
            if self.place.interrupt.load(Ordering::Relaxed) {
                return Err(self.interrupted());
            }
            sleep(TICK);
        }
        Ok(())
    }

    fn interrupted(&self) -> Error {
        Error::Interrupted(self.names.iter().cloned().collect())
    }
}

impl Seen {
    /// What Slurm says of a job; one that it does not know any more has gone without an answer.
    fn of(job: Option<&Job>) -> Self {
        match job.map(|job| job.state) {
            Some(State::Waiting) => Self::Waiting,
            Some(State::Running) => Self::Running,
            Some(State::Cancelled) => Self::Cancelled,
            Some(State::Lost(why)) => Self::Lost(why),
            Some(State::Ended) => Self::Lost("no result"),
            None => Self::Lost("not known to Slurm any more"),
        }
    }
}

#[cfg(test)]
mod tests;
