//! From what was seen of a boot to an Outcome.

use console::{BootFailure, BootTrouble};

use crate::case::Judgement;
use crate::kernel_report;
use crate::outcome::{Blame, Outcome};
use crate::run::{BOOT, Run};

/// What a boot that failed concludes, and who is to blame if it concludes nothing.
#[must_use]
pub fn boot_outcome(trouble: &BootTrouble) -> (Outcome, Option<Blame>) {
    match trouble {
        BootTrouble::Panic(_) | BootTrouble::Reset | BootTrouble::Fault(_) => (Outcome::Crash, None),
        BootTrouble::Hang { .. } | BootTrouble::Late { .. } => (Outcome::Hang, None),
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
    let reports = kernel_report::scan(&lines.iter().map(|line| console::message(line)).collect::<Vec<_>>());
    let first = reports.first()?;
    let judgement = Judgement::new(Outcome::Fail, &first.title).with(&first.lines);
    let run = judgement.run_of(BOOT, "the kernel boots without reporting a defect", boot);
    Some(Run { is_boot: true, kernel_reports: reports, ..run })
}

/// The Run of a machine that did not come up.
#[must_use]
pub fn did_not_boot(boot: u32, failure: &BootFailure) -> Run {
    let (outcome, blame) = boot_outcome(&failure.trouble);
    let judgement = Judgement::new(outcome, failure.trouble.to_string());
    let judgement = judgement.with(&failure.facts.around(&failure.console));
    let judgement = Judgement { blame, ..judgement };
    let run = judgement.run_of(BOOT, "the kernel boots to user space", boot);
    Run { is_boot: true, notes: failure.dump.iter().cloned().collect(), ..run }
}
