//! `kiln check`: patches are built, tested and compared with what was there before.
//!
//! * [`patches`]: which patches, on which commit; [`request`]: what is asked of them
//! * [`mod@watch`]: every series that arrives; [`b4`]: the same as a check of b4

mod b4;
mod patches;
mod request;
mod watch;

use ::check::{Environment, Progress, SeriesCheck, Verdict};
use anyhow::{Context, Result};
use jiff::Timestamp;
use judge::exit::BROKEN;
use kernel::News;
use lab::HostBackend;
use lab::event::stamp;
use ledger::{Budget, CHECK, Figures, PAGE, REQUEST};
use report::check::Answer;

use crate::cli::{Check, HowToCheck};
use crate::failure::{FAULT, WrongUsage, complain};
use crate::listeners::standard_output;
use crate::report_file::{self, write};
use crate::shell_words::this_call;
use crate::{signals, terminal};
use patches::Found;

pub(crate) use b4::b4_check;

/// The file with the answer to a series.
const ANSWER: &str = "mail.txt";

/// Checks the patches and gives the exit code.
pub(crate) fn check(args: &Check, color: bool) -> Result<u8> {
    if let Some(mailbox) = &args.watch {
        return watch::watch(args, mailbox);
    }
    let found = patches::find(args)?;
    let wanted = [(args.mail.is_some(), "--mail"), (args.send, "--send")].into_iter().find(|(said, _)| *said);
    if let Some((_, option)) = wanted.filter(|_| found.reply.is_none()) {
        let text = format!("{option}: {} was not sent, so there is nobody to answer", found.name);
        return Err(WrongUsage(text).into());
    }
    report_file::check([("--html", &args.html), ("--mail", &args.mail)])?;
    let checked = Checked::of(&args.how, found, args.how.build_only)?;
    checked.print(args, color)?;
    if args.send && !checked.send()? {
        return Ok(BROKEN);
    }
    Ok(checked.exit_code())
}

/// What came of patches, and where it is kept.
struct Checked {
    kept: Figures,
    found: SeriesCheck,
    answer: Option<Answer>,
}

impl Checked {
    /// Checks patches while the user looks on, and keeps what was found.
    fn of(how: &HowToCheck, patches: Found, build_only: bool) -> Result<Self> {
        let Found { patches, reply, name, notes } = patches;
        let interrupt = signals::interrupt_flag().context("signals")?;
        let root = how.results.clone().unwrap_or_else(ledger::checks_root);
        let mut progress = terminal::Progress::new();
        Budget::Checks.make_room(&root).iter().for_each(|note| progress.note(note));
        let kept = Figures::create(&root, &stamp(Timestamp::now()))?;
        let request = how.request(patches.keep(&kept, &how.tree)?, build_only);
        kept.keep(REQUEST, &request)?;
        let _hold = kept.hold()?;
        notes.iter().for_each(|note| progress.note(note));
        let environment = Environment {
            backend: &HostBackend,
            interrupt: &interrupt,
            folder: std::path::absolute(kept.directory()).context("--results")?,
            sessions: ledger::default_root(),
            bisections: ledger::bisections_root(),
            measurements: ledger::figures_root(),
        };
        let found = ::check::check(&request, &environment, &mut |news| match news {
            Progress::Working(text) => progress.tell(News::Step(&text)),
            Progress::Known(text) | Progress::Note(text) => progress.note(&text),
        });
        // Without a result there is nothing to keep.
        let mut found = found.inspect_err(|_| drop(std::fs::remove_dir_all(kept.directory())))?;
        found.notes.splice(0..0, notes);
        write(&kept.path(&format!("{CHECK}.json")), |out| report::check::json(&found, out))?;
        let typed = this_call();
        write(&kept.path(PAGE), |out| report::check::html(&found, &typed, out))?;
        let answer =
            reply.map(|reply| answer(reply, request.words(&name, ".", &found.base.hash))).transpose()?;
        if let Some(answer) = &answer {
            write(&kept.path(ANSWER), |out| report::check::mail(&found, answer, out))?;
        }
        Ok(Self { kept, found, answer })
    }

    /// Prints what was found, and writes the answer where the user wants it.
    fn print(&self, args: &Check, color: bool) -> Result<()> {
        let Self { found, answer, .. } = self;
        if let Some(path) = &args.html {
            let typed = this_call();
            write(path, |out| report::check::html(found, &typed, out))?;
        }
        if let Some((path, answer)) = args.mail.as_ref().zip(answer.as_ref()) {
            write(path, |out| report::check::mail(found, answer, out))?;
        }
        if args.json {
            return Ok(standard_output(|out| report::check::json(found, out))?);
        }
        let width = crate::figures::width();
        standard_output(|out| report::check::text(found, width, color, out))?;
        let also = match answer {
            Some(_) => format!("; {ANSWER} is the answer to the series"),
            None => String::new(),
        };
        Ok(standard_output(|out| writeln!(out, "\nresults in {}{also}", self.place()))?)
    }

    /// Sends the answer; false if it was not sent.
    fn send(&self) -> Result<bool> {
        // Standard output belongs to the check.
        let mut tell = |line: &str| {
            complain(line);
            Ok(())
        };
        crate::mail::send(&[self.kept.path(ANSWER)], &mut tell)
    }

    /// Where it is kept, for people.
    fn place(&self) -> String {
        report::safe(&self.kept.directory().display().to_string())
    }

    fn exit_code(&self) -> u8 {
        match self.found.verdict {
            Verdict::Same | Verdict::Better => 0,
            Verdict::Worse | Verdict::Different => FAULT,
            Verdict::Undecided => BROKEN,
        }
    }
}

/// What the answer says besides what was found.
fn answer(reply: series::Reply, command: Vec<String>) -> Result<Answer> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let sender = crate::find::in_context(&interrupt, crate::series::committer)?;
    Ok(Answer { reply, sender, command })
}
