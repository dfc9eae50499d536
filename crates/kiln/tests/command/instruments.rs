//! Instruments, on this host and in machines.

use protocol::ReportKind;
use protocol::latency::LatencyReport;
use protocol::race::{Ended, RaceReport};
use protocol::steal::StealReport;
use protocol::stress::{InstanceReport, StressReport, StressRequest};
use protocol::sweep::SweepReport;
use rustix::process::Signal;

use crate::support::{BUILD, KERNEL, Place, SOURCE};

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
#[ignore = "takes about a minute of CPU"]
fn the_parameter_that_makes_threads_late_is_found() {
    let place = Place::new();
    // Without high-resolution timers a thread wakes at a tick, each 4 ms. The deadlines have no phase in common with it.
    let ends = ["bisect", KERNEL, "--params", "good: highres=on nosmt", "bad: highres=off nowatchdog"];
    let question = ["--instrument", "latency --samples 200 --interval 3300us p50 > 1ms"];
    let done = place.kiln(ends.into_iter().chain(question)).run().expect(0);
    done.says("highres=off");
}

#[test]
fn a_load_shows_what_it_has_so_far_and_goes_on() {
    for place_of_load in [&[][..], &["--in", KERNEL]] {
        let place = Place::new();
        let call = [&["stress", "get=1", "-t", "1h", "--json"], place_of_load].concat();
        let running = place.kiln(call).start();
        running.program(if place_of_load.is_empty() { "stress" } else { "qemu" });
        running.signal(Signal::USR2);
        running.await_stderr("not over yet");
        running.signal(Signal::INT);
        let done = running.wait();
        assert!(done.stderr.contains("bogo ops"), "{}", done.stderr);
        if place_of_load.is_empty() {
            let report: StressReport = done.expect(0).stated();
            assert!(report.interrupted && report.instances[0].operations() > 0, "{report:?}");
        }
    }
}

#[test]
fn a_job_is_planned_saved_and_run() {
    let place = Place::new();
    let job = place.path().join("saved.job");
    let job = job.to_str().expect("a path");
    let said = ["stress", "pipe=1,ops=20", "get=2,ops=10", "--verify", "--seed", "7", "-t", "1m"];
    let saved = place.kiln(said.into_iter().chain(["--save-job", job])).run().expect(0);
    assert_eq!(saved.stdout, "");
    let plan = |call: &[&str]| place.kiln([&["stress", "--dry-run"], call].concat()).run().expect(0).stdout;
    let shown = plan(&["--job", job]);
    let file = std::fs::read_to_string(job).expect("saved");
    assert_eq!(shown, format!("# 2 stressors at the same time, 1 min 0 s in all\n{file}"));
    let request: StressRequest = serde_json::from_str(&plan(&["--job", job, "--json"])).expect("a request");
    assert_eq!((request.seed, request.instances[1].workers), (7, 2));
    let report: StressReport = place.kiln(["stress", "--job", job, "--json"]).run().expect(0).stated();
    assert_eq!(report.instances.iter().map(InstanceReport::operations).collect::<Vec<_>>(), [20, 10]);
}

/// All of each example, for a moment each; what this host lacks is a skip.
#[test]
#[ignore = "takes minutes of CPU"]
fn the_examples_of_all_classes_run() {
    for class in protocol::stress::Class::ALL {
        let call = ["stress", "--job", class.name(), "--json", "-t", "1s"];
        let report: StressReport = Place::new().kiln(call).run().expect(0).stated();
        assert_eq!(report.leftovers, [], "{}", class.name());
        let worked = report.instances.iter().filter(|it| it.operations() > 0).count();
        assert!(worked > report.instances.len() / 2, "{}: {report:#?}", class.name());
    }
}

#[test]
#[ignore = "takes minutes of CPU"]
fn all_stressors_at_their_largest_leave_nothing_behind_in_a_machine() {
    let place = Place::new();
    let call = ["stress", "--seq", "1", "-t", "1s", "--maximize", "--json", "--in", KERNEL];
    let report: StressReport = place.kiln(call).run_within(BUILD).stated();
    assert_eq!(report.leftovers, []);
    assert!(report.instances.len() >= 180, "{}", report.instances.len());
    let failed: Vec<_> = report
        .instances
        .iter()
        .map(InstanceReport::outcome)
        .filter(|it| it.kind == ReportKind::Fail)
        .collect();
    assert_eq!(failed, []);
    let worked = report.instances.iter().filter(|it| it.operations() > 0).count();
    assert!(worked > report.instances.len() / 2, "{worked}");
}

#[test]
fn a_kernel_without_kcov_says_so_when_coverage_is_asked_for() {
    let place = Place::new();
    let done = place.kiln(["stress", "get=1", "-t", "1s", "--coverage", "--in", KERNEL]).run().expect(4);
    assert!(done.stderr.contains("kiln build TREE --config boot,cov"), "{}", done.stderr);
    place.kiln(["stress", "get=1", "--coverage"]).run().expect(2);
}

#[test]
#[ignore = "builds a kernel"]
fn coverage_is_functions_and_lines_and_their_union() {
    let place = Place::new();
    let kernel = place.kiln(["build", SOURCE, "--config", "tiny,cov"]).builds();
    let call = ["stress", "pipe=1,ops=50", "fork=1,ops=5", "--coverage", "--json", "--in", &kernel];
    let report: StressReport = place.kiln(call).run_within(BUILD).expect(0).stated();
    let reached: Vec<_> =
        report.instances.iter().map(|it| it.coverage.as_ref().and_then(|it| it.reached)).collect();
    let [Some(pipe), Some(fork)] = reached[..] else { panic!("{reached:?}") };
    assert!(fork.functions > 100 && fork.lines > pipe.functions, "{pipe:?} {fork:?}");
    assert!(
        report.sources["fs/pipe.c"].functions.contains("pipe_write"),
        "{:?}",
        report.sources["fs/pipe.c"]
    );
    assert!(report.sources["kernel/fork.c"].functions.contains("copy_process"));
    let (functions, _) = protocol::stress::coverage::count(&report.sources);
    assert!(functions >= fork.functions && functions <= pipe.functions + fork.functions);
}

#[test]
#[ignore = "needs the package stress-ng"]
fn the_examples_of_stress_ng_are_jobs_too() {
    let examples = std::fs::read_dir("/usr/share/stress-ng/example-jobs").expect("stress-ng is installed");
    let jobs: Vec<_> = examples.map(|entry| entry.expect("readable").path()).collect();
    assert!(jobs.len() >= 10, "{jobs:?}");
    for job in jobs {
        let job = job.to_str().expect("a path");
        let place = Place::new();
        place
            .kiln(["stress", "--job", job, "--skip-unknown", "--dry-run"])
            .run()
            .expect(0)
            .says("\ntimeout ");
    }
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

#[test]
fn what_is_stolen_on_this_host_is_measured_for_everybody() {
    let place = Place::new();
    let short = ["steal", "--duration", "100ms", "--no-trace"];
    let report: StealReport = place.kiln(short.into_iter().chain(["--json"])).run().expect(0).stated();
    assert_eq!(report.validate(), Ok(()));
    assert_eq!(report.sides[0].passes.len(), 1);
    place.kiln(short).run().expect(0).says("\nwork not done ").says("\nThe victim got ");
    let done =
        place.kiln(short.into_iter().chain(["--", "sh", "-c", "echo printed; exit 7"])).run().expect(0);
    assert!(done.stderr.contains("printed"), "{}", done.stderr);
    done.says("without tracing, exit status 7\n");
    let done = place.kiln(["steal", "--cpu", "1023"]).run().expect(4);
    assert!(done.stderr.starts_with("kiln: steal: skip: CPU 1023 is not there"), "{}", done.stderr);
}

#[test]
fn packets_in_a_machine_are_seen_by_a_trace() {
    let place = Place::new();
    let arguments = ["steal", "--load", "net:udp,pps=2000", "--duration", "1s", "--json", "--in", KERNEL];
    let done = place.kiln(arguments).run().expect(0);
    let report: StealReport = done.stated();
    assert_eq!(report.validate(), Ok(()));
    assert_eq!((report.cpu, report.conditions.sender), (1, Some(0)));
    let side = &report.sides[0];
    assert!(side.passes[0].load_count.is_some_and(|packets| packets > 0), "{side:?}");
    let trace = side.seen().expect("root can trace");
    let received = trace.softirqs.iter().find(|softirq| softirq.name == "NET_RX");
    assert!(received.is_some_and(|softirq| softirq.charged_ns > 0) && trace.polls.packets > 0, "{trace:?}");
    assert_eq!(done.only_run().case, "kiln:steal");
}

#[test]
fn more_than_the_limit_is_the_fault_of_the_kernel() {
    let place = Place::new();
    let load = ["--load", "timer:hz=1000,busy=200us", "--duration", "1s", "--no-trace"];
    let call = |limit| ["steal", "--in", KERNEL, "--max-steal", limit].into_iter().chain(load);
    let done = place.kiln(call("2%")).run().expect(1);
    assert!(done.stderr.contains("was stolen, more than 2.0 %"), "{}", done.stderr);
    place.kiln(call("100%")).run().expect(0);
}
