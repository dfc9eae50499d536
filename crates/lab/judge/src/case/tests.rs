use super::*;

fn warning() -> KernelReport {
    KernelReport { kind: Kind::Warning, title: "WARNING in foo".into(), lines: vec!["WARNING: foo".into()] }
}

fn counts(pass: u32, fail: u32, skip: u32, broken: u32) -> Counts {
    Counts { pass, fail, skip, broken }
}

fn finished(end: End, counts: Counts) -> Ending {
    Ending::Finished { end, counts, new_taint: 0 }
}

fn seen<'a>(dialect: Dialect, ending: &'a Ending) -> Seen<'a> {
    Seen {
        dialect,
        limit: Duration::from_secs(60),
        starved: false,
        output: "",
        expects: &[],
        ending,
        reports: &[],
        log: &[],
        lacking: &[],
        kernel_reports: &[],
        console: &[],
    }
}

/// Outcome, blame and reason of a process that reported nothing, wrote `output` and exited with `code`.
fn exits(dialect: Dialect, code: i32, output: &str) -> (Outcome, Option<Blame>, String) {
    let ending = finished(End::Exited(code), Counts::default());
    let judgement = judge(&Seen { output, ..seen(dialect, &ending) });
    (judgement.outcome, judgement.blame, judgement.reason)
}

fn conclude(
    dialect: Dialect,
    ending: &Ending,
    reports: &[Report],
    kernel_reports: &[KernelReport],
) -> (Outcome, Option<Blame>) {
    let judgement = judge(&Seen { reports, kernel_reports, ..seen(dialect, ending) });
    (judgement.outcome, judgement.blame)
}

#[test]
fn a_case_that_checked_something_and_ended_well_passes() {
    let ending = finished(End::Exited(0), counts(3, 0, 0, 0));
    assert_eq!(conclude(Dialect::Kiln, &ending, &[], &[]), (Outcome::Pass, None));
}

#[test]
fn a_case_that_reports_nothing_is_broken_however_it_exits() {
    let ending = finished(End::Exited(0), counts(0, 0, 0, 0));
    assert_eq!(conclude(Dialect::Kiln, &ending, &[], &[]), (Outcome::Broken, Some(Blame::Case)));
}

#[test]
fn a_warning_in_the_log_fails_a_case_that_passed() {
    let ending = finished(End::Exited(0), counts(3, 0, 0, 0));
    assert_eq!(conclude(Dialect::Kiln, &ending, &[], &[warning()]), (Outcome::Fail, None));
}

#[test]
fn an_expected_warning_does_not() {
    let ending = Ending::Finished { end: End::Exited(0), counts: counts(1, 0, 0, 0), new_taint: 1 << 9 };
    let reports = [warning()];
    let seen =
        Seen { expects: &["WARNING in foo"], kernel_reports: &reports, ..seen(Dialect::Kiln, &ending) };
    assert_eq!(judge(&seen).outcome, Outcome::Pass);
}

#[test]
fn a_command_that_a_script_misses_is_broken_by_the_case() {
    let output = "/usr/local/bin/it.sh: 3: frob: not found\n";
    let broken =
        (Outcome::Broken, Some(Blame::Case), "exit status 127: its shell cannot run frob".to_string());
    assert_eq!(exits(Dialect::Program, 127, output), broken);
    assert_eq!(exits(Dialect::Program, 127, "").0, Outcome::Fail, "its own exit status");
    assert_eq!(exits(Dialect::Program, 1, output).0, Outcome::Fail);
    assert_eq!(exits(Dialect::Kselftest, 127, output).0, Outcome::Fail, "as the kernel's own runner has it");
    assert_eq!(exits(Dialect::Program, 2, "ok 1 a # XFAIL known").0, Outcome::Pass, "else as for kselftest");
}

#[test]
fn taint_alone_fails_a_case() {
    let ending = Ending::Finished { end: End::Exited(0), counts: counts(1, 0, 0, 0), new_taint: 1 << 5 };
    let seen = seen(Dialect::Kiln, &ending);
    assert_eq!(judge(&seen), Judgement::new(Outcome::Fail, "the kernel became tainted: B (bad page)"));
}

#[test]
fn a_failed_check_comes_before_a_failed_clean_up() {
    let ending = finished(End::Exited(1), counts(1, 1, 0, 1));
    let reports = [
        Report { kind: ReportKind::Fail, text: "sum: is 2, expected 3".into() },
        Report { kind: ReportKind::Broken, text: "clean-up: EBUSY".into() },
    ];
    assert_eq!(conclude(Dialect::Kiln, &ending, &reports, &[]), (Outcome::Fail, None));
}

#[test]
fn a_set_up_that_fails_says_nothing_about_the_kernel() {
    let ending = finished(End::Exited(1), counts(0, 0, 0, 1));
    assert_eq!(conclude(Dialect::Kiln, &ending, &[], &[]), (Outcome::Broken, Some(Blame::Case)));
}

#[test]
fn a_program_speaks_by_its_exit_status() {
    for (code, expected) in [(0, Outcome::Pass), (1, Outcome::Fail), (4, Outcome::Skip), (127, Outcome::Fail)]
    {
        let ending = finished(End::Exited(code), counts(0, 0, 0, 0));
        assert_eq!(conclude(Dialect::Program, &ending, &[], &[]).0, expected, "{code}");
    }
}

#[test]
fn a_program_that_reported_a_failure_failed_whatever_its_exit_status() {
    let ending = finished(End::Exited(0), counts(5, 1, 0, 0));
    assert_eq!(conclude(Dialect::Program, &ending, &[], &[]).0, Outcome::Fail);
}

#[test]
fn each_death_has_one_outcome() {
    for (death, expected) in [
        (Death::Panic("x".into()), (Outcome::Crash, None)),
        (Death::Reset, (Outcome::Crash, None)),
        (Death::Fault(11), (Outcome::Crash, None)),
        (Death::Restarted, (Outcome::Broken, Some(Blame::Case))),
        (Death::PoweredOff, (Outcome::Broken, Some(Blame::Case))),
        (Death::AgentDied("x".into()), (Outcome::Broken, Some(Blame::Kiln))),
        (Death::Broken("killed".into()), (Outcome::Broken, Some(Blame::Machine))),
    ] {
        assert_eq!(conclude(Dialect::Kiln, &Ending::Died(death.clone()), &[], &[]), expected, "{death:?}");
    }
}

#[test]
fn an_oops_that_kills_process_1_is_the_kernels() {
    let oops = KernelReport { kind: Kind::Oops, title: "Oops in foo".into(), lines: Vec::new() };
    let ending = Ending::Died(Death::AgentDied("exitcode=0x00000009".into()));
    assert_eq!(conclude(Dialect::Kiln, &ending, &[], &[oops]), (Outcome::Crash, None));
}

#[test]
fn silence_and_an_endless_case_are_hangs() {
    let silent = Ending::Silent { seconds: 30, facts: Facts::default() };
    assert_eq!(conclude(Dialect::Kiln, &silent, &[], &[]).0, Outcome::Hang);
    let overdue = Ending::Overdue { facts: Facts::default() };
    assert_eq!(conclude(Dialect::Kiln, &overdue, &[], &[]).0, Outcome::Hang);
    let endless = finished(End::TimedOut { stacks: String::new(), killed: true }, counts(1, 0, 0, 0));
    assert_eq!(conclude(Dialect::Kiln, &endless, &[], &[]).0, Outcome::Hang);
}

#[test]
fn what_is_missing_makes_a_skip() {
    let ending = finished(End::Exited(0), counts(0, 0, 1, 0));
    let reports = [Report { kind: ReportKind::Skip, text: "no xfs".into() }];
    assert_eq!(conclude(Dialect::Kiln, &ending, &reports, &[]), (Outcome::Skip, None));
}

#[test]
fn a_kselftest_speaks_in_five_words() {
    let kselftest = |code, output| exits(Dialect::Kselftest, code, output);
    for (code, output, outcome, reason) in [
        (0, "not ok 1 whatever the exit status is zero", Outcome::Pass, ""),
        (1, "", Outcome::Fail, "exit status 1"),
        (1, "ok 1 a\nnot ok 2 b\n", Outcome::Fail, "exit status 1: not ok 2 b"),
        (2, "ok 1 # XFAIL known\n", Outcome::Pass, "expected failure: known"),
        (2, "# Totals: pass:0 fail:0 xfail:1 xpass:0 skip:0 error:0\n", Outcome::Pass, "expected failure"),
        (3, "", Outcome::Fail, "it passed where a failure was expected (exit status 3)"),
        (4, "1..0 # SKIP no device\n", Outcome::Skip, "no device"),
        (4, "# needs root\n\n", Outcome::Skip, "needs root"),
        (4, "", Outcome::Skip, "exit status 4"),
        (124, "", Outcome::Hang, "it ended by its own time limit (exit status 124)"),
        (127, "", Outcome::Fail, "exit status 127"),
    ] {
        assert_eq!(kselftest(code, output), (outcome, None, reason.to_string()), "{code} {output}");
    }
}

#[test]
fn a_shell_that_cannot_read_its_script_is_no_expected_failure() {
    let (outcome, _, reason) = exits(Dialect::Kselftest, 2, "run.sh: line 3: syntax error\n");
    assert_eq!(outcome, Outcome::Fail);
    assert!(reason.contains("without an expected failure"), "{reason}");
}

#[test]
fn an_expected_failure_says_so() {
    let ending = finished(End::Exited(2), Counts::default());
    let output = "ok 1 x # XFAIL\n";
    let judgement = judge(&Seen { output, ..seen(Dialect::Kselftest, &ending) });
    assert!(judgement.expected_failure && judgement.reason == "expected failure: x", "{judgement:?}");
}

#[test]
fn a_kselftest_may_also_report_to_kiln() {
    let ending = finished(End::Exited(4), counts(0, 0, 1, 0));
    let reports = [Report { kind: ReportKind::Skip, text: "no tun".into() }];
    let judgement = judge(&Seen { reports: &reports, ..seen(Dialect::Kselftest, &ending) });
    assert_eq!((judgement.outcome, judgement.reason.as_str()), (Outcome::Skip, "no tun"));
}

#[test]
fn the_bits_of_ltp_keep_their_meaning() {
    let (fail, broken, skip) = ("x.c:1: TFAIL: f\n", "x.c:2: TBROK: b\n", "x.c:3: TCONF: c\n");
    let (warning, pass) = ("x.c:4: TWARN: w\n", "x.c:5: TPASS: p\n");
    let case = Some(Blame::Case);
    for (code, output, expected) in [
        (0, pass.to_string(), (Outcome::Pass, None, "")),
        (0, String::new(), (Outcome::Pass, None, "")),
        (1, fail.to_string(), (Outcome::Fail, None, "f")),
        (1, String::new(), (Outcome::Fail, None, "exit status 1")),
        (3, [broken, fail].concat(), (Outcome::Fail, None, "f")),
        (2, [pass, broken].concat(), (Outcome::Broken, case, "b")),
        (4, [pass, warning].concat(), (Outcome::Broken, case, "w")),
        (5, [warning, fail].concat(), (Outcome::Fail, None, "f")),
        (32, skip.to_string(), (Outcome::Skip, None, "c")),
        (32, [pass, skip].concat(), (Outcome::Pass, None, "")),
        (0, fail.to_string(), (Outcome::Fail, None, "f")),
        (255, String::new(), (Outcome::Fail, None, "exit status 255")),
        (139, String::new(), (Outcome::Fail, None, "the test was killed by signal 11")),
        (
            127,
            "sh: x: not found\n".to_string(),
            (Outcome::Broken, case, "its command was not found (exit status 127)"),
        ),
        (
            2,
            format!("Test timeouted, sending SIGKILL!\n{broken}"),
            (Outcome::Hang, None, "it ended by its own time limit"),
        ),
    ] {
        let (outcome, blame, reason) = exits(Dialect::Ltp, code, &output);
        assert_eq!((outcome, blame, reason.as_str()), expected, "{code} {output}");
    }
}

#[test]
fn a_limit_of_its_own_accuses_nobody_when_the_host_had_no_time_for_it() {
    for (dialect, code, output) in
        [(Dialect::Ltp, 2, "Test timeouted, sending SIGKILL!\n"), (Dialect::Kselftest, 124, "")]
    {
        let ending = finished(End::Exited(code), Counts::default());
        let judgement = judge(&Seen { output, starved: true, ..seen(dialect, &ending) });
        assert_eq!((judgement.outcome, judgement.blame), (Outcome::Broken, Some(Blame::Host)));
        assert_eq!(exits(dialect, code, output).0, Outcome::Hang);
    }
}

#[test]
fn ltp_counts_in_its_summary() {
    let ending = finished(End::Exited(1), Counts::default());
    let output = "x.c:1: TFAIL: f\nSummary:\npassed   5\nfailed   2\nbroken   0\nskipped  1\nwarnings 1\n";
    let judgement = judge(&Seen { output, ..seen(Dialect::Ltp, &ending) });
    assert_eq!(judgement.counts, Some(counts(5, 2, 1, 1)));
}

#[test]
fn kilns_limit_accuses_nobody_when_ltp_would_have_waited_longer() {
    let ending = finished(End::TimedOut { stacks: String::new(), killed: true }, Counts::default());
    let after = |limit: &str| {
        let output = format!("tst_test.c:1: TINFO: Timeout per run is {limit}\n");
        judge(&Seen { output: &output, ..seen(Dialect::Ltp, &ending) }).outcome
    };
    assert_eq!(after("0h 10m 00s"), Outcome::Broken);
    assert_eq!(after("0h 00m 30s"), Outcome::Hang);
}

/// Outcome, whom it accuses and reason of a process that ended so, after which the kernel logged `log`.
fn ends(dialect: Dialect, end: End, log: &[&str]) -> (Outcome, Option<Accused>, String) {
    let ending = finished(end, Counts::default());
    let judgement = judge(&Seen { log, ..seen(dialect, &ending) });
    (judgement.outcome, judgement.accused, judgement.reason)
}

#[test]
fn a_failure_of_a_program_accuses_no_kernel_that_reports_nothing() {
    let accused = |dialect, end| ends(dialect, end, &[]).1;
    for end in [End::Exited(1), End::Exited(3), End::Signalled(11)] {
        assert_eq!(accused(Dialect::Program, end.clone()), Some(Accused::Program), "{end:?}");
        assert_eq!(accused(Dialect::Kselftest, end.clone()), Some(Accused::Kernel), "{end:?}");
    }
    assert_eq!(accused(Dialect::Program, End::Exited(0)), None);
    let ending = Ending::Finished { end: End::Exited(1), counts: counts(0, 1, 0, 0), new_taint: 0 };
    assert_eq!(judge(&seen(Dialect::Program, &ending)).accused, Some(Accused::Program));
    let reports = [warning()];
    let warned = judge(&Seen { kernel_reports: &reports, ..seen(Dialect::Program, &ending) });
    assert_eq!(warned.accused, Some(Accused::Kernel));
    let tainted = Ending::Finished { end: End::Exited(0), counts: Counts::default(), new_taint: 1 << 9 };
    assert_eq!(judge(&seen(Dialect::Program, &tainted)).accused, Some(Accused::Kernel));
}

#[test]
fn a_program_without_end_is_told_from_a_kernel_without_answer() {
    let timed_out = |killed| End::TimedOut { stacks: String::new(), killed };
    let (outcome, accused, reason) = ends(Dialect::Program, timed_out(true), &[]);
    assert_eq!((outcome, accused), (Outcome::Hang, Some(Accused::Program)));
    assert_eq!(reason, "the program did not end within 60 s; the kernel answers");
    let (_, accused, reason) = ends(Dialect::Program, timed_out(false), &[]);
    assert_eq!(accused, Some(Accused::Kernel));
    assert_eq!(reason, "the program did not end within 60 s and cannot be killed");
    let (_, accused, reason) = ends(Dialect::Kiln, timed_out(true), &[]);
    assert_eq!(accused, Some(Accused::Program));
    assert_eq!(reason, "the case did not end within 60 s; the kernel answers");
    for dialect in [Dialect::Kselftest, Dialect::Ltp] {
        assert_eq!(ends(dialect, timed_out(true), &[]).1, Some(Accused::Program));
        assert_eq!(ends(dialect, timed_out(false), &[]).1, Some(Accused::Kernel));
    }
    // It ended by its own limit.
    assert_eq!(ends(Dialect::Kselftest, End::Exited(124), &[]).1, Some(Accused::Program));
}

#[test]
fn a_program_that_the_oom_killer_ended_accuses_nobody() {
    let log = [
        "Out of memory: Killed process 77 (child) total-vm:138748kB",
        "Out of memory: Killed process 78 (it) total-vm:138748kB",
    ];
    let reason =
        "the machine ran out of memory (Out of memory: Killed process 78 (it)): --memory gives it more";
    for (dialect, end) in [
        (Dialect::Program, End::Signalled(9)),
        (Dialect::Program, End::Exited(137)),
        (Dialect::Ltp, End::Exited(137)),
        (Dialect::Kiln, End::Signalled(9)),
    ] {
        assert_eq!(ends(dialect, end, &log), (Outcome::Broken, None, reason.to_string()));
    }
    assert_eq!(ends(Dialect::Program, End::Signalled(9), &[]).0, Outcome::Fail, "killed by somebody else");
    assert_eq!(ends(Dialect::Program, End::Signalled(11), &log).0, Outcome::Fail, "its own death");
    assert_eq!(ends(Dialect::Program, End::Exited(0), &log).0, Outcome::Pass, "it was another's");
    let panic = Ending::Died(Death::Panic("System is deadlocked on memory".into()));
    assert_eq!(conclude(Dialect::Program, &panic, &[], &[]), (Outcome::Broken, Some(Blame::Case)));
}

#[test]
fn a_failure_without_an_option_that_the_group_asks_for_accuses_nobody() {
    let lacking = ["CHECKPOINT_RESTORE".to_string()];
    let judged = |end, output| {
        let ending = finished(end, Counts::default());
        judge(&Seen { output, lacking: &lacking, ..seen(Dialect::Kselftest, &ending) })
    };
    let output = "# open msg_next_id: No such file or directory\nnot ok 1 msgque\n";
    let failed = judged(End::Exited(1), output);
    assert_eq!((failed.outcome, failed.accused), (Outcome::Fail, Some(Accused::Program)));
    let without = "(the kernel was built without CONFIG_CHECKPOINT_RESTORE, which the test asks for)";
    assert_eq!(failed.reason, format!("exit status 1: not ok 1 msgque {without}"));
    assert_eq!(failed.evidence, ["not ok 1 msgque"]);
    let killed = judged(End::Signalled(11), "");
    assert_eq!((killed.outcome, killed.accused), (Outcome::Fail, Some(Accused::Program)));
    assert_eq!(judged(End::Exited(0), "ok 1 msgque\n").outcome, Outcome::Pass);
    assert_eq!(judged(End::Exited(4), "ok 1 # SKIP no\n").outcome, Outcome::Skip);
    // What the kernel says about itself is no matter of options.
    let (reports, ending) = ([warning()], finished(End::Exited(1), Counts::default()));
    let warned =
        judge(&Seen { lacking: &lacking, kernel_reports: &reports, ..seen(Dialect::Kselftest, &ending) });
    assert_eq!((warned.outcome, warned.accused), (Outcome::Fail, Some(Accused::Kernel)));
}

#[test]
fn a_kselftest_without_an_option_that_its_group_asks_for_is_skipped() {
    let ending = finished(End::Exited(1), Counts::default());
    let lacking = ["SYSVIPC".to_string(), "CHECKPOINT_RESTORE".to_string()];
    let judged = |output, lacking: &[String]| {
        let judgement = judge(&Seen { output, lacking, ..seen(Dialect::Kselftest, &ending) });
        (judgement.outcome, judgement.reason)
    };
    let output = "# msgget: Function not implemented\nnot ok 1 msgque\n";
    let reason = "the kernel was built without CONFIG_SYSVIPC, CONFIG_CHECKPOINT_RESTORE: \
                  msgget: Function not implemented";
    assert_eq!(judged(output, &lacking), (Outcome::Skip, reason.to_string()));
    assert_eq!(judged(output, &[]).0, Outcome::Fail, "the kernel has all that is asked for");
    let many: Vec<String> = (0..9).map(|number| format!("O{number}")).collect();
    assert!(judged(output, &many).1.contains("CONFIG_O4 and 4 more: "));
}
