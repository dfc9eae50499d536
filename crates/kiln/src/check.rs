//! `kiln check`: patches are built, tested and compared with what was there before.
//!
//! * [`patches`]: which patches, on which commit; [`request`]: what is asked of them

mod patches;
mod request;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ::check::{CheckRequest, Environment, Progress, SeriesCheck, Verdict};
use anyhow::{Context, Result};
use jiff::Timestamp;
use judge::exit::BROKEN;
use kernel::News;
use lab::HostBackend;
use lab::event::stamp;
use ledger::{Budget, CHECK, Figures, REQUEST};
use report::check::Answer;

use crate::cli::Check;
use crate::failure::{FAULT, WrongUsage, complain};
use crate::listeners::standard_output;
use crate::{signals, terminal};
use patches::Found;

/// The file with the answer to a series.
const ANSWER: &str = "mail.txt";

/// Checks the patches and gives the exit code.
pub(crate) fn check(args: &Check, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let Found { patches, reply, name, note } = patches::find(args)?;
    let wanted = [(args.mail.is_some(), "--mail"), (args.send, "--send")].into_iter().find(|(said, _)| *said);
    if let Some((_, option)) = wanted.filter(|_| reply.is_none()) {
        let text = format!("{option}: {name} was not sent, so there is nobody to answer");
        return Err(WrongUsage(text).into());
    }
    let root = args.results.clone().unwrap_or_else(ledger::checks_root);
    let mut progress = terminal::Progress::new();
    Budget::Checks.make_room(&root).iter().for_each(|note| progress.note(note));
    let kept = Figures::create(&root, &stamp(Timestamp::now()))?;
    let request = args.request(patches.keep(&kept, &args.tree)?);
    kept.keep(REQUEST, &request)?;
    note.iter().for_each(|note| progress.note(note));
    let environment = Environment {
        backend: &HostBackend,
        interrupt: &interrupt,
        sessions: ledger::default_root(),
        bisections: ledger::bisections_root(),
        measurements: ledger::figures_root(),
    };
    let mut found = ::check::check(&request, &environment, &mut |news| match news {
        Progress::Working(text) => progress.tell(News::Step(&text)),
        Progress::Known(text) | Progress::Note(text) => progress.note(&text),
    })?;
    drop(progress);
    found.notes.splice(0..0, note);
    let answer = reply.map(|reply| answer(reply, &request, &name)).transpose()?;
    Results { args, kept: &kept, found: &found, answer: answer.as_ref() }.write(color)?;
    // Standard output belongs to the check.
    let mut tell = |line: &str| {
        complain(line);
        Ok(())
    };
    if args.send && !crate::mail::send(&[kept.path(ANSWER)], &mut tell)? {
        return Ok(BROKEN);
    }
    Ok(match found.verdict {
        Verdict::Same | Verdict::Better => 0,
        Verdict::Worse | Verdict::Different => FAULT,
        Verdict::Undecided => BROKEN,
    })
}

/// What the answer says besides what was found.
fn answer(reply: series::Reply, request: &CheckRequest, name: &str) -> Result<Answer> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let sender = crate::find::in_context(&interrupt, crate::series::Committer::read)?;
    Ok(Answer { reply, sender: sender.map(|sender| sender.0), command: request.words(name, ".") })
}

/// Where results go.
struct Results<'a> {
    args: &'a Check,
    kept: &'a Figures,
    found: &'a SeriesCheck,
    answer: Option<&'a Answer>,
}

impl Results<'_> {
    fn write(&self, color: bool) -> Result<()> {
        let Self { args, kept, found, answer } = *self;
        write(&kept.path(&format!("{CHECK}.json")), |out| report::check::json(found, out))?;
        if let Some(answer) = answer {
            let paths = [Some(kept.path(ANSWER)), args.mail.clone()];
            for path in paths.iter().flatten() {
                write(path, |out| report::check::mail(found, answer, out))?;
            }
        }
        if args.json {
            return Ok(standard_output(|out| report::check::json(found, out))?);
        }
        let width = crate::figures::width();
        standard_output(|out| report::check::text(found, width, color, out))?;
        let folder = report::safe(&kept.directory().display().to_string());
        let also =
            if answer.is_some() { format!("; the answer to the series is {ANSWER}") } else { String::new() };
        Ok(standard_output(|out| writeln!(out, "\nresults in {folder}{also}"))?)
    }
}

fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let shown = || path.display().to_string();
    let mut file = BufWriter::new(File::create(path).with_context(shown)?);
    content(&mut file).and_then(|()| file.flush()).with_context(shown)
}
