//! From what was seen of a case to an Outcome.
//!
//! * [`kiln`]: what a case of kiln says; [`shell`]: what a shell says about the commands of a program
//! * [`kselftest`], [`ltp`]: what they say in the words of others
//! * [`oom`]: too little memory

mod kiln;
mod kselftest;
mod ltp;
pub mod ltp_output;
pub mod oom;
pub mod shell;

use std::time::Duration;

use console::{Death, Facts};
use protocol::{Counts, End, Report, ReportKind};

use crate::kernel_report::{KernelReport, Kind, is_expected};
use crate::noise::is_noise;
use crate::outcome::{Accused, Blame, Outcome};
use crate::run::Run;

/// Whose words a Run speaks: what its exit status and its output mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// A case of kiln: silence is no success.
    #[default]
    Kiln,
    /// Any program: as for kselftest, and a shell that misses a command is no failure.
    Program,
    /// kselftest: Documentation/dev-tools/kselftest.rst and tools/testing/selftests/kselftest.h.
    Kselftest,
    /// The Linux Test Project: its exit status is a sum of bits, and its output says why.
    Ltp,
}

/// Everything about a Run that decides.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// Whose words it speaks.
    pub dialect: Dialect,
    /// The time it had.
    pub limit: Duration,
    /// For most of it its machine had no CPU of the host.
    pub starved: bool,
    /// What it wrote to standard output and error.
    pub output: &'a str,
    /// Kernel reports that it provokes on purpose.
    pub expects: &'a [&'a str],
    /// How it ended.
    pub ending: &'a Ending,
    /// Results with a text.
    pub reports: &'a [Report],
    /// What the kernel logged.
    pub log: &'a [&'a str],
    /// Options that its suite asks for and the kernel was built without.
    pub lacking: &'a [String],
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
        facts: Facts,
    },
    /// The machine stopped answering.
    Silent {
        /// For so long.
        seconds: u64,
        /// Registers and the like.
        facts: Facts,
    },
}

/// The conclusion about a Run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The conclusion.
    pub outcome: Outcome,
    /// Who broke it, if it is broken.
    pub blame: Option<Blame>,
    /// Whom it accuses, if it is a failure.
    pub accused: Option<Accused>,
    /// Why; empty for a pass.
    pub reason: String,
    /// What shows it.
    pub evidence: Vec<String>,
    /// A pass that is a failure which the case expected.
    pub expected_failure: bool,
    /// Results that its output told instead of the results page.
    pub counts: Option<Counts>,
}

impl Judgement {
    /// This Outcome for this reason, which nobody broke and nothing shows.
    #[must_use]
    pub fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            blame: None,
            accused: outcome.is_failure().then_some(Accused::Kernel),
            reason: reason.into(),
            evidence: Vec::new(),
            expected_failure: false,
            counts: None,
        }
    }

    /// Broken by somebody.
    #[must_use]
    pub fn broken(blame: Blame, reason: impl Into<String>) -> Self {
        Self { blame: Some(blame), ..Self::new(Outcome::Broken, reason) }
    }

    /// With more of what shows it; noise shows nothing.
    #[must_use]
    pub fn with(mut self, evidence: &[String]) -> Self {
        self.evidence.extend(evidence.iter().filter(|line| !is_noise(line)).cloned());
        self
    }

    /// A failure of a program that may test anything accuses nobody else.
    fn of_program(self, seen: &Seen<'_>) -> Self {
        if seen.dialect == Dialect::Program { self.not_of_kernel() } else { self }
    }

    /// It accuses what was run, if it is a failure.
    fn not_of_kernel(self) -> Self {
        Self { accused: self.accused.and(Some(Accused::Program)), ..self }
    }

    /// The Run of `case` on this boot that concludes so, and of which nothing else is known.
    #[must_use]
    pub fn run_of(self, case: &str, about: &str, boot: u32) -> Run {
        Run {
            case: case.to_string(),
            about: about.to_string(),
            outcome: self.outcome,
            blame: self.blame,
            accused: self.accused,
            reason: self.reason,
            expected_failure: self.expected_failure,
            evidence: self.evidence,
            boot,
            ..Run::unstarted()
        }
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
            hang(reason, report).with(&facts.after(seen.console))
        }
        (Ending::Overdue { facts }, report) => {
            let reason = "the agent answers, but the case is still running long after its limit".to_string();
            hang(reason, report).with(&facts.after(seen.console))
        }
        (Ending::Finished { .. }, Some(report)) => {
            Judgement::new(Outcome::Fail, &report.title).with(&report.lines)
        }
        (Ending::Finished { end, counts, new_taint }, None) => finished(seen, end, *counts, *new_taint),
    }
}

fn died(death: &Death, report: Option<&KernelReport>, console: &[String]) -> Judgement {
    let judgement = match death {
        Death::Panic(title) if oom::is_panic(title) => Judgement::broken(
            Blame::Case,
            format!("the machine ran out of memory ({title}): --memory gives it more"),
        ),
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
        return late(seen, stacks, *killed);
    }
    if let End::NotStarted(why) = end {
        return Judgement::broken(Blame::Kiln, format!("the case could not be started: {why}"));
    }
    if let Some(judgement) = oom::killed(seen, end) {
        return judgement;
    }
    if counts.fail > 0 {
        return first(seen, ReportKind::Fail, Outcome::Fail).of_program(seen);
    }
    if counts.broken > 0 {
        return Judgement { blame: Some(Blame::Case), ..first(seen, ReportKind::Broken, Outcome::Broken) };
    }
    if let Some(taint) = accusing_taint(new_taint).filter(|_| seen.expects.is_empty()) {
        return Judgement::new(Outcome::Fail, format!("the kernel became tainted: {taint}"));
    }
    // Nothing went wrong by kiln's own word; what remains is how the process ended.
    let judgement = match (seen.dialect, end) {
        (dialect, End::Signalled(signal)) => {
            Judgement::new(Outcome::Fail, format!("{} was killed by signal {signal}", subject(dialect)))
        }
        (Dialect::Kselftest, End::Exited(code)) => kselftest::exited(seen, counts, *code),
        (Dialect::Program, End::Exited(code)) => {
            shell::without_command(seen, *code).unwrap_or_else(|| kselftest::exited(seen, counts, *code))
        }
        (Dialect::Ltp, End::Exited(code)) => ltp::exited(seen, *code),
        _ => kiln::ended(seen, end, counts),
    };
    kselftest::excused(seen, judgement).of_program(seen)
}

/// What is run, in words.
fn subject(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Kiln => "the case",
        Dialect::Program => "the program",
        Dialect::Kselftest | Dialect::Ltp => "the test",
    }
}

/// It was still running at its limit.
fn late(seen: &Seen<'_>, stacks: &str, killed: bool) -> Judgement {
    if let Some(judgement) = ltp::cut_short(seen).filter(|_| killed) {
        return judgement;
    }
    let kernel = if killed { "; the kernel answers" } else { " and cannot be killed" };
    let (subject, limit) = (subject(seen.dialect), seen.limit.as_secs_f64());
    let judgement =
        Judgement::new(Outcome::Hang, format!("{subject} did not end within {limit:.0} s{kernel}"));
    let judgement = if killed { judgement.not_of_kernel() } else { judgement };
    judgement.with(&texts(seen, ReportKind::Fail)).with(&lines(stacks))
}

/// It ended by a limit of its own, which is by the guest's clock and goes on while the machine waits.
fn own_limit(seen: &Seen<'_>, reason: &str) -> Judgement {
    if seen.starved {
        let starved = format!("{reason}; for most of that time the machine got no CPU of the host");
        return Judgement::broken(Blame::Host, starved);
    }
    Judgement::new(Outcome::Hang, reason).not_of_kernel()
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
mod tests;
