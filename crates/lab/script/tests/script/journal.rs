//! A run that is killed anywhere goes on where it was, and ends as if nothing had happened.

use std::io;

use judge::Outcome;
use script::{Experiment, Store};

use crate::fake::{BEGIN, Ear, Fake, Opened, Ran, experiment, run_with, setup};

/// Steps with everything that a journal keeps.
const STEPS: &str = r#"
def boot(lab, number):
    m = lab.machine()
    metric("speed", lab.random() + number)
    note("booted " + m.run("echo %d" % number).output)
    table("t", ["a"], [[number]])
    return {"number": number, "chance": lab.random(), "text": "\n\"\t"}

def side(lab, m, number):
    note("side %d" % number)
    return m.run("echo side").output

def both(lab, first, second):
    m = lab.machine()
    lab.parallel([branch(side, m, 1), branch(side, m, 2)])
    finding("sum", first = first, second = second)
    lab.sleep(1)

def end(lab, first):
    lab.machine().run(LAST)
    expect(first["number"] == 1, "one")

first = step(boot, 1, name = "one")
second = step(boot, 2, name = "two")
step(both, first, second)
step(end, first)
"#;

/// The bytes of a journal, which cannot be written any more after some writes: the last one is torn.
#[derive(Debug)]
struct Torn {
    bytes: Vec<u8>,
    /// Writes that still work, and how much of the one after them.
    left: usize,
    torn: usize,
}

impl Store for Torn {
    fn read(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.bytes.clone())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.left == 0 {
            let part = bytes.len() * self.torn / 3;
            self.bytes.extend(&bytes[..part]);
            self.torn = 0;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.left -= 1;
        self.bytes.extend(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, length: usize) -> io::Result<()> {
        self.bytes.truncate(length);
        Ok(())
    }
}

fn script(last: &str) -> String {
    format!("{BEGIN}LAST = {last:?}\n{STEPS}")
}

fn run(experiment: &Experiment, fake: &Fake, journal: &mut (dyn Store + Send)) -> Ran {
    let ear = Ear::default();
    let verdict = experiment.run(&setup(), fake, journal, &ear);
    Ran { verdict, events: ear.events(), calls: fake.calls(), journal: Vec::new() }
}

/// Events without whether they come from a journal.
fn plain(ran: &Ran) -> String {
    serde_json::to_string(&ran.events).unwrap().replace("\"resumed\":true", "\"resumed\":false")
}

fn whole(last: &str) -> (Opened, Ran) {
    let experiment = experiment(&[("experiment.star", &script(last))]);
    let ran = run(&experiment, &Fake::default(), &mut Vec::new());
    (experiment, ran)
}

#[test]
fn a_run_whose_machines_die_at_any_call_ends_as_one_that_was_not_interrupted() {
    for last in ["true", "exit 1", "crash"] {
        let (experiment, whole) = whole(last);
        for lives in 0..whole.calls.len() {
            let mut journal = Vec::new();
            let killed = run(&experiment, &Fake::dying(lives), &mut journal);
            assert_eq!(killed.verdict.outcome, Outcome::Broken, "{last} {lives}");
            let again = run(&experiment, &Fake::default(), &mut journal);
            assert_eq!(again.verdict, whole.verdict, "{last} {lives}");
            assert_eq!(plain(&again), plain(&whole), "{last} {lives}");
            assert!(again.calls.len() + lives >= whole.calls.len(), "{last} {lives}");
        }
    }
}

#[test]
fn a_run_that_is_killed_at_any_write_ends_as_one_that_was_not_interrupted() {
    for last in ["true", "exit 1"] {
        let (experiment, whole) = whole(last);
        for writes in 0..whole.events.len() + 10 {
            for torn in 0..3 {
                let mut journal = Torn { bytes: Vec::new(), left: writes, torn };
                let first = run(&experiment, &Fake::default(), &mut journal);
                let is_complete = first.verdict == whole.verdict;
                assert!(is_complete || first.verdict.outcome == Outcome::Broken, "{last} {writes}");
                let fake = Fake::default();
                let again = run(&experiment, &fake, &mut journal.bytes);
                assert_eq!(again.verdict, whole.verdict, "{last} {writes} {torn}");
                assert_eq!(plain(&again), plain(&whole), "{last} {writes} {torn}");
                assert!(
                    !is_complete || again.calls.is_empty(),
                    "{last} {writes}: a complete run booted machines"
                );
            }
        }
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_comes_to_its_end() {
    let (experiment, whole) = whole("true");
    let mut journal = Vec::new();
    let mut runs = 0;
    let ended = loop {
        runs += 1;
        let ran = run(&experiment, &Fake::dying(6), &mut journal);
        if ran.verdict.outcome != Outcome::Broken || runs > 50 {
            break ran;
        }
    };
    assert_eq!((ended.verdict.clone(), plain(&ended)), (whole.verdict.clone(), plain(&whole)));
    assert!(runs > 1);
}

#[test]
fn complete_steps_are_not_run_again_and_another_script_inherits_nothing() {
    let (experiment, _) = whole("true");
    let mut journal = Vec::new();
    run(&experiment, &Fake::dying(3), &mut journal);
    let again = run(&experiment, &Fake::default(), &mut journal.clone());
    assert!(again.events.iter().any(|event| matches!(event, script::Event::Started { resumed: true, .. })));
    let (other, _) = whole("echo other");
    let changed = run(&other, &Fake::default(), &mut journal);
    assert!(
        !changed.events.iter().any(|event| matches!(event, script::Event::Started { resumed: true, .. }))
    );
}

#[test]
fn a_run_that_has_concluded_concludes_the_same_without_machines() {
    for last in ["true", "exit 1", "crash", "hang", "missing"] {
        let experiment = experiment(&[("experiment.star", &script(last))]);
        let mut journal = Vec::new();
        let first = run(&experiment, &Fake::default(), &mut journal);
        let again = run(&experiment, &Fake::default(), &mut journal);
        assert_eq!((again.verdict.clone(), plain(&again)), (first.verdict.clone(), plain(&first)), "{last}");
        assert!(again.calls.is_empty());
    }
    let mut broken = Vec::new();
    let experiment = experiment(&[("experiment.star", &script("host"))]);
    run(&experiment, &Fake::default(), &mut broken);
    assert!(!run(&experiment, &Fake::default(), &mut broken).calls.is_empty(), "what broke is tried again");
}

#[test]
fn a_journal_reads_like_this() {
    let ran = run_with(
        &[("experiment.star", &format!("{BEGIN}def f(lab):\n    note(\"hi\")\n    return 1\nstep(f)\n"))],
        &setup(),
    );
    let text = String::from_utf8(ran.journal).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    assert!(header.starts_with("{\"header\":{\"version\":1,\"identity\":\""), "{header}");
    insta::assert_snapshot!("journal", rest);
}
