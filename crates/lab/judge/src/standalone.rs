//! Judges a Run where there is nothing of kiln but this: from the console and the lines that the agent wrote.
//!
//! * [`About`]: what is true of the case, from the file that is packed beside it
//! * `control`: what the agent wrote
//! * `show`: the verdict as text
//! * [`conclude`]: all of it

mod about;
mod control;
mod show;
#[cfg(test)]
mod tests;

use console::{
    BootFailure, BootTrouble, CONSOLE_OPTIONS, Console, ConsoleSupport, Death, Facts, PORT_OPTION, message,
};
use protocol::waiting::BEGINS;
use protocol::{Counts, End};

use crate::boot::{boot_judgement, booted_badly};
use crate::case::{Ending, Judgement, Seen, judge};
use crate::kernel_report::{self, KernelReport, is_expected};
use crate::outcome::Outcome;
pub use about::About;
use control::Control;
pub use show::Verdict;

/// Lines of the console that a verdict rests on.
const CONSOLE_LINES: usize = 30;

/// What gives a machine of a bundle more time.
const REMEDY: &str = "KILN_TIMEOUT_MUL=3";

/// How the machine's program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// By itself, with this exit status.
    Exited(i32),
    /// The machine said nothing for so many seconds and was given up.
    Silent(u64),
    /// It was still running after so many seconds.
    Late(u64),
    /// It was given up for another reason.
    Other(String),
}

impl Stop {
    /// The exit status, and the word of the script that gave the machine up, if it did.
    #[must_use]
    pub fn read(status: i32, word: &str) -> Self {
        let seconds = |start: &str| word.strip_prefix(start)?.trim().parse().ok();
        match (seconds("silent "), seconds("late ")) {
            (Some(seconds), _) => Self::Silent(seconds),
            (_, Some(seconds)) => Self::Late(seconds),
            _ if word.is_empty() => Self::Exited(status),
            _ => Self::Other(word.to_string()),
        }
    }

    /// The death of a machine of which nothing else is known; none if somebody gave it up.
    fn death(&self) -> Option<Death> {
        match self {
            Self::Exited(0) => Some(Death::Reset),
            Self::Exited(status) => {
                Some(Death::Broken(format!("QEMU: exit status {status}, see its message above")))
            }
            Self::Other(why) => Some(Death::Broken(why.clone())),
            Self::Silent(_) | Self::Late(_) => None,
        }
    }
}

/// The verdict about the case: from what the machine wrote on its console, what the agent wrote, and how the machine
/// ended.
#[must_use]
pub fn conclude(about: &About, stop: &Stop, console: &str, control: &str) -> Verdict {
    let console: Vec<String> = console.lines().map(str::to_string).collect();
    let control = Control::read(control);
    let mut verdict = Verdict::default();
    if !control.is_up {
        let judgement = boot_judgement(&boot_failure(about, stop, &console));
        verdict.conclude("boot", &judgement);
        verdict.show("shows", &judgement.evidence);
        return verdict;
    }
    let begin = console.iter().position(|line| message(line) == BEGINS).map_or(0, |at| at + 1);
    let (booting, running) = console.split_at(begin);
    if let Some(run) = booted_badly(1, booting) {
        verdict.conclude("boot", &Judgement::new(run.outcome, run.reason));
        verdict.show("kernel", &run.evidence);
    }
    let reports = kernel_reports(&control, running);
    let ending = ending(&control, stop, running);
    let judgement = judge(&Seen {
        dialect: about.dialect,
        limit: about.limit,
        starved: false,
        output: &control.output,
        expects: &about.expects.iter().map(String::as_str).collect::<Vec<_>>(),
        ending: &ending,
        reports: &control.reports,
        log: &control.log.iter().map(String::as_str).collect::<Vec<_>>(),
        lacking: &about.lacking,
        kernel_reports: &reports,
        console: tail(running),
    });
    verdict.conclude(&about.name, &judgement);
    if let Some(label) = label(about, &ending, &reports, &judgement) {
        verdict.show(label, &judgement.evidence);
    }
    verdict.show("output", &control.output.lines().map(str::to_string).collect::<Vec<_>>());
    verdict.note(&control, about.dialect);
    if about.is_users {
        verdict.pass_on(control.end.as_ref(), judgement.accused);
    }
    verdict
}

/// The last lines.
fn tail(lines: &[String]) -> &[String] {
    &lines[lines.len().saturating_sub(CONSOLE_LINES)..]
}

/// Why the machine is no more, by the kernel's own words.
fn last_words(lines: &[String]) -> Option<Death> {
    let mut console = Console::default();
    for line in lines {
        console.feed(line.as_bytes());
        console.feed(b"\n");
    }
    console.last_words()
}

fn boot_failure(about: &About, stop: &Stop, console: &[String]) -> BootFailure {
    let given_up = match *stop {
        Stop::Silent(seconds) if console.is_empty() => {
            let has = about.console_options.as_ref();
            let has = has.map(|options| |option: &str| options.iter().any(|known| known == option));
            BootTrouble::NoConsole { seconds, support: ConsoleSupport::new(CONSOLE_OPTIONS, has) }
        }
        Stop::Silent(seconds) => BootTrouble::Hang { lines: console.len() as u64, seconds },
        Stop::Late(seconds) => BootTrouble::Late { seconds, remedy: REMEDY },
        Stop::Exited(_) | Stop::Other(_) => BootTrouble::Reset,
    };
    let death = last_words(console).or_else(|| stop.death());
    let trouble = death.map_or(given_up, |death| BootTrouble::of(death, PORT_OPTION));
    BootFailure { trouble, console: tail(console).to_vec(), facts: Box::default(), dump: None }
}

/// What the kernel reported: from its log as the agent sent it, or, when the agent could not send all of it, from
/// the console.
fn kernel_reports(control: &Control, console: &[String]) -> Vec<KernelReport> {
    let scan = |lines: &[String]| kernel_report::scan(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let from_log = if control.end.is_some() { scan(&control.log) } else { Vec::new() };
    if control.end.is_some() && (!control.log_lost || !from_log.is_empty()) {
        return from_log;
    }
    scan(console)
}

fn ending(control: &Control, stop: &Stop, console: &[String]) -> Ending {
    if let Some(end) = &control.end {
        return Ending::Finished { end: end.clone(), counts: control.counts, new_taint: control.taint };
    }
    let words = last_words(console);
    let is_fatal = |death: &Death| matches!(death, Death::Panic(_) | Death::AgentDied(_));
    match (words, stop) {
        (Some(death), _) if is_fatal(&death) => Ending::Died(death),
        (_, Stop::Silent(seconds)) => Ending::Silent { seconds: *seconds, facts: Facts::default() },
        (_, Stop::Late(_)) => Ending::Overdue { facts: Facts::default() },
        (Some(death), _) => Ending::Died(death),
        (None, stop) => Ending::Died(stop.death().unwrap_or(Death::Reset)),
    }
}

/// What the evidence is; nothing where it stands in the output, which is shown anyway.
fn label(
    about: &About,
    ending: &Ending,
    reports: &[KernelReport],
    judgement: &Judgement,
) -> Option<&'static str> {
    let expects: Vec<&str> = about.expects.iter().map(String::as_str).collect();
    let is_reported = reports.iter().any(|report| !is_expected(report, &expects));
    match ending {
        Ending::Died(_) if is_reported && judgement.outcome == Outcome::Crash => Some("kernel"),
        Ending::Died(_) | Ending::Silent { .. } | Ending::Overdue { .. } => Some("shows"),
        Ending::Finished { .. } if is_reported => Some("kernel"),
        Ending::Finished { end: End::TimedOut { .. }, .. } => Some("stack"),
        Ending::Finished { counts: Counts { fail: 1.., .. }, .. } => Some("check"),
        Ending::Finished { .. } => None,
    }
}
