use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicBool;

use judge::{Outcome, Run};
use lab::event::Session;
use lab::request::{KernelRequest, RunPolicy, Selection};
use lab::{Event, HostBackend, Request};
use ledger::SessionKey;

use super::*;
use crate::answer::lines;
use crate::resources::Resources;
use crate::submission::answer;
use crate::wanted::Counts;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A cluster whose jobs do what a test says.
#[derive(Default)]
struct Fake {
    /// What was submitted, with the places in the arrays.
    jobs: RefCell<Vec<Job>>,
    submitted: Cell<u32>,
    /// It gives no answer.
    is_away: Cell<bool>,
    /// An answer that only a node has.
    on_node: RefCell<Option<Vec<u8>>>,
}

impl Fake {
    /// From now on all jobs are in this state.
    fn all_are(&self, state: State) {
        self.jobs.borrow_mut().iter_mut().for_each(|job| job.state = state);
    }
}

fn away<T>() -> Result<T, Error> {
    Err(Error::Slurm { program: "squeue", why: "no controller".to_owned() })
}

impl Slurm for Fake {
    fn submit(&self, array: &Array<'_>) -> Result<(), Error> {
        if self.is_away.get() {
            return away();
        }
        self.submitted.set(self.submitted.get() + 1);
        let job = |index| Job {
            name: array.name.to_owned(),
            index,
            state: State::Waiting,
            node: "n1".to_owned(),
            reason: String::new(),
        };
        self.jobs.borrow_mut().extend((0..).take(array.count).map(job));
        Ok(())
    }

    fn jobs(&self, names: &[&str]) -> Result<Vec<Job>, Error> {
        let jobs = self.jobs.borrow();
        let wanted = jobs.iter().filter(|job| names.contains(&&*job.name));
        if self.is_away.get() { away() } else { Ok(wanted.cloned().collect()) }
    }

    fn fetch(&self, _: &str, _: &Path, to: &Path) -> Result<(), Error> {
        match self.on_node.take() {
            Some(lines) => std::fs::write(to, lines).map_err(failed(to)),
            None => away(),
        }
    }

    fn remove(&self, _: &str, _: &Path) -> Result<(), Error> {
        Ok(())
    }
}

/// A session of this kernel, as it would be here.
fn session(kernel: &str) -> Session {
    let request =
        RunRequest::new(KernelRequest::named(kernel.parse().expect("a locator")), Selection::default());
    let document = format!(
        r#"{{"started": "2026-11-20T10:00:00Z", "kiln": "0", "locator": "{kernel}", "provenance": "x",
            "release": null, "identity": "{kernel}", "machine": "QEMU", "suite": "smoke", "cases": ["pipe/full"]}}"#
    );
    let session: Session = serde_json::from_str(&document).expect("a session");
    Session { request: Some(Request::Run(Box::new(request))), ..session }
}

fn wanted() -> Vec<Wanted> {
    let of = |kernel: &str| {
        let session = session(kernel);
        let Some(Request::Run(request)) = session.request.clone() else { panic!("it has one") };
        let key = SessionKey::of(&session).expect("it runs cases");
        let resources = Resources { cpus: 1, memory_mib: 1, time: Duration::from_secs(60) };
        Wanted { about: kernel.to_owned(), request: *request, session, key, counts: Counts::Cases, resources }
    };
    vec![of("deb:6.1.0-1-amd64"), of("deb:6.1.0-2-amd64")]
}

/// What a job answers that ran a session.
fn answered(kernel: &str, process: u32) -> Vec<u8> {
    let origin = format!(r#"{{"host": "n1", "session": "2026-11-20T10-00-00Z-{process}"}}"#);
    let origin = serde_json::from_str(&origin).expect("an origin");
    let run = Run { case: "pipe/full".into(), outcome: Outcome::Pass, ..Run::unstarted() };
    let session = Session { origin: Some(origin), ..session(kernel) };
    lines([Event::Planned(Box::new(session)), Event::Finished(Box::new(run))].into_iter()).expect("JSON")
}

/// Looks once, and gives what is said.
fn look(watch: &mut Watch<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let done = watch.look(&mut |progress| match progress {
        Progress::Note(text) | Progress::Known(text) => notes.push(text),
        Progress::Working(_) => {}
    });
    done.expect("it can go on");
    notes
}

#[test]
fn what_another_call_submitted_is_waited_for_and_taken_in_as_it_arrives() {
    let (root, slurm) = (tempfile::tempdir().expect("a directory"), Fake::default());
    let place = Place { backend: &HostBackend, sessions: root.path(), interrupt: &NEVER };
    let mut killed = Watch::new(wanted(), place, &slurm).expect("writable");
    look(&mut killed);
    drop(killed);
    let mut watch = Watch::new(wanted(), place, &slurm).expect("writable");
    assert_eq!(look(&mut watch), [""; 0]);
    let submission = watch.submissions.all().expect("readable").remove(0);
    std::fs::write(answer(&submission.folder, 1), answered("deb:6.1.0-2-amd64", 7)).expect("written");
    slurm.jobs.borrow_mut()[1].state = State::Ended;
    assert_eq!(look(&mut watch), ["deb:6.1.0-2-amd64: 1 of 1 well"]);
    assert_eq!((watch.open.len(), watch.interrupted().to_string().contains(&submission.name)), (1, true));
    *slurm.on_node.borrow_mut() = Some(answered("deb:6.1.0-1-amd64", 8));
    slurm.all_are(State::Ended);
    assert_eq!(look(&mut watch), ["deb:6.1.0-1-amd64: 1 of 1 well"]);
    assert_eq!((watch.open.len(), watch.carried, slurm.submitted.get()), (0, Carried::default(), 1));
    assert!(watch.submissions.all().expect("readable").is_empty());
}

#[test]
fn what_is_lost_is_submitted_again_but_not_for_ever() {
    let (root, slurm) = (tempfile::tempdir().expect("a directory"), Fake::default());
    let place = Place { backend: &HostBackend, sessions: root.path(), interrupt: &NEVER };
    let mut watch = Watch::new(wanted(), place, &slurm).expect("writable");
    look(&mut watch);
    for attempt in 2..=ATTEMPTS {
        slurm.all_are(State::Lost("NODE_FAIL"));
        let notes = look(&mut watch);
        assert_eq!(notes[0], "deb:6.1.0-1-amd64: NODE_FAIL: its job is submitted again");
        assert_eq!((notes.len(), slurm.submitted.get()), (2, attempt));
    }
    // Slurm has forgotten them.
    slurm.jobs.borrow_mut().clear();
    assert_eq!(look(&mut watch)[1], "deb:6.1.0-2-amd64: 3 jobs ended without a result");
    assert_eq!((watch.open.len(), watch.carried.failed, slurm.submitted.get()), (0, 2, ATTEMPTS));
}

#[test]
fn what_somebody_cancels_is_submitted_by_the_next_call_only() {
    let (root, slurm) = (tempfile::tempdir().expect("a directory"), Fake::default());
    let place = Place { backend: &HostBackend, sessions: root.path(), interrupt: &NEVER };
    let mut watch = Watch::new(wanted(), place, &slurm).expect("writable");
    look(&mut watch);
    slurm.all_are(State::Cancelled);
    assert_eq!(look(&mut watch)[0], "deb:6.1.0-1-amd64: somebody cancelled its job");
    assert_eq!((watch.open.len(), watch.carried.failed, slurm.submitted.get()), (0, 2, 1));
    let mut next = Watch::new(wanted(), place, &slurm).expect("writable");
    look(&mut next);
    assert_eq!(slurm.submitted.get(), 2);
}

#[test]
fn a_controller_that_is_away_is_waited_for_once_it_was_there() {
    let (root, slurm) = (tempfile::tempdir().expect("a directory"), Fake::default());
    let place = Place { backend: &HostBackend, sessions: root.path(), interrupt: &NEVER };
    let mut watch = Watch::new(wanted(), place, &slurm).expect("writable");
    slurm.is_away.set(true);
    let refused = watch.look(&mut |_| {}).expect_err("it is not there").to_string();
    assert_eq!(refused, "squeue: no controller");
    slurm.is_away.set(false);
    look(&mut watch);
    slurm.is_away.set(true);
    (0..FAILURES_MAX).for_each(|_| drop(look(&mut watch)));
    assert!(watch.look(&mut |_| {}).is_err(), "it does not come back");
    slurm.is_away.set(false);
    look(&mut watch);
    assert_eq!((watch.open.len(), slurm.submitted.get()), (2, 1));
}

#[test]
fn each_boot_of_a_session_is_a_job_until_it_was_carried_out() {
    let (root, slurm) = (tempfile::tempdir().expect("a directory"), Fake::default());
    let place = Place { backend: &HostBackend, sessions: root.path(), interrupt: &NEVER };
    let boot = |number| {
        let mut wanted = self::wanted().remove(0);
        let policy =
            RunPolicy { repeat: Some(2), boots: Some(1), first_boot: number, ..RunPolicy::default() };
        wanted.request.policy = policy;
        wanted.session.request = Some(Request::Run(Box::new(wanted.request.clone())));
        Wanted { counts: Counts::Policy, ..wanted }
    };
    let mut watch = Watch::new(vec![boot(0), boot(1), boot(1)], place, &slurm).expect("writable");
    look(&mut watch);
    assert_eq!(slurm.jobs.borrow().len(), 2, "one of them is asked for twice");
    let submission = watch.submissions.all().expect("readable").remove(0);
    let run = Run { case: "pipe/full".into(), outcome: Outcome::Pass, ..Run::unstarted() };
    let summary = judge::Summary::default();
    let ended = Event::Ended { summary, took: Duration::ZERO, interrupted: false, exit: None };
    let origin = serde_json::from_str(r#"{"host": "n1", "session": "2026-11-20T10-00-00Z-7"}"#);
    let session = Session { origin: Some(origin.expect("an origin")), ..boot(1).session };
    let events = [Event::Planned(Box::new(session)), Event::Finished(Box::new(run)), ended];
    std::fs::write(answer(&submission.folder, 1), lines(events.into_iter()).expect("JSON")).expect("written");
    slurm.jobs.borrow_mut()[1].state = State::Ended;
    look(&mut watch);
    assert_eq!(watch.open.len(), 1);
    assert_eq!(watch.open[0].wanted.request.policy.first_boot, 0, "another boot says nothing about it");
    assert!(boot(1).is_needless(&mut watch.ledger).expect("an answer"));
}
