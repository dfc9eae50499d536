//! `kiln series`: what mails say.

mod am;
mod based;
mod signed;
mod source;

pub(crate) use am::{committer, written};
pub(crate) use signed::heed;
pub(crate) use source::ignored;

use anyhow::Result;
use report::series::{Findings, series_difference, series_json, series_text};
use series::{Assembled, Choice, Mail, Series, assemble, pairs};

use crate::cli::{self, Diff, SeriesVerb, Show, Source};
use crate::failure::WrongUsage;
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
    let mut shown: Vec<(&Series, Assembled<'_>)> = chosen
        .into_iter()
        .filter_map(|series| Some((series, assemble(&threads, series, args.source.choice())?)))
        .collect();
    let ignored = source::ignored()?;
    shown.iter_mut().for_each(|(_, assembled)| assembled.ignore(&ignored));
    let patches = shown.iter().flat_map(|(_, assembled)| mails(assembled));
    let (_, attested) = args.signatures.of(&args.source, None, patches)?;
    let mut text = String::new();
    for (series, assembled) in &shown {
        let findings = Findings { attested: attested.as_ref(), base: args.in_tree.base(assembled)? };
        text += &match args.json {
            true => format!("{}\n", series_json(series, assembled, &findings)),
            false => format!(
                "{}{}",
                if text.is_empty() { "" } else { "\n" },
                series_text(series, assembled, &findings, color)
            ),
        };
    }
    standard_output(|out| out.write_all(text.as_bytes()))?;
    Ok(0)
}

/// The mails with the patches of a revision.
pub(crate) fn mails<'a>(assembled: &Assembled<'a>) -> impl Iterator<Item = &'a Mail> {
    assembled.patches.values().map(|patch| patch.mail)
}

fn diff(args: &Diff, color: bool) -> Result<u8> {
    let source = Source {
        source: Some(args.source.clone()),
        mailbox: args.mailbox.clone(),
        no_cache: args.no_cache,
        ..Source::default()
    };
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
