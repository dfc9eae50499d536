use super::*;
use crate::race::{Judgement, Race};
use harness::check::{fail, skip};

fn plan() -> Plan {
    Plan { rounds: 50, ..Plan::new(Duration::from_secs(300)) }
}

fn supervised(plan: &Plan, body: impl FnOnce(&Runner) -> Checked) -> Checked<RaceReport> {
    supervise(plan, body, |_| ())
}

#[test]
fn what_was_counted_comes_back() {
    let body = |runner: &Runner| runner.run(Race::between(|| (), || ()));
    let report = supervised(&plan(), body).expect("nothing fails");
    assert_eq!((report.rounds, report.hits, report.ended), (50, 0, Ended::Rounds));
    assert!(!report.is_fault());
}

#[test]
fn why_it_stopped_comes_back() {
    for (kind, body) in [
        (ReportKind::Skip, (|_: &Runner| skip("nothing to race for")) as fn(&Runner) -> Checked),
        (ReportKind::Broken, |_| broken("no directory")),
        (ReportKind::Fail, |_| fail("refused")),
    ] {
        let Stop(report) = supervised(&plan(), body).expect_err("it stops");
        assert_eq!(report.kind, kind);
    }
}

#[test]
fn a_hit_outweighs_what_follows_it() {
    let body = |runner: &Runner| {
        runner.run(Race::between(|| (), || ()).judge(|(), ()| Ok(Judgement::Hit)))?;
        fail("cannot be unmounted")
    };
    let report = supervised(&plan(), body).expect("it was hit");
    assert!(report.is_fault() && report.hits == 1);
    assert!(report.detail.is_some_and(|text| text.starts_with("cannot be unmounted")));
}

#[test]
fn it_works_in_an_empty_directory_that_is_gone_afterwards() {
    let body = |_: &Runner| {
        let here = std::env::current_dir()?;
        let count = std::fs::read_dir(".")?.count();
        std::fs::write("left", "behind")?;
        fail(&format!("{}|{count}|", here.display()))
    };
    let Stop(report) = supervised(&plan(), body).expect_err("it says where it is");
    let mut parts = report.text.split('|');
    let path = parts.next().expect("the path is first");
    assert_eq!(parts.next(), Some("0"));
    assert!(path.contains("kiln-race-") && !Path::new(path).exists(), "{path}");
}

#[test]
fn a_process_that_dies_breaks_the_race() {
    let body = |_: &Runner| {
        // SAFETY: ends this process only.
        unsafe { libc::raise(libc::SIGKILL) };
        Ok(())
    };
    let Stop(report) = supervised(&plan(), body).expect_err("it dies");
    assert_eq!(
        (report.kind, report.text.as_str()),
        (ReportKind::Broken, "signal 9 ended the process of the race")
    );
}

#[test]
fn a_section_that_does_not_return_is_a_hang() {
    let stuck = || {
        if std::fs::exists("forever").is_ok_and(|there| there) {
            harness::child::pause_forever();
        }
        std::fs::write("forever", "").is_ok()
    };
    let body = |runner: &Runner| runner.run(Race::between(stuck, || ()));
    let report = supervised(&plan(), body).expect("it is ended");
    assert_eq!((report.ended, report.rounds), (Ended::Hang, 1));
    assert!(report.is_fault());
    let detail = report.detail.expect("it says where the threads are");
    assert!(detail.starts_with("round 2 does not end; A is in its section (state S"), "{detail}");
    assert!(detail.contains("; B waits (state "), "{detail}");
}
