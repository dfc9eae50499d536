//! Whole sessions on a fake machine: every way to die, in milliseconds.

mod clones;
mod fake;
mod kunit;

use fake::{Boot, World, agent, console, finished, item, log, passed, passes, report};

use judge::kernel_report::Kind;
use judge::{Blame, Dialect, Outcome};
use lab::Event;
use machine::{BootTrouble, ConsoleSupport, Death, Event as MachineEvent};
use protocol::{Counts, End, FromAgent, Leftover, ReportKind, ToAgent};

const PASS: (Outcome, Option<Blame>) = (Outcome::Pass, None);

const WARNING: &str = "WARNING: CPU: 0 PID: 80 at fs/foo.c:12 foo_bar+0x1/0x20";

/// Plays `scenario` between two cases that pass; gives Outcome and blame of the three, and the boots.
fn sandwich(scenario: fake::Scenario) -> (fake::Story, Vec<(Outcome, Option<Blame>)>) {
    let world = World::of(&[("a/first", passes), ("a/bad", scenario), ("a/last", passes)]);
    let story = world.run();
    let outcomes = story.runs().iter().map(|run| (run.outcome, run.blame)).collect();
    (story, outcomes)
}

/// A case that ends like this, between two good ones that must pass whatever it does.
fn ends(scenario: fake::Scenario, outcome: Outcome, blame: Option<Blame>, boots: usize) -> fake::Story {
    let (story, outcomes) = sandwich(scenario);
    assert_eq!(outcomes, [PASS, (outcome, blame), PASS], "{:?}", story.run("a/bad"));
    assert_eq!(story.seen.boots, boots);
    assert_eq!(story.seen.powered_off, 1, "only the last machine is powered off, the others are dead");
    let code = if outcome == Outcome::Skip { 0 } else { outcome.exit_code() };
    assert_eq!(story.exit_code(), code);
    story
}

#[test]
fn all_well_needs_one_machine() {
    let (story, outcomes) = sandwich(passes);
    assert_eq!((outcomes, story.seen.boots, story.exit_code()), (vec![PASS; 3], 1, 0));
    assert!(story.run("a/bad").reason.is_empty());
    let numbers: Vec<u32> = story
        .seen
        .sent
        .iter()
        .filter_map(|message| if let ToAgent::Run(request) = message { Some(request.run) } else { None })
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_report_during_the_boot_fails_the_boot_and_the_cases_still_run() {
    let line = "[    0.5] WARNING: CPU: 0 PID: 1 at fs/foo.c:12 foo_init+0x1/0x20";
    let world = World::of(&[("a/first", passes)]).boots(vec![Boot::Says(line)]);
    let story = world.run();
    let outcomes: Vec<_> = story.runs().iter().map(|run| (run.case.clone(), run.outcome)).collect();
    assert_eq!(outcomes, [("boot".to_string(), Outcome::Fail), ("a/first".to_string(), Outcome::Pass)]);
    assert_eq!((story.run("boot").reason.as_str(), story.exit_code()), ("WARNING in foo_init", 1));
}

#[test]
fn a_failed_check_costs_no_machine() {
    let story = ends(
        |run| {
            let counts = Counts { pass: 1, fail: 1, ..Counts::default() };
            vec![report(run, ReportKind::Fail, "sum: is 2"), finished(run, End::Exited(1), counts)]
        },
        Outcome::Fail,
        None,
        1,
    );
    assert_eq!(story.run("a/bad").reason, "sum: is 2");
}

#[test]
fn a_case_that_says_nothing_is_broken() {
    ends(|run| vec![finished(run, End::Exited(0), Counts::default())], Outcome::Broken, Some(Blame::Case), 1);
}

#[test]
fn a_case_that_lacks_something_is_skipped() {
    ends(
        |run| {
            let counts = Counts { skip: 1, ..Counts::default() };
            vec![report(run, ReportKind::Skip, "no xfs"), finished(run, End::Exited(0), counts)]
        },
        Outcome::Skip,
        None,
        1,
    );
}

#[test]
fn a_case_over_its_limit_hangs_and_the_machine_goes_on() {
    let story = ends(
        |run| {
            let end = End::TimedOut { stacks: "80 (x) State: S".into(), killed: true };
            vec![finished(run, end, Counts::default())]
        },
        Outcome::Hang,
        None,
        1,
    );
    assert_eq!(story.run("a/bad").evidence, ["80 (x) State: S"]);
}

#[test]
fn what_cannot_be_removed_costs_the_machine() {
    let story = ends(
        |run| {
            let message = FromAgent::Finished {
                run,
                end: End::Exited(0),
                counts: Counts { pass: 1, ..Counts::default() },
                duration_us: 1,
                taint_before: 0,
                taint_after: 0,
                leftovers: vec![Leftover {
                    name: "process 80 (x)".into(),
                    stuck: Some("cannot be killed".into()),
                }],
            };
            vec![agent(message)]
        },
        Outcome::Pass,
        None,
        2,
    );
    assert_eq!(story.run("a/bad").notes, ["left behind: process 80 (x) cannot be killed"]);
}

#[test]
fn every_death_costs_one_case_and_the_rest_runs_on_a_fresh_machine() {
    let panic = ends(
        |_| {
            let title = "Kernel panic - not syncing: planted";
            vec![console(title), MachineEvent::Ended(Death::Panic("planted".into()))]
        },
        Outcome::Crash,
        None,
        2,
    );
    assert_eq!(panic.run("a/bad").reason, "Kernel panic: planted");
    assert_eq!(panic.outcomes().iter().map(|run| run.3).collect::<Vec<_>>(), [1, 1, 2]);
    ends(|_| vec![MachineEvent::Ended(Death::Reset)], Outcome::Crash, None, 2);
    ends(|_| vec![MachineEvent::Ended(Death::Restarted)], Outcome::Broken, Some(Blame::Case), 2);
    ends(|_| vec![MachineEvent::Ended(Death::PoweredOff)], Outcome::Broken, Some(Blame::Case), 2);
    ends(|_| vec![MachineEvent::Ended(Death::AgentDied("x".into()))], Outcome::Broken, Some(Blame::Kiln), 2);
    let killed: fake::Scenario =
        |_| vec![MachineEvent::Ended(Death::Broken("QEMU: ended by signal 9".into()))];
    let story = ends(killed, Outcome::Broken, Some(Blame::Machine), 2);
    assert_eq!(story.run("a/bad").reason, "QEMU: ended by signal 9");
}

#[test]
fn a_warning_fails_the_case_and_keeps_the_machine_an_oops_does_not() {
    let story = ends(
        |run| vec![log("------------[ cut here ]------------"), log(WARNING), passed(run)],
        Outcome::Fail,
        None,
        1,
    );
    assert_eq!(story.run("a/bad").reason, "WARNING in foo_bar");
    assert_eq!(story.run("a/bad").evidence[1], WARNING);
    let oops = ends(
        |run| {
            let first = "BUG: kernel NULL pointer dereference, address: 0000000000000008";
            vec![
                log(first),
                log("Oops: 0002 [#1] PREEMPT SMP"),
                log("RIP: 0010:foo_bar+0x1/0x20"),
                passed(run),
            ]
        },
        Outcome::Fail,
        None,
        2,
    );
    assert!(oops.run("a/bad").kernel_reports.iter().all(|report| report.kind != Kind::Warning));
}

/// The host was suspended, or its clock was set.
#[test]
fn a_cpu_stuck_for_longer_than_its_machine_has_run_accuses_the_host() {
    let stuck =
        |run| vec![log("watchdog: BUG: soft lockup - CPU#0 stuck for 3600s! [swapper/0:1]"), passed(run)];
    let story = ends(stuck, Outcome::Broken, Some(Blame::Host), 2);
    let reason = &story.run("a/bad").reason;
    assert!(reason.ends_with("s: the clock of the host has jumped"), "{reason}");
}

#[test]
fn silence_is_a_hang_and_registers_and_back_traces_show_where() {
    let mut world = World::of(&[("a/silent", |_| vec![console("going to sleep")])]).impatient();
    world.answers_pings = false;
    let story = world.run();
    assert_eq!(story.outcomes(), [("a/silent", Outcome::Hang, None, 1)]);
    let run = story.run("a/silent");
    let provoked = "Kernel panic - not syncing: NMI: Not continuing";
    assert_eq!(run.evidence, ["[    1.000000] going to sleep", "RIP=0000000000000fff", provoked]);
    assert_eq!(run.kernel_reports, [], "a panic that kiln provoked is no cause");
    assert!(story.seen.sent.iter().any(|message| matches!(message, ToAgent::Ping { .. })));
    assert_eq!((story.exit_code(), story.seen.examined, story.seen.powered_off), (1, 1, 0));
}

#[test]
fn a_machine_that_had_no_cpu_of_the_host_does_not_hang() {
    // Many times what counts as a hang, and as the time of a case.
    let story = World { starved: true, ..World::of(&[("a/slow", passes)]).impatient() }.run();
    assert_eq!(story.outcomes(), [("a/slow", Outcome::Pass, None, 1)]);
    assert!(!story.seen.sent.iter().any(|message| matches!(message, ToAgent::TimeUp { .. })));
}

#[test]
fn an_agent_that_answers_and_never_finishes_is_given_up() {
    let story = World::of(&[("a/endless", |_| vec![]), ("a/endless-too", |_| vec![])]).impatient().run();
    assert_eq!(
        story.outcomes(),
        [("a/endless", Outcome::Hang, None, 1), ("a/endless-too", Outcome::Hang, None, 2)]
    );
    assert_eq!(story.seen.boots, 2);
    let sent = story.seen.sent.iter().filter(|message| matches!(message, ToAgent::TimeUp { .. }));
    assert_eq!(sent.count(), 2, "each is told once");
}

#[test]
fn a_liar_changes_no_outcome() {
    let story = ends(
        |run| {
            let forged = "frame 7 has a wrong check sum".to_string();
            vec![
                MachineEvent::Stranger("12 bytes that are not a message".into()),
                MachineEvent::Stranger(forged),
                agent(FromAgent::Hello {
                    protocol: protocol::VERSION,
                    release: "9.9.9".into(),
                    arch: "x86_64".into(),
                    uptime_ms: 0,
                    memory_mib: 0,
                    cpus: 0,
                    window: true,
                }),
                report(run + 1, ReportKind::Pass, "for another"),
                passed(run + 1),
                passed(run - 1),
                agent(FromAgent::Output { run: run + 1, text: "for another".into() }),
                agent(FromAgent::Pong { nonce: u64::MAX }),
                agent(FromAgent::ShellEnded { end: End::Exited(0) }),
                agent(FromAgent::Output { run, text: "ok 1 all is well\n".into() }),
                finished(run, End::Exited(1), Counts { fail: 1, ..Counts::default() }),
            ]
        },
        Outcome::Fail,
        None,
        1,
    );
    let run = story.run("a/bad");
    assert_eq!(run.output, "ok 1 all is well\n");
    assert!(run.reports.is_empty());
    assert_eq!(run.notes.len(), 8, "{:?}", run.notes);
    assert!(run.notes.iter().any(|note| note == "unexpected from the agent: a second hello"));
}

#[test]
fn a_kernel_that_does_not_boot_is_one_run_and_nothing_else_is_run() {
    let support = ConsoleSupport::Unknown("CONFIG_X");
    for (trouble, outcome, blame) in [
        (BootTrouble::Panic("no init".into()), Outcome::Crash, None),
        (BootTrouble::Reset, Outcome::Crash, None),
        (BootTrouble::Hang { lines: 3, seconds: 9 }, Outcome::Hang, None),
        (BootTrouble::NoConsole { seconds: 9, support }, Outcome::Broken, Some(Blame::Machine)),
        (BootTrouble::NoControlPort { option: "CONFIG_X" }, Outcome::Broken, Some(Blame::Machine)),
        (BootTrouble::Fault(11), Outcome::Crash, None),
        (BootTrouble::Machine("no".into()), Outcome::Broken, Some(Blame::Machine)),
        (BootTrouble::Protocol(0), Outcome::Broken, Some(Blame::Kiln)),
    ] {
        let world = World::of(&[("a/first", passes), ("a/last", passes)]);
        let story = world.boots(vec![Boot::Fails(trouble)]).run();
        assert_eq!(story.outcomes(), [("boot", outcome, blame, 1)]);
        assert_eq!(story.run("boot").evidence, ["last words"]);
        assert_eq!((story.summary().not_run, story.exit_code()), (2, outcome.exit_code()));
    }
}

#[test]
fn a_later_boot_that_fails_once_is_tried_again() {
    let boots = vec![Boot::Up, Boot::Fails(BootTrouble::Machine("once".into()))];
    let world = World::of(&[("a/bad", |_| vec![MachineEvent::Ended(Death::Reset)]), ("a/last", passes)]);
    let story = world.boots(boots).run();
    assert_eq!(story.outcomes(), [("a/bad", Outcome::Crash, None, 1), ("a/last", Outcome::Pass, None, 3)]);
    assert!(
        story.events.iter().any(|event| matches!(event, Event::Note { text } if text.contains("boot 2")))
    );
}

#[test]
fn a_later_boot_that_fails_twice_ends_the_session() {
    let fails = || Boot::Fails(BootTrouble::Panic("again".into()));
    let world = World::of(&[("a/bad", |_| vec![MachineEvent::Ended(Death::Reset)]), ("a/last", passes)]);
    let story = world.boots(vec![Boot::Up, fails(), fails()]).run();
    assert_eq!(story.outcomes(), [("a/bad", Outcome::Crash, None, 1), ("boot", Outcome::Crash, None, 3)]);
    assert_eq!((story.summary().not_run, story.exit_code()), (1, 1));
}

#[test]
fn a_host_that_cannot_start_machines_loses_nothing_that_was_finished() {
    let world = World::of(&[("a/bad", |_| vec![MachineEvent::Ended(Death::Reset)]), ("a/last", passes)]);
    let story = world.boots(vec![Boot::Up, Boot::Impossible]).run();
    assert!(matches!(story.result, Err(machine::Error::NoQemu(_))));
    assert_eq!(story.outcomes(), [("a/bad", Outcome::Crash, None, 1)]);
}

#[test]
fn an_interrupted_session_ends_at_once_and_keeps_what_is_finished() {
    let mut world = World::of(&[("a/first", passes), ("a/last", |_| vec![])]);
    world.interrupt_at = Some("a/last");
    let story = world.run();
    assert_eq!(story.outcomes(), [("a/first", Outcome::Pass, None, 1)]);
    assert_eq!((story.summary().not_run, story.seen.powered_off), (1, 0));
    assert!(matches!(story.events.last(), Some(Event::Ended { interrupted: true, .. })));
}

#[test]
fn an_interrupt_during_the_boot_is_no_outcome_of_the_kernel() {
    let world = World::of(&[("a/first", passes)]);
    let story = world.boots(vec![Boot::Fails(BootTrouble::Interrupted)]).run();
    assert_eq!((story.outcomes(), story.summary().not_run), (vec![], 1));
}

#[test]
fn what_is_missing_is_skipped_without_a_machine() {
    let mut world = World::of(&[]);
    let skipped = lab::plan::Item { skip: Some("no module xfs".into()), ..item("fs/xfs") };
    world.items.push((skipped, passes));
    let story = world.run();
    assert_eq!(story.outcomes(), [("fs/xfs", Outcome::Skip, None, 0)]);
    assert_eq!((story.seen.boots, story.exit_code()), (0, 4));
}

#[test]
fn a_flood_is_bounded_and_hides_nothing() {
    let (story, outcomes) = sandwich(|run| {
        let lines = (0..5000).flat_map(|_| [log("noise"), console("noise")]);
        let output = "x".repeat(4096);
        let output = (0..100).map(|_| agent(FromAgent::Output { run, text: output.clone() }));
        let reports = (0..1000).map(|_| report(run, ReportKind::Pass, "again"));
        let strangers = (0..1000).map(|_| MachineEvent::Stranger("noise".into()));
        let hung = log("INFO: task cat:80 blocked for more than 120 seconds.");
        lines.chain(output).chain(reports).chain(strangers).chain([hung, passed(run)]).collect()
    });
    assert_eq!(outcomes, [PASS, (Outcome::Fail, None), PASS]);
    let run = story.run("a/bad");
    assert_eq!((run.output.len(), run.log.len()), (256 * 1024, 2000));
    assert_eq!((run.reports.len(), run.notes.len()), (256, 20));
    assert_eq!(run.kernel_reports[0].kind, Kind::HungTask);
}

#[test]
fn an_instrument_may_say_for_hours_what_it_knows_so_far() {
    let mut world = World::of(&[]);
    let instrument = lab::plan::Item { dialect: Dialect::Program, ..item("kiln:stress") };
    world.items.push((instrument, |run| {
        let so_far = format!("{{\"so-far\":\"{}\"}}\n", "x".repeat(4000));
        let output = |text: &str| agent(FromAgent::Output { run, text: text.to_string() });
        let lines = (0..100).map(|_| output(&so_far));
        lines.chain([output("{\"done\":"), output("1}\n"), passed(run)]).collect()
    }));
    let story = world.run();
    assert_eq!(story.run("kiln:stress").output, "{\"done\":1}\n");
    let told: Vec<&str> = story.events.iter().filter_map(output_of).collect();
    assert_eq!((told.len(), told[100]), (101, "{\"done\":1}"));
}

fn output_of(event: &Event) -> Option<&str> {
    match event {
        Event::Output { line, .. } => Some(line),
        _ => None,
    }
}

#[test]
fn the_evidence_of_a_death_after_a_flood_is_its_end() {
    let story = ends(
        |_| {
            let noise = (0..5000).map(|_| console("noise"));
            let end = [console("the very end"), MachineEvent::Ended(Death::Reset)];
            noise.chain(end).collect()
        },
        Outcome::Crash,
        None,
        2,
    );
    let evidence = &story.run("a/bad").evidence;
    assert_eq!((evidence.len(), evidence[29].as_str()), (30, "[    1.000000] the very end"));
}

#[test]
fn records_that_the_agent_could_not_read_are_looked_for_on_the_console() {
    let story = ends(
        |run| vec![agent(FromAgent::LogLost), log("noise"), console(WARNING), passed(run)],
        Outcome::Fail,
        None,
        1,
    );
    assert_eq!(story.run("a/bad").reason, "WARNING in foo_bar");
}
