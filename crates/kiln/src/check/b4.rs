//! `kiln b4-check`: kiln in b4's own review, as its review-series-check-cmd and review-perpatch-check-cmd.

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use kernel::files::{self, Limit};
use report::check::b4;
use serde::Deserialize;
use series::{MAIL_MAX, Mail};

use super::Checked;
use super::patches::Found;
use crate::cli::{B4Check, HowToCheck, Source};
use crate::failure::{FAULT, WrongUsage, message};
use crate::listeners::standard_output;

/// Names a file about the series under review.
const TRACKING: &str = "B4_TRACKING_FILE";

const LIMIT: Limit = Limit { what: "b4's tracking data", bytes: 64 << 20 };

/// What b4 tracks, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Tracking {
    series: TrackedSeries,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TrackedSeries {
    change_id: String,
    /// How many patches it has.
    expected: u32,
    first_patch_commit: String,
}

/// Checks the patches of the mail on standard input and gives the exit code.
pub(crate) fn b4_check(args: &B4Check) -> Result<u8> {
    let checked =
        mail().and_then(|mail| Checked::of(&args.how, args.find(&mail)?, args.patch || args.how.build_only));
    let results = match &checked {
        Ok(checked) => b4::results(&checked.found, args.patch),
        // b4 takes no output for a failure of the patches.
        Err(error) => b4::not_checked(message(error).trim_start_matches("kiln: ")),
    };
    standard_output(|out| b4::json(&results, out))?;
    Ok(Some(checked?.exit_code()).filter(|&code| code != FAULT).unwrap_or(0))
}

impl B4Check {
    /// The patches that the mail is about.
    fn find(&self, mail: &Mail) -> Result<Found> {
        let number = mail.subject.counter.map_or(1, |counter| counter.number);
        let upto = self.patch.then_some(number.max(1));
        match std::env::var_os(TRACKING).map(|path| Tracking::read(Path::new(&path))).transpose()? {
            Some(tracking) => tracking.series.find(upto),
            None => self.how.find_thread(mail, upto),
        }
    }
}

impl HowToCheck {
    /// The patches of the mail's thread, up to one of them.
    fn find_thread(&self, mail: &Mail, upto: Option<u32>) -> Result<Found> {
        let source = Source { source: Some(mail.id.clone()), ..Source::default() };
        let threads = source.threads()?;
        let all = series::series(&threads);
        let mut assembled = source.one(&threads, &all)?;
        assembled.patches.retain(|&number, _| upto.is_none_or(|upto| number <= upto));
        let wanted = upto.unwrap_or(assembled.total) as usize;
        if assembled.patches.len() < wanted {
            return Err(WrongUsage(format!("{}: patches are missing in its thread", mail.id)).into());
        }
        Found::series(self, &assembled)
    }
}

impl Tracking {
    fn read(path: &Path) -> Result<Self> {
        let text = files::read(path, LIMIT)?;
        serde_json::from_slice(&text).with_context(|| format!("{TRACKING} {}", path.display()))
    }
}

impl TrackedSeries {
    /// The commits of b4's review branch: above the patches is one with what b4 tracks.
    fn find(&self, upto: Option<u32>) -> Result<Found> {
        let Self { change_id, expected, first_patch_commit } = self;
        let above = match upto {
            None => 0,
            Some(upto) => expected
                .checked_sub(upto)
                .with_context(|| format!("b4 tracks {expected} patches, and this is number {upto}"))?,
        };
        let last = format!("b4/review/{change_id}~{}", above + 1);
        Ok(Found::commits(change_id, format!("{first_patch_commit}^"), last))
    }
}

fn mail() -> Result<Mail> {
    let mut raw = Vec::new();
    io::stdin().take(MAIL_MAX as u64 + 1).read_to_end(&mut raw).context("standard input")?;
    let first = Mail::read(&raw, 1).into_iter().next();
    first.filter(Mail::was_sent).ok_or_else(|| WrongUsage("standard input: no mail in it".to_owned()).into())
}
