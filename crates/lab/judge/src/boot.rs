//! From what was seen of a boot to an Outcome.

use std::time::Duration;

use console::{BootFailure, BootTrouble, ConsoleSupport};

use crate::case::Judgement;
use crate::kernel_report::{self, KernelReport, Kind};
use crate::outcome::{Blame, Outcome};
use crate::run::{BOOT, Run};

/// The kernel counts how long a CPU is stuck from the last time that it looked, in a clone also before the machine was cloned: a fifth
/// of its threshold (kernel/watchdog.c), 4 s unless the case sets another.
const WATCHDOG_INTERVAL: Duration = Duration::from_secs(12);

/// What a boot that failed concludes, and who is to blame if it concludes nothing.
#[must_use]
pub fn boot_outcome(trouble: &BootTrouble) -> (Outcome, Option<Blame>) {
    match trouble {
        BootTrouble::Panic(_) | BootTrouble::Reset | BootTrouble::Fault(_) => (Outcome::Crash, None),
        BootTrouble::NotStarted(_) => (Outcome::Fail, None),
        BootTrouble::Hang { .. }
        | BootTrouble::Late { .. }
        | BootTrouble::NoConsole { support: ConsoleSupport::Present(_), .. } => (Outcome::Hang, None),
        BootTrouble::NoConsole { .. }
        | BootTrouble::NoControlPort { .. }
        | BootTrouble::Unclonable(_)
        | BootTrouble::Machine(_) => (Outcome::Broken, Some(Blame::Machine)),
        BootTrouble::Protocol(_) | BootTrouble::AgentDied(_) | BootTrouble::Interrupted => {
            (Outcome::Broken, Some(Blame::Kiln))
        }
    }
}

/// The Run of a kernel that came up but reported defects of its own on the way; later boots of the same
/// kernel would only repeat it.
#[must_use]
pub fn booted_badly(boot: u32, lines: &[String]) -> Option<Run> {
    let reports = reports(lines);
    let first = reports.first()?;
    let judgement = Judgement::new(Outcome::Fail, &first.title).with(&first.lines);
    let run = judgement.run_of(BOOT, "the kernel boots without reporting a defect", boot);
    Some(Run { is_boot: true, kernel_reports: reports, ..run })
}

/// The Run on a machine that had run for `life` by the host's clock at its end. The guest's clock is the host's under TCG, and a
/// jump of it, as when a laptop is suspended, looks like a CPU that was stuck: for longer than its machine has run, no CPU can
/// be.
#[must_use]
pub fn by_host_clock(run: Run, life: Duration) -> Run {
    let cause = run.kernel_reports.iter().find(|report| report.title == run.reason);
    let Some(stuck) = cause.and_then(stuck_for).filter(|stuck| *stuck > life + WATCHDOG_INTERVAL) else {
        return run;
    };
    let (stuck, life) = (stuck.as_secs(), life.as_secs_f64());
    let reason = format!(
        "a CPU stuck for {stuck} s in a machine that has run for {life:.1} s: the clock of the host has jumped"
    );
    Run { outcome: Outcome::Broken, blame: Some(Blame::Host), accused: None, reason, ..run }
}

/// How long a CPU was stuck by the words of the kernel: kernel/watchdog.c.
fn stuck_for(report: &KernelReport) -> Option<Duration> {
    let seconds = |line: &String| line.split_once("stuck for ")?.1.split_once("s!")?.0.parse().ok();
    report.lines.iter().find_map(seconds).map(Duration::from_secs)
}

/// The Run of a machine that did not come up.
#[must_use]
pub fn did_not_boot(boot: u32, failure: &BootFailure) -> Run {
    let defect = defect(failure);
    let run = concluded(failure, defect.as_ref()).run_of(BOOT, "the kernel boots to user space", boot);
    let kernel_reports = defect.into_iter().collect();
    Run { is_boot: true, kernel_reports, notes: failure.dump.iter().cloned().collect(), ..run }
}

/// What a boot that failed concludes, with its reason and what shows it.
#[must_use]
pub fn boot_judgement(failure: &BootFailure) -> Judgement {
    concluded(failure, defect(failure).as_ref())
}

fn concluded(failure: &BootFailure, defect: Option<&KernelReport>) -> Judgement {
    let judgement = match defect {
        Some(report) => Judgement::new(Outcome::Hang, &report.title),
        None => {
            let (outcome, blame) = boot_outcome(&failure.trouble);
            Judgement { blame, ..Judgement::new(outcome, failure.trouble.to_string()) }
        }
    };
    judgement.with(&failure.facts.after(&failure.console))
}

/// What the kernel reported before it stopped answering. A kernel goes on after a warning.
fn defect(failure: &BootFailure) -> Option<KernelReport> {
    let stopped = matches!(
        failure.trouble,
        BootTrouble::NoConsole { .. } | BootTrouble::Hang { .. } | BootTrouble::Late { .. }
    );
    let mut reports = reports(&failure.console).into_iter().filter(|_| stopped);
    reports.find(|report| report.kind != Kind::Warning)
}

fn reports(lines: &[String]) -> Vec<KernelReport> {
    kernel_report::scan(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::Facts;

    fn fails(trouble: BootTrouble, console: &[&str]) -> Run {
        let console = console.iter().map(ToString::to_string).collect();
        did_not_boot(1, &BootFailure { trouble, console, facts: Box::new(Facts::default()), dump: None })
    }

    fn silent(support: ConsoleSupport) -> BootTrouble {
        BootTrouble::NoConsole { seconds: 9, support }
    }

    #[test]
    fn a_silent_kernel_is_at_fault_if_it_was_built_with_the_console() {
        let run = fails(silent(ConsoleSupport::Present("CONFIG_X")), &[]);
        assert_eq!((run.outcome, run.blame), (Outcome::Hang, None));
        for support in [ConsoleSupport::Missing("CONFIG_X"), ConsoleSupport::Unknown("CONFIG_X")] {
            let run = fails(silent(support), &["Linux version 6.1.0"]);
            assert_eq!((run.outcome, run.blame), (Outcome::Broken, Some(Blame::Machine)), "{support:?}");
        }
    }

    #[test]
    fn a_defect_before_the_silence_is_its_cause() {
        let oops = [
            "[ 0.1] BUG: kernel NULL pointer dereference, address: 0000000000000008",
            "[ 0.1] RIP: 0010:early_init+0x4/0x10",
        ];
        for trouble in
            [silent(ConsoleSupport::Unknown("CONFIG_X")), BootTrouble::Hang { lines: 2, seconds: 9 }]
        {
            let run = fails(trouble, &oops);
            assert_eq!((run.outcome, run.blame, run.kernel_reports.len()), (Outcome::Hang, None, 1));
            assert_eq!(run.reason, "BUG: kernel NULL pointer dereference in early_init");
            assert_eq!(run.evidence, oops);
        }
    }

    #[test]
    fn clocks_on_the_console_show_nothing() {
        let console =
            ["[    0.5] PCI: x", "[    1.5] tsc: Refined TSC clocksource calibration: 2499.998 MHz"];
        let run = fails(BootTrouble::Hang { lines: 2, seconds: 9 }, &console);
        assert_eq!(run.evidence, console[..1]);
    }

    #[test]
    fn a_cpu_cannot_be_stuck_for_longer_than_its_machine_runs() {
        let lines = ["[   72.3] watchdog: BUG: soft lockup - CPU#0 stuck for 70s! [swapper/0:1]".to_string()];
        let badly = || booted_badly(1, &lines).unwrap();
        let boot = |seconds| by_host_clock(badly(), Duration::from_secs(seconds));
        let jumped = boot(7);
        assert_eq!((jumped.outcome, jumped.blame), (Outcome::Broken, Some(Blame::Host)));
        assert_eq!(
            jumped.reason,
            "a CPU stuck for 70 s in a machine that has run for 7.0 s: the clock of the host has jumped"
        );
        assert_eq!(boot(73).outcome, Outcome::Fail);
        assert_eq!(boot(66).outcome, Outcome::Fail, "it was stuck before it was cloned");
        let other = Run { reason: "KASAN: use-after-free in foo".to_string(), ..badly() };
        assert_eq!(by_host_clock(other.clone(), Duration::ZERO), other, "this is not what it failed for");
    }

    #[test]
    fn a_warning_is_no_cause_of_silence() {
        let trouble = BootTrouble::Hang { lines: 2, seconds: 9 };
        let run = fails(trouble.clone(), &["WARNING: CPU: 0 PID: 1 at fs/x.c:12 foo+0x1/0x2"]);
        assert_eq!((run.reason, run.kernel_reports.len()), (trouble.to_string(), 0));
    }
}
