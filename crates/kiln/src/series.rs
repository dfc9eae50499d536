//! `kiln series`: what mails say.

mod am;

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use report::series::{series_difference, series_json, series_list, series_text};
use series::{Assembled, BYTES_MAX, Choice, Mailbox, Series, Threads, assemble, pairs};

use crate::cli::{self, Diff, SeriesVerb, Show, Source};
use crate::failure::{WrongUsage, complain};
use crate::listeners::standard_output;

/// Shows a series or writes its patches, and gives the exit code.
pub(crate) fn series(args: &cli::Series, color: bool) -> Result<u8> {
    match &args.verb {
        SeriesVerb::Show(args) => show(args, color),
        SeriesVerb::Diff(args) => diff(args, color),
        SeriesVerb::Am(args) => am::am(args, color),
    }
}

fn show(args: &Show, color: bool) -> Result<u8> {
    let threads = args.source.threads()?;
    let all = series::series(&threads);
    let chosen = args.source.choose(&threads, &all)?;
    let mut text = String::new();
    for series in chosen {
        let Some(assembled) = assemble(&threads, series, args.source.choice()) else { continue };
        text += &match args.json {
            true => format!("{}\n", series_json(series, &assembled)),
            false => format!(
                "{}{}",
                if text.is_empty() { "" } else { "\n" },
                series_text(series, &assembled, color)
            ),
        };
    }
    standard_output(|out| out.write_all(text.as_bytes()))?;
    Ok(0)
}

fn diff(args: &Diff, color: bool) -> Result<u8> {
    let source =
        Source { source: Some(args.source.clone()), mailbox: args.mailbox.clone(), ..Source::default() };
    let threads = source.threads()?;
    let all = series::series(&threads);
    let series = source.only(&threads, &all)?;
    let revision = |number: Option<u32>| {
        let assembled = assemble(&threads, series, Choice { revision: number, ..Choice::default() });
        assembled
            .ok_or_else(|| WrongUsage(format!("{}: no v{} in it", source.name(), number.unwrap_or_default())))
    };
    let newer = revision(args.newer)?;
    let before =
        series.revisions.iter().map(|revision| revision.number).filter(|&number| number < newer.number).max();
    let only = || WrongUsage(format!("{}: only v{} in it", source.name(), newer.number));
    let older = revision(Some(args.older.or(before).ok_or_else(only)?))?;
    let text = series_difference(&pairs(&older, &newer), color);
    standard_output(|out| out.write_all(text.as_bytes()))?;
    Ok(0)
}

impl Source {
    /// The mails, as threads.
    fn threads(&self) -> Result<Threads> {
        let mailbox = match (&self.mailbox, self.source.as_deref()) {
            (Some(path), _) => open(path)?,
            (None, Some(source)) if source == "-" || Path::new(source).exists() => open(Path::new(source))?,
            (None, source) => return Err(nowhere(source.unwrap_or_default()).into()),
        };
        if mailbox.too_large > 0 {
            complain(&format!("{} mails of more than 16 MiB are left out", mailbox.too_large));
        }
        Ok(Threads::new(mailbox.mails))
    }

    /// The series that the message id is of, or all.
    fn choose<'a>(&self, threads: &Threads, all: &'a [Series]) -> Result<Vec<&'a Series>> {
        let found: Vec<&Series> = match self.message_id() {
            None => all.iter().collect(),
            Some(id) => {
                let missing = || WrongUsage(format!("{id}: no mail has this message id"));
                let mail = threads.find(id).ok_or_else(missing)?;
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
    fn one<'a>(&self, threads: &'a Threads, all: &[Series]) -> Result<Assembled<'a>> {
        assemble(threads, self.only(threads, all)?, self.choice()).context("a series has a revision")
    }

    /// The only series.
    fn only<'a>(&self, threads: &Threads, all: &'a [Series]) -> Result<&'a Series> {
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

    fn choice(&self) -> Choice {
        Choice {
            revision: self.revision,
            takes_foreign_trailers: self.sloppy_trailers,
            applies_cover_trailers: self.apply_cover_trailers,
            no_partial_reroll: self.no_partial_reroll,
        }
    }

    /// The id, whether it is given bare, in brackets, or as a link into an archive.
    fn message_id(&self) -> Option<&str> {
        let source = self.mailbox.as_ref().and(self.source.as_deref())?;
        let bare = source.trim_start_matches('<').trim_end_matches('>');
        Some(bare.split('/').find(|part| part.contains('@')).unwrap_or(bare))
    }

    fn name(&self) -> String {
        match (&self.mailbox, &self.source) {
            (Some(mailbox), _) => mailbox.display().to_string(),
            (None, source) => source.clone().unwrap_or_default(),
        }
    }
}

fn open(path: &Path) -> Result<Mailbox> {
    if path != Path::new("-") {
        return Ok(Mailbox::open(path)?);
    }
    let mut bytes = Vec::new();
    io::stdin().take(BYTES_MAX + 1).read_to_end(&mut bytes).context("standard input")?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(WrongUsage(format!("standard input: more than {} MiB", BYTES_MAX >> 20)).into());
    }
    Ok(Mailbox::parse(&bytes)?)
}

fn nowhere(source: &str) -> WrongUsage {
    WrongUsage(match source.contains('@') {
        true => format!("{source}: kiln reads mails that are here: give the mailbox with -m"),
        false => format!("{source}: no such file"),
    })
}
