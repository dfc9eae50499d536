//! Where the mails of a series are.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ::archive::{Folder, Link, Server, Settings};
use anyhow::{Context, Result};
use report::series::series_list;
use series::{Assembled, BYTES_MAX, Choice, Mailbox, Person, Series, Threads, assemble};

use crate::cli::Source;
use crate::failure::{WrongUsage, complain};
use crate::find::in_context;
use crate::signals;

impl Source {
    /// The mails, as threads.
    pub(crate) fn threads(&self) -> Result<Threads> {
        let mailbox = match (self.path(), self.link()) {
            (Some(path), link) => open(&path, link.as_ref())?,
            (None, Some(link)) => self.fetch(&link)?,
            (None, None) => return Err(WrongUsage(format!("{}: no such file", self.name())).into()),
        };
        if mailbox.too_large > 0 {
            complain(&format!("{} mails of more than 16 MiB are left out", mailbox.too_large));
        }
        Ok(Threads::new(mailbox.mails))
    }

    /// The series that the message id is of, or all.
    pub(super) fn choose<'a>(&self, threads: &Threads, all: &'a [Series]) -> Result<Vec<&'a Series>> {
        let found: Vec<&Series> = match self.link() {
            None => all.iter().collect(),
            Some(link) => {
                let mail = threads.find(&link.id).ok_or_else(|| missing(&link))?;
                all.iter().filter(|series| series.holds(threads, mail)).collect()
            }
        };
        if found.is_empty() {
            return Err(WrongUsage(format!("{}: no patch in it", self.name())).into());
        }
        let has = |series: &Series| !series.candidates(self.revision).is_empty();
        if let Some(revision) = self.revision.filter(|_| !found.iter().any(|series| has(series))) {
            return Err(WrongUsage(format!("{}: no v{revision} in it", self.name())).into());
        }
        Ok(found.into_iter().filter(|series| has(series)).collect())
    }

    /// The revision of the only series.
    pub(crate) fn one<'a>(&self, threads: &'a Threads, all: &[Series]) -> Result<Assembled<'a>> {
        let assembled = assemble(threads, self.only(threads, all)?, self.choice());
        let mut assembled = assembled.context("a series has a revision")?;
        assembled.ignore(&ignored()?);
        Ok(assembled)
    }

    /// The same, of which no patch is missing.
    pub(crate) fn whole<'a>(&self, threads: &'a Threads, all: &[Series]) -> Result<Assembled<'a>> {
        let assembled = self.one(threads, all)?;
        match assembled.missing().len() {
            0 => Ok(assembled),
            missing => {
                let text = format!("{}: {missing} of {} patches are missing", self.name(), assembled.total);
                Err(WrongUsage(text).into())
            }
        }
    }

    /// The only series.
    pub(super) fn only<'a>(&self, threads: &Threads, all: &'a [Series]) -> Result<&'a Series> {
        let found = self.choose(threads, all)?;
        if let [series] = found[..] {
            return Ok(series);
        }
        let found: Vec<Series> = found.into_iter().cloned().collect();
        let text = format!(
            "{}: {} series in it: name one by a message id, with -m for the mailbox\n{}",
            self.name(),
            found.len(),
            series_list(threads, &found).trim_end(),
        );
        Err(WrongUsage(text).into())
    }

    pub(super) fn choice(&self) -> Choice {
        Choice {
            revision: self.revision,
            takes_foreign_trailers: self.sloppy_trailers,
            applies_cover_trailers: self.apply_cover_trailers,
            no_partial_reroll: self.no_partial_reroll,
        }
    }

    /// The file or folder with the mails, if they are on this host.
    fn path(&self) -> Option<PathBuf> {
        let named = || self.source.as_ref().map(PathBuf::from);
        let is_here = |path: &PathBuf| path == Path::new("-") || path.exists();
        self.mailbox.clone().or_else(|| named().filter(is_here))
    }

    /// The mail that is named, rather than a mailbox.
    fn link(&self) -> Option<Link> {
        let source = self.source.as_deref()?;
        let is_mailbox = self.mailbox.is_none() && self.path().is_some();
        if is_mailbox { None } else { Link::parse(source) }
    }

    /// Whether the mails come from a server.
    pub(super) fn is_fetched(&self) -> bool {
        self.path().is_none()
    }

    fn fetch(&self, link: &Link) -> Result<Mailbox> {
        let interrupt = signals::interrupt_flag().context("signals")?;
        in_context(&interrupt, |context| {
            let settings = Settings::read(link, context)?;
            Ok(Server::new(settings, !self.no_cache, context).related(link, context)?)
        })
    }

    pub(crate) fn name(&self) -> String {
        match (&self.mailbox, &self.source) {
            (Some(mailbox), _) => mailbox.display().to_string(),
            (None, source) => source.clone().unwrap_or_default(),
        }
    }
}

/// Addresses of which the user wants no trailers: `b4.trailers-ignore-from`, separated by commas.
pub(crate) fn ignored() -> Result<Vec<String>> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let found = in_context(&interrupt, |context| history::setting("b4.trailers-ignore-from", context))?;
    let address =
        |text: &str| Person::parse(text).map_or_else(|| text.trim().to_owned(), |person| person.address);
    Ok(found.unwrap_or_default().split(',').map(address).collect())
}

fn missing(link: &Link) -> WrongUsage {
    WrongUsage(format!("{}: no mail has this message id", link.id))
}

/// A mailbox, or what belongs to a mail in an archive, or its newest mails.
fn open(path: &Path, link: Option<&Link>) -> Result<Mailbox> {
    if path == Path::new("-") {
        return standard_input();
    }
    let Some(archive) = Folder::at(path) else { return Ok(Mailbox::open(path)?) };
    let interrupt = signals::interrupt_flag().context("signals")?;
    in_context(&interrupt, |context| match link {
        Some(link) => Ok(archive.related(&link.id, context)?.ok_or_else(|| missing(link))?),
        None => Ok(archive.newest(context)?),
    })
}

fn standard_input() -> Result<Mailbox> {
    let mut bytes = Vec::new();
    io::stdin().take(BYTES_MAX + 1).read_to_end(&mut bytes).context("standard input")?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(WrongUsage(format!("standard input: more than {} MiB", BYTES_MAX >> 20)).into());
    }
    Ok(Mailbox::parse(bytes)?)
}
