//! `kiln check --watch`: every series that arrives in a mailbox is checked.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use judge::exit::INTERRUPTED;
use kernel::PartsHash;
use kernel::files::hash;
use ledger::Journal;
use series::{Assembled, Choice, Mailbox, Threads, assemble};

use super::Checked;
use super::patches::vouched;
use crate::cli::{Check, Source};
use crate::failure::{complain, message};
use crate::listeners::standard_output;
use crate::series::{ignored, mails};
use crate::signals;

/// How often the mailbox is looked at.
const TICK: Duration = Duration::from_secs(1);

/// How many times a mailbox must look the same before it is read.
const QUIET: u32 = 2;

/// Digits of the name of a mailbox.
const NAME: usize = 16;

/// Checks what arrives until the user wants to stop, and gives the exit code.
pub(super) fn watch(args: &Check, mailbox: &Path) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let mut seen = Seen::open(mailbox)?;
    let (mut before, mut checked, mut quiet) = (None, None, 0);
    while !interrupt.load(Ordering::Relaxed) {
        let now = changed(mailbox);
        quiet = if before.as_ref() == Some(&now) { quiet + 1 } else { 0 };
        // Who writes a mailbox in place may have written half a mail.
        if quiet >= QUIET && checked.as_ref() != Some(&now) {
            round(args, mailbox, &mut seen)?;
            checked = Some(now.clone());
        }
        before = Some(now);
        sleep(TICK);
    }
    Ok(INTERRUPTED)
}

/// How a mailbox was last: when it and the files in it were changed, and how large they are.
fn changed(mailbox: &Path) -> Vec<Option<(PathBuf, SystemTime, u64)>> {
    let listed =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    // A mail of a maildir does not change any more.
    let folders = [mailbox.join("cur"), mailbox.join("new")];
    let files: Vec<PathBuf> = if folders[0].is_dir() { Vec::new() } else { listed(mailbox).collect() };
    let mut all: Vec<PathBuf> = [mailbox.to_owned()].into_iter().chain(folders).chain(files).collect();
    all.sort();
    let facts = |path: PathBuf| {
        let facts = fs::metadata(&path).ok()?;
        Some((path, facts.modified().ok()?, facts.len()))
    };
    all.into_iter().map(facts).collect()
}

/// Checks the series that have not been seen.
fn round(args: &Check, mailbox: &Path, seen: &mut Seen) -> Result<()> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let mails = match Mailbox::open(mailbox) {
        Ok(mailbox) => mailbox.mails,
        // Programs of mail replace mailboxes.
        Err(error) => {
            complain(&format!("{}: {error}", mailbox.display()));
            return Ok(());
        }
    };
    let threads = Threads::new(mails);
    let mut there = Vec::new();
    for series in &series::series(&threads) {
        if interrupt.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(mut assembled) = assemble(&threads, series, Choice::default()) else { continue };
        let Some(name) = whole(&assembled).filter(|name| !seen.names.contains(name)) else { continue };
        if seen.is_new {
            there.push(name);
            continue;
        }
        assembled.ignore(&ignored()?);
        check(args, mailbox, &assembled)?;
        seen.add(vec![name])?;
    }
    if seen.is_new {
        let count = there.len();
        complain(&format!("{}: {count} series are there already; new ones are checked", mailbox.display()));
        seen.add(there)?;
    }
    Ok(())
}

/// What tells a revision from others that has arrived as a whole: all that its mails say.
fn whole(assembled: &Assembled<'_>) -> Option<String> {
    assembled.head().filter(|head| head.was_sent())?;
    let mut all = PartsHash::default();
    assembled.cover.into_iter().chain(mails(assembled)).for_each(|mail| all.part(&mail.raw));
    assembled.missing().is_empty().then(|| all.finish())
}

/// Checks a series and says what came of it. What is wrong with one series does not stop the others.
fn check(args: &Check, mailbox: &Path, assembled: &Assembled<'_>) -> Result<()> {
    let subject = assembled.head().map(|head| head.subject.text.clone()).unwrap_or_default();
    let source = Source { mailbox: Some(mailbox.to_owned()), ..Source::default() };
    let checked = vouched(args, &source, assembled)
        .and_then(|found| Checked::of(&args.how, found, args.how.build_only));
    let interrupt = signals::interrupt_flag().context("signals")?;
    if interrupt.load(Ordering::Relaxed) {
        return checked.map(drop);
    }
    match checked {
        Ok(checked) => {
            let line = report::check::line(&checked.found);
            let subject = report::safe::safe_line(&subject);
            standard_output(|out| writeln!(out, "\"{subject}\": {line}\n  results in {}", checked.place()))?;
            // A mail that was not sent stays queued, and the next call says so.
            if args.send {
                checked.send()?;
            }
        }
        Err(error) => complain(&format!("\"{subject}\" was not checked: {}", message(&error))),
    }
    Ok(())
}

/// The series of a mailbox that were checked, or were there before; kept over calls.
struct Seen {
    journal: Journal,
    names: HashSet<String>,
    /// Nobody has watched this mailbox before.
    is_new: bool,
}

impl Seen {
    /// One kiln watches a mailbox, wherever it keeps its results.
    fn open(mailbox: &Path) -> Result<Self> {
        let path = mailbox.canonicalize().with_context(|| mailbox.display().to_string())?;
        let name = format!(".watched-{}", &hash(path.as_os_str().as_encoded_bytes())[..NAME]);
        let (journal, entries) = Journal::open::<Vec<String>>(&ledger::checks_root().join(name))?;
        let is_new = entries.is_empty();
        Ok(Self { journal, names: entries.into_iter().flatten().collect(), is_new })
    }

    fn add(&mut self, names: Vec<String>) -> Result<()> {
        self.journal.append(&names)?;
        self.names.extend(names);
        self.is_new = false;
        Ok(())
    }
}
