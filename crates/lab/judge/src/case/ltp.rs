//! The exit status of a test of the Linux Test Project, and what its output says about it.

use protocol::Counts;

use super::ltp_output::{LtpOutput, Verdict};
use super::{Judgement, Seen, own_limit};
use crate::outcome::{Blame, Outcome};

/// The bits of the exit status: `include/tst_res_flags.h` of LTP.
const FAIL: i32 = 1;
const BROKEN: i32 = 2;
const WARNING: i32 = 4;
const SKIP: i32 = 32;

/// It ended with exit status `code`.
pub(super) fn exited(seen: &Seen<'_>, code: i32) -> Judgement {
    let output = LtpOutput::read(seen.output);
    let count = |verdict| output.count(verdict);
    let is = |bit: i32, verdict| code & bit != 0 || count(verdict) > 0;
    let judgement = match code {
        _ if output.timed_out => {
            own_limit(seen, "it ended by its own time limit").with(&output.texts(Verdict::Broken))
        }
        _ if count(Verdict::Fail) > 0 => because(&output, Verdict::Fail, Outcome::Fail, code),
        _ if code & !(FAIL | BROKEN | WARNING | SKIP) != 0 => foreign(seen, code),
        _ if code & FAIL != 0 => because(&output, Verdict::Fail, Outcome::Fail, code),
        _ if is(BROKEN, Verdict::Broken) => own_fault(&output, Verdict::Broken, code),
        // Something of its own went wrong, so what passed is in doubt as well.
        _ if is(WARNING, Verdict::Warning) => own_fault(&output, Verdict::Warning, code),
        _ if is(SKIP, Verdict::Skip) && count(Verdict::Pass) == 0 => {
            because(&output, Verdict::Skip, Outcome::Skip, code)
        }
        _ => Judgement::new(Outcome::Pass, ""),
    };
    let counts = Counts {
        pass: count(Verdict::Pass),
        fail: count(Verdict::Fail),
        skip: count(Verdict::Skip),
        broken: count(Verdict::Broken).saturating_add(count(Verdict::Warning)),
    };
    Judgement { counts: (counts.total() > 0).then_some(counts), ..judgement }
}

/// kiln ended it before its own time limit could: that says nothing about the kernel.
pub(super) fn cut_short(seen: &Seen<'_>) -> Option<Judgement> {
    let own = LtpOutput::read(seen.output).limit.filter(|_| seen.dialect == super::Dialect::Ltp)?;
    let reason = format!(
        "kiln's time limit of {} s came before the case's own of {} s: --case-timeout gives it more",
        seen.limit.as_secs(),
        own.as_secs()
    );
    (own > seen.limit).then(|| Judgement::broken(Blame::Case, reason))
}

/// The first text with this verdict is the reason, the others are evidence.
fn because(output: &LtpOutput, verdict: Verdict, outcome: Outcome, code: i32) -> Judgement {
    let mut texts = output.texts(verdict).into_iter();
    let reason = texts.next().unwrap_or_else(|| format!("exit status {code}"));
    Judgement::new(outcome, reason).with(&texts.collect::<Vec<_>>())
}

fn own_fault(output: &LtpOutput, verdict: Verdict, code: i32) -> Judgement {
    Judgement { blame: Some(Blame::Case), ..because(output, verdict, Outcome::Broken, code) }
}

/// An exit status that is no sum of LTP's bits: the shell's, or that of a program which is not LTP's.
fn foreign(seen: &Seen<'_>, code: i32) -> Judgement {
    let last = seen.output.lines().rev().find(|line| !line.trim().is_empty());
    let judgement = match code {
        126 => Judgement::broken(Blame::Case, "its command cannot be executed (exit status 126)"),
        127 => Judgement::broken(Blame::Case, "its command was not found (exit status 127)"),
        129..=192 => Judgement::new(Outcome::Fail, format!("the test was killed by signal {}", code - 128)),
        _ => Judgement::new(Outcome::Fail, format!("exit status {code}")),
    };
    judgement.with(&last.map(str::to_string).into_iter().collect::<Vec<_>>())
}
