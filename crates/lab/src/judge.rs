//! From what was seen to an Outcome.

use machine::Death;
use protocol::{Counts, End, Report, ReportKind, Work};

use crate::kernel_report::{KernelReport, Kind, is_expected};
use crate::outcome::{Blame, Outcome};

/// Everything about a Run that decides.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// What was done.
    pub work: &'a Work,
    /// Kernel reports that it provokes on purpose.
    pub expects: &'a [&'a str],
    /// How it ended.
    pub ending: &'a Ending,
    /// Results with a text.
    pub reports: &'a [Report],
    /// Defects that the kernel reported.
    pub kernel_reports: &'a [KernelReport],
    /// The last lines of the console.
    pub console: &'a [String],
}

/// How a Run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The agent told its end.
    Finished {
        /// How the process ended.
        end: End,
        /// Checks by result.
        counts: Counts,
        /// Bits of `/proc/sys/kernel/tainted` that were set during the Run.
        new_taint: u64,
    },
    /// The machine came to an end.
    Died(Death),
    /// The agent answers, but long after its limit the case has not ended.
    Overdue {
        /// Registers and the like.
        facts: Vec<String>,
    },
    /// The machine stopped answering.
    Silent {
        /// For so long.
        seconds: u64,
        /// Registers and the like.
        facts: Vec<String>,
    },
}

/// The conclusion about a Run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The conclusion.
    pub outcome: Outcome,
    /// Who broke it, if it is broken.
    pub blame: Option<Blame>,
    /// Why; empty for a pass.
    pub reason: String,
    /// What shows it.
    pub evidence: Vec<String>,
}

impl Judgement {
    fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome, blame: None, reason: reason.into(), evidence: Vec::new() }
    }

    fn broken(blame: Blame, reason: impl Into<String>) -> Self {
        Self { blame: Some(blame), ..Self::new(Outcome::Broken, reason) }
    }

    fn with(self, evidence: &[String]) -> Self {
        Self { evidence: [self.evidence, evidence.to_vec()].concat(), ..self }
    }
}

/// Judges a Run. The first bad thing is the cause: what the kernel said about itself comes before what
/// the case saw of it.
#[must_use]
pub fn judge(seen: &Seen<'_>) -> Judgement {
    let unexpected = seen.kernel_reports.iter().find(|report| !is_expected(report, seen.expects));
    match (seen.ending, unexpected) {
        (Ending::Died(death), report) => died(death, report, seen.console),
        (Ending::Silent { seconds, facts }, report) => {
            let reason = format!("the machine stopped answering for {seconds} s");
            hang(reason, report).with(facts).with(seen.console)
        }
        (Ending::Overdue { facts }, report) => {
            let reason = "the agent answers, but the case did not end long after its limit".to_string();
            hang(reason, report).with(facts).with(seen.console)
        }
        (Ending::Finished { .. }, Some(report)) => {
            Judgement::new(Outcome::Fail, &report.title).with(&report.lines)
        }
        (Ending::Finished { end, counts, new_taint }, None) => finished(seen, end, *counts, *new_taint),
    }
}

fn died(death: &Death, report: Option<&KernelReport>, console: &[String]) -> Judgement {
    let judgement = match death {
        Death::Panic(title) => {
            let title =
                report.map_or_else(|| format!("Kernel panic: {title}"), |report| report.title.clone());
            Judgement::new(Outcome::Crash, title)
        }
        Death::Reset => {
            Judgement::new(Outcome::Crash, "the machine was reset without a message (a triple fault?)")
        }
        Death::Fault(signal) => {
            Judgement::new(Outcome::Crash, format!("the kernel died of signal {signal} without a message"))
        }
        // The kernel may have killed it by an oops in what it did for it.
        Death::AgentDied(title) => match report.filter(|report| report.kind != Kind::Panic) {
            Some(report) => Judgement::new(Outcome::Crash, &report.title),
            None => Judgement::broken(Blame::Kiln, format!("process 1 died: {title}")),
        },
        Death::Restarted => Judgement::broken(Blame::Case, "the case restarted the machine"),
        Death::PoweredOff => Judgement::broken(Blame::Case, "the case powered the machine off"),
        Death::Broken(text) => Judgement::broken(Blame::Machine, text),
    };
    match report {
        Some(report) if judgement.outcome == Outcome::Crash => judgement.with(&report.lines),
        _ => judgement.with(console),
    }
}

fn hang(reason: String, report: Option<&KernelReport>) -> Judgement {
    Judgement::new(Outcome::Hang, report.map_or(reason, |report| report.title.clone()))
}

fn finished(seen: &Seen<'_>, end: &End, counts: Counts, new_taint: u64) -> Judgement {
    if let End::TimedOut { stacks, killed } = end {
        let stuck = if *killed { "" } else { " and cannot be killed" };
        let judgement =
            Judgement::new(Outcome::Hang, format!("the case did not end within its time limit{stuck}"));
        return judgement.with(&texts(seen, ReportKind::Fail)).with(&lines(stacks));
    }
    if let End::NotStarted(why) = end {
        return Judgement::broken(Blame::Kiln, format!("the case could not be started: {why}"));
    }
    if counts.fail > 0 {
        return first(seen, ReportKind::Fail, Outcome::Fail);
    }
    if counts.broken > 0 {
        return Judgement { blame: Some(Blame::Case), ..first(seen, ReportKind::Broken, Outcome::Broken) };
    }
    if let Some(taint) = accusing_taint(new_taint).filter(|_| seen.expects.is_empty()) {
        return Judgement::new(Outcome::Fail, format!("the kernel became tainted: {taint}"));
    }
    ended(seen, end, counts)
}

/// Nothing went wrong by anybody's word; what remains is how the process ended.
fn ended(seen: &Seen<'_>, end: &End, counts: Counts) -> Judgement {
    match (seen.work, end) {
        (_, End::Signalled(signal)) => {
            Judgement::new(Outcome::Fail, format!("the case was killed by signal {signal}"))
        }
        // A program that does not report speaks by its exit status, in the words of kselftest.
        (Work::Program(_), End::Exited(4)) => {
            first_or(seen, ReportKind::Skip, Outcome::Skip, "exit status 4")
        }
        (_, End::Exited(code @ 1..)) => Judgement::new(Outcome::Fail, format!("exit status {code}")),
        (Work::Program(_), _) if counts.total() == 0 => Judgement::new(Outcome::Pass, ""),
        _ if counts.total() == 0 => {
            Judgement::broken(Blame::Case, "the case ended without reporting anything")
        }
        _ if counts.pass == 0 => first(seen, ReportKind::Skip, Outcome::Skip),
        _ => Judgement::new(Outcome::Pass, ""),
    }
}

fn first(seen: &Seen<'_>, kind: ReportKind, outcome: Outcome) -> Judgement {
    first_or(seen, kind, outcome, "without a text")
}

/// The first report of `kind` is the reason, the others are evidence.
fn first_or(seen: &Seen<'_>, kind: ReportKind, outcome: Outcome, otherwise: &str) -> Judgement {
    let mut texts = texts(seen, kind).into_iter();
    let reason = texts.next().filter(|text| !text.is_empty()).unwrap_or_else(|| otherwise.to_string());
    Judgement::new(outcome, reason).with(&texts.collect::<Vec<_>>())
}

fn texts(seen: &Seen<'_>, kind: ReportKind) -> Vec<String> {
    seen.reports.iter().filter(|report| report.kind == kind).map(|report| report.text.clone()).collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_string).collect()
}

/// The taint bits by which a kernel says that it misbehaved, with letter and meaning:
/// Documentation/admin-guide/tainted-kernels.rst. The others are the user's, the module's or the
/// firmware's doing; a package's modules, for one, are not signed.
const TAINTS: &[(u32, &str)] = &[
    (4, "M (machine check)"),
    (5, "B (bad page)"),
    (7, "D (kernel died: oops or BUG)"),
    (9, "W (kernel issued a warning)"),
    (14, "L (soft lockup)"),
];

/// The bits that accuse the kernel, in words; nothing if there are none.
fn accusing_taint(bits: u64) -> Option<String> {
    let named: Vec<&str> =
        TAINTS.iter().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, text)| *text).collect();
    (!named.is_empty()).then(|| named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Work {
        Work::Case("area/what".into())
    }

    fn program() -> Work {
        Work::Program(vec!["/bin/x".into()])
    }

    fn warning() -> KernelReport {
        KernelReport {
            kind: Kind::Warning,
            title: "WARNING in foo".into(),
            lines: vec!["WARNING: foo".into()],
        }
    }

    fn counts(pass: u32, fail: u32, skip: u32, broken: u32) -> Counts {
        Counts { pass, fail, skip, broken }
    }

    fn finished(end: End, counts: Counts) -> Ending {
        Ending::Finished { end, counts, new_taint: 0 }
    }

    fn conclude(
        work: &Work,
        ending: &Ending,
        reports: &[Report],
        kernel_reports: &[KernelReport],
    ) -> (Outcome, Option<Blame>) {
        let seen = Seen { work, expects: &[], ending, reports, kernel_reports, console: &[] };
        let judgement = judge(&seen);
        (judgement.outcome, judgement.blame)
    }

    #[test]
    fn a_case_that_checked_something_and_ended_well_passes() {
        let ending = finished(End::Exited(0), counts(3, 0, 0, 0));
        assert_eq!(conclude(&case(), &ending, &[], &[]), (Outcome::Pass, None));
    }

    #[test]
    fn a_case_that_reports_nothing_is_broken_however_it_exits() {
        let ending = finished(End::Exited(0), counts(0, 0, 0, 0));
        assert_eq!(conclude(&case(), &ending, &[], &[]), (Outcome::Broken, Some(Blame::Case)));
    }

    #[test]
    fn a_warning_in_the_log_fails_a_case_that_passed() {
        let ending = finished(End::Exited(0), counts(3, 0, 0, 0));
        assert_eq!(conclude(&case(), &ending, &[], &[warning()]), (Outcome::Fail, None));
    }

    #[test]
    fn an_expected_warning_does_not() {
        let ending = Ending::Finished { end: End::Exited(0), counts: counts(1, 0, 0, 0), new_taint: 1 << 9 };
        let (work, reports) = (case(), [warning()]);
        let seen = Seen {
            work: &work,
            expects: &["WARNING in foo"],
            ending: &ending,
            reports: &[],
            kernel_reports: &reports,
            console: &[],
        };
        assert_eq!(judge(&seen).outcome, Outcome::Pass);
    }

    #[test]
    fn taint_alone_fails_a_case() {
        let ending = Ending::Finished { end: End::Exited(0), counts: counts(1, 0, 0, 0), new_taint: 1 << 5 };
        let work = case();
        let seen = Seen {
            work: &work,
            expects: &[],
            ending: &ending,
            reports: &[],
            kernel_reports: &[],
            console: &[],
        };
        assert_eq!(judge(&seen), Judgement::new(Outcome::Fail, "the kernel became tainted: B (bad page)"));
    }

    #[test]
    fn a_failed_check_comes_before_a_failed_clean_up() {
        let ending = finished(End::Exited(1), counts(1, 1, 0, 1));
        let reports = [
            Report { kind: ReportKind::Fail, text: "sum: is 2, expected 3".into() },
            Report { kind: ReportKind::Broken, text: "clean-up: EBUSY".into() },
        ];
        assert_eq!(conclude(&case(), &ending, &reports, &[]), (Outcome::Fail, None));
    }

    #[test]
    fn a_set_up_that_fails_says_nothing_about_the_kernel() {
        let ending = finished(End::Exited(1), counts(0, 0, 0, 1));
        assert_eq!(conclude(&case(), &ending, &[], &[]), (Outcome::Broken, Some(Blame::Case)));
    }

    #[test]
    fn a_program_speaks_by_its_exit_status() {
        for (code, expected) in
            [(0, Outcome::Pass), (1, Outcome::Fail), (4, Outcome::Skip), (127, Outcome::Fail)]
        {
            let ending = finished(End::Exited(code), counts(0, 0, 0, 0));
            assert_eq!(conclude(&program(), &ending, &[], &[]).0, expected, "{code}");
        }
    }

    #[test]
    fn a_program_that_reported_a_failure_failed_whatever_its_exit_status() {
        let ending = finished(End::Exited(0), counts(5, 1, 0, 0));
        assert_eq!(conclude(&program(), &ending, &[], &[]).0, Outcome::Fail);
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
            assert_eq!(conclude(&case(), &Ending::Died(death.clone()), &[], &[]), expected, "{death:?}");
        }
    }

    #[test]
    fn an_oops_that_kills_process_1_is_the_kernels() {
        let oops = KernelReport { kind: Kind::Oops, title: "Oops in foo".into(), lines: Vec::new() };
        let ending = Ending::Died(Death::AgentDied("exitcode=0x00000009".into()));
        assert_eq!(conclude(&case(), &ending, &[], &[oops]), (Outcome::Crash, None));
    }

    #[test]
    fn silence_and_an_endless_case_are_hangs() {
        let silent = Ending::Silent { seconds: 30, facts: Vec::new() };
        assert_eq!(conclude(&case(), &silent, &[], &[]).0, Outcome::Hang);
        let overdue = Ending::Overdue { facts: Vec::new() };
        assert_eq!(conclude(&case(), &overdue, &[], &[]).0, Outcome::Hang);
        let endless = finished(End::TimedOut { stacks: String::new(), killed: true }, counts(1, 0, 0, 0));
        assert_eq!(conclude(&case(), &endless, &[], &[]).0, Outcome::Hang);
    }

    #[test]
    fn what_is_missing_makes_a_skip() {
        let ending = finished(End::Exited(0), counts(0, 0, 1, 0));
        let reports = [Report { kind: ReportKind::Skip, text: "no xfs".into() }];
        assert_eq!(conclude(&case(), &ending, &reports, &[]), (Outcome::Skip, None));
    }
}
