//! Instruments, on this host and in machines.

use protocol::latency::LatencyReport;
use protocol::race::{Ended, RaceReport};
use protocol::sweep::SweepReport;
use rustix::process::Signal;

use crate::support::{KERNEL, Place};

/// A measurement that every user may make, and that ends by itself.
const SHORT: [&str; 5] = ["--policy", "other", "--samples", "200", "--no-lock"];

#[test]
fn a_measurement_on_this_host_counts_each_sample() {
    let place = Place::new();
    let done =
        place.kiln(["latency", "--interval", "200us", "--json"].into_iter().chain(SHORT)).run().expect(0);
    let report: LatencyReport = done.stated();
    assert_eq!(report.validate(), Ok(()));
    assert_eq!((report.threads.len(), report.latencies().count()), (1, 200));
    let shown = place.kiln(["latency"].into_iter().chain(SHORT)).run().expect(0);
    shown.says("\nsamples             200 in ").says("\nmaximum ");
    assert!(!place.path().join("state").exists(), "what runs on this host is no session");
}

#[test]
fn an_interrupted_measurement_reports_what_it_has() {
    let place = Place::new();
    let running = place.kiln(["latency", "--policy", "other", "--duration", "1h", "--json"]).start();
    running.program("latency");
    running.signal(Signal::INT);
    let report: LatencyReport = running.wait().expect(0).stated();
    assert_eq!(report.validate(), Ok(()));
}

#[test]
fn an_instrument_does_not_outlive_a_kiln_that_is_killed() {
    let place = Place::new();
    let running = place.kiln(["latency", "--policy", "other", "--duration", "1h"]).start();
    running.program("latency");
    running.signal(Signal::KILL);
    // Waiting ends when no process of the call is left.
    assert_eq!(running.wait().code, None);
}

#[test]
fn a_measurement_in_a_machine_is_a_session() {
    let place = Place::new();
    let arguments = ["latency", "--samples", "100", "--json", "--in", KERNEL];
    let done = place.kiln(arguments).run().expect(0);
    let report: LatencyReport = done.stated();
    assert_eq!(report.validate(), Ok(()));
    assert_eq!(report.latencies().count(), 100);
    assert_eq!(report.conditions.hypervisor.as_deref(), Some("TCGTCGTCGTCG"));
    let run = done.only_run();
    assert_eq!((run.case.as_str(), run.outcome), ("kiln:latency", judge::Outcome::Pass));
}

#[test]
fn instruments_are_programs_wherever_kiln_takes_one() {
    let place = Place::new();
    let request = r#"{"policy":"other","priority":0,"samples":50}"#;
    let done = place.kiln(["run", KERNEL, "--exec", "kiln:latency", "--", request]).run().expect(0);
    assert!(done.only_run().output.contains(r#"{"done":{"#), "{}", done.stdout);
    let script = place.script("load", &format!("kiln:latency '{request}' | grep -q '^.\"done\"'"));
    place.exec(&script, &["--need", "program=kiln:latency"]).run().expect(0);
}

#[test]
fn what_an_instrument_cannot_do_says_so() {
    let place = Place::new();
    // A request that is none is nobody's kernel bug.
    let done = place.kiln(["run", KERNEL, "--exec", "kiln:latency", "--", "{"]).run().expect(3);
    assert_eq!(done.only_run().outcome, judge::Outcome::Broken);
    let done = place.kiln(["latency", "--cpu", "1023", "--policy", "other"]).run().expect(4);
    assert!(
        done.stderr.starts_with("kiln: latency: skip: ") && done.stderr.contains("1023"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_condition_puts_the_kernel_at_fault() {
    let place = Place::new();
    let arguments = |condition| ["latency", "--json", condition].into_iter().chain(SHORT);
    let done = place.kiln(arguments("max > 0")).run().expect(1);
    let report: LatencyReport = done.stated();
    assert!(report.exceeded().is_some_and(|latency| latency > 0.0));
    place.kiln(arguments("p99.9 > 80000s")).run().expect(0);
    let shown = place.kiln(["latency", "min", ">", "0"].into_iter().chain(SHORT)).run().expect(1);
    shown.says("\nThe kernel is at fault: min is ");
    let wrong = place.kiln(["latency", "p99"]).run().expect(2);
    assert_eq!(wrong.stderr, "kiln: \"p99\" is no condition: write 'p99.9 > 200us'\n");
}

#[test]
#[ignore = "measures time, so that nothing may run beside it"]
fn the_parameter_that_makes_threads_late_is_found() {
    let place = Place::new();
    // Without high-resolution timers a thread wakes at a tick, each 4 ms. The deadlines have no phase in common with it.
    let ends = ["bisect", KERNEL, "--params", "good: highres=on nosmt", "bad: highres=off nowatchdog"];
    let question = ["--instrument", "latency --samples 200 --interval 3300us p50 > 1ms"];
    let done = place.kiln(ends.into_iter().chain(question)).run().expect(0);
    done.says("highres=off");
}

#[test]
fn a_kernel_survives_a_race_that_it_has_the_fix_for() {
    let place = Place::new();
    let arguments = ["race", "time/timerfd-settime", "--rounds", "500", "--json", "--in", KERNEL];
    let done = place.kiln(arguments).run().expect(0);
    let report: RaceReport = done.stated();
    assert_eq!((report.ended, report.rounds, report.hits), (Ended::Rounds, 500, 0));
    assert_eq!(done.only_run().outcome, judge::Outcome::Pass);
}

#[test]
fn all_races_are_cases_of_a_suite() {
    let place = Place::new();
    let listed = place.kiln(["race", "--json"]).run().expect(0).stdout;
    let cases = place.kiln(["cases", "--suite", "races", "--json"]).run().expect(0).stdout;
    assert_eq!(listed, cases);
    assert!(listed.lines().count() >= 10, "{listed}");
    place.kiln(["run", KERNEL, "--suite", "races", "--case", "time/*"]).run().expect(0);
}

#[test]
fn a_load_beside_a_measurement_is_part_of_its_report_here_and_in_a_machine() {
    let place = Place::new();
    let load = ["latency", "--json", "--with", "stress:pipe=1,bytes=8", "--with", "stress:taskset=0"];
    for machine in [&[][..], &["--in", KERNEL]] {
        let arguments = load.into_iter().chain(SHORT).chain(machine.iter().copied());
        let report: LatencyReport = place.kiln(arguments).run().expect(0).stated();
        assert_eq!((report.validate(), report.latencies().count()), (Ok(()), 200));
        let load = report.load.expect("there is one");
        assert!(load.instances[0].operations() > 0 && load.leftovers.is_empty(), "{load:?}");
    }
    let shown = place.kiln(["latency", "--with", "stress:pipe=1"].into_iter().chain(SHORT)).run().expect(0);
    shown.says("\nload\nstressor ").says("\n1 stressor: 1 pass\n");
    let wrong = place.kiln(["latency", "--with", "stress:pipe=1,ops=5"]).run().expect(2);
    assert!(wrong.stderr.contains("pipe has a limit of operations"), "{}", wrong.stderr);
}

#[test]
fn a_load_does_not_outlive_a_kiln_that_is_killed() {
    let place = Place::new();
    let arguments = ["latency", "--policy", "other", "--duration", "1h", "--with", "stress:pipe=2"];
    let running = place.kiln(arguments).start();
    running.program("stress");
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
}

#[test]
fn a_sweep_measures_each_combination_here_and_in_a_machine() {
    let place = Place::new();
    let sweep = "governor=all,interval=1ms,500us,policy=other,batch";
    let arguments = ["latency", "--sweep", sweep, "--repeat", "2", "--json"].into_iter().chain(SHORT);
    for machine in [&[][..], &["--in", KERNEL]] {
        let report: SweepReport =
            place.kiln(arguments.clone().chain(machine.iter().copied())).run().expect(0).stated();
        assert_eq!(report.validate(), Ok(()));
        let governors = if report.no_governors.is_some() { 1 } else { report.rows.len() / 4 };
        assert_eq!((report.rows.len(), report.finished), (4 * governors, 8 * governors as u64));
        for row in &report.rows {
            let counts: Vec<u64> = row.runs.iter().map(|run| run.latencies.count()).collect();
            assert_eq!(counts, [200, 200], "{row:?}");
        }
    }
    let policies = ["latency", "--sweep", "policy=other,batch", "--repeat", "1"].into_iter().chain(SHORT);
    let shown = place.kiln(policies).run().expect(0);
    shown.says("GOVERNOR  INTERVAL  POLICY ").says("SCHED_BATCH").says("\nfigures ").says("\npower ");
}

#[test]
fn a_governor_that_is_not_there_is_a_skip() {
    let place = Place::new();
    let arguments = ["latency", "--sweep", "governor=performance", "--in", KERNEL];
    let done = place.kiln(arguments.into_iter().chain(SHORT)).run().expect(4);
    let why = "kiln: sweep: skip: governors: there are none: no driver of cpufreq";
    assert!(done.stderr.contains(why), "{}", done.stderr);
}
