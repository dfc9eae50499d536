//! `kiln check --watch`: every series that arrives in a mailbox is checked.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use judge::exit::INTERRUPTED;
use kernel::files::hash;
use ledger::Journal;
use serde::{Deserialize, Serialize};
use series::{Assembled, Choice, Mailbox, Threads, assemble};

use super::Checked;
use super::patches::vouched;
use crate::cli::{Check, Source};
use crate::failure::{complain, message};
use crate::listeners::standard_output;
use crate::series::ignored;
use crate::signals;

/// How often the mailbox is looked at.
const TICK: Duration = Duration::from_secs(1);

/// Digits of the name of a mailbox.
const NAME: usize = 16;

/// Checks what arrives until the user wants to stop, and gives the exit code.
pub(super) fn watch(args: &Check, mailbox: &Path) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let mut seen = Seen::open(mailbox, args)?;
    let mut before = None;
    while !interrupt.load(Ordering::Relaxed) {
        // What arrives while it is read changes it again.
        let now = changed(mailbox);
        if before.as_ref() != Some(&now) {
            round(args, mailbox, &mut seen)?;
            before = Some(now);
        }
        sleep(TICK);
    }
    Ok(INTERRUPTED)
}

/// When a mailbox was changed last: itself, and the folders of a maildir.
fn changed(mailbox: &Path) -> Vec<Option<(SystemTime, u64)>> {
    let paths = [mailbox.to_owned(), mailbox.join("cur"), mailbox.join("new")];
    let changed = |path: &PathBuf| {
        let facts = fs::metadata(path).ok()?;
        Some((facts.modified().ok()?, facts.len()))
    };
    paths.iter().map(changed).collect()
}

/// Checks the series that have not been seen.
fn round(args: &Check, mailbox: &Path, seen: &mut Seen) -> Result<()> {
    let threads = Threads::new(Mailbox::open(mailbox)?.mails);
    let is_first = seen.is_new;
    for series in &series::series(&threads) {
        let Some(mut assembled) = assemble(&threads, series, Choice::default()) else { continue };
        let Some(id) = whole(&assembled).filter(|id| !seen.ids.contains(*id)) else { continue };
        if !is_first {
            assembled.ignore(&ignored()?);
            check(args, mailbox, &assembled)?;
        }
        seen.add(id)?;
    }
    if is_first {
        let count = seen.ids.len();
        complain(&format!("{}: {count} series are there already; new ones are checked", mailbox.display()));
        seen.begin()?;
    }
    Ok(())
}

/// What names a revision that has arrived as a whole.
fn whole<'a>(assembled: &Assembled<'a>) -> Option<&'a str> {
    let head = assembled.head().filter(|head| head.was_sent())?;
    assembled.missing().is_empty().then_some(head.id.as_str())
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
    ids: HashSet<String>,
    /// Nobody has watched this mailbox before.
    is_new: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    /// All that was there has been seen.
    Begun,
    /// A series, by the message id of its first mail.
    Series(String),
}

impl Seen {
    fn open(mailbox: &Path, args: &Check) -> Result<Self> {
        let path = mailbox.canonicalize().with_context(|| mailbox.display().to_string())?;
        let root = args.how.results.clone().unwrap_or_else(ledger::checks_root);
        let name = format!(".watched-{}", &hash(path.as_os_str().as_encoded_bytes())[..NAME]);
        let (journal, entries) = Journal::open::<Entry>(&root.join(name))?;
        let is_new = !entries.iter().any(|entry| matches!(entry, Entry::Begun));
        let id = |entry| match entry {
            Entry::Series(id) => Some(id),
            Entry::Begun => None,
        };
        Ok(Self { journal, ids: entries.into_iter().filter_map(id).collect(), is_new })
    }

    fn add(&mut self, id: &str) -> Result<()> {
        self.journal.append(&Entry::Series(id.to_owned()))?;
        self.ids.insert(id.to_owned());
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        self.is_new = false;
        Ok(self.journal.append(&Entry::Begun)?)
    }
}
