//! The pages.
//!
//! * [`overview`](mod@overview): what there is, and what runs; [`runs`](mod@runs): Runs of all sessions; [`problems`](mod@problems): failures that are alike
//! * [`session`](mod@session): a session, or one Run of it

mod overview;
mod problems;
mod runs;
mod session;

use judge::Outcome;
use ledger::{LedgerError, PastError, RunsQuery};
use maud::html;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use report::html::{Page, text};
use serde::Deserialize;

pub(crate) use overview::overview;
pub(crate) use problems::problems;
pub(crate) use runs::{runs, runs_csv};
pub(crate) use session::{run, session};

/// What has another meaning in an address: RFC 3986.
const RESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Most characters of a pattern.
const PATTERN_MAX: usize = 200;

/// What an address asks, all of it perhaps empty: forms send each of their fields.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    pub(crate) kernel: String,
    pub(crate) suite: String,
    pub(crate) case: String,
    /// Separated by commas.
    pub(crate) outcome: String,
}

/// Why there is no page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is no such thing.
    Unknown(String),
    /// The address asks for what cannot be.
    Wrong(String),
    /// The ledger or kiln.
    Broken(String),
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        if error.is_usage() { Self::Unknown(error.to_string()) } else { Self::Broken(error.to_string()) }
    }
}

impl From<PastError> for Failure {
    fn from(error: PastError) -> Self {
        if error.is_usage() { Self::Unknown(error.to_string()) } else { Self::Broken(error.to_string()) }
    }
}

impl Asked {
    /// Its fields by their names.
    fn fields(&self) -> [(&'static str, &str); 4] {
        [("kernel", &self.kernel), ("suite", &self.suite), ("case", &self.case), ("outcome", &self.outcome)]
    }

    /// The query for at most so many Runs.
    fn query(&self, limit: Option<usize>) -> Result<RunsQuery, Failure> {
        Ok(RunsQuery {
            kernel: pattern(&self.kernel)?,
            suite: pattern(&self.suite)?,
            case: pattern(&self.case)?,
            outcomes: self.outcomes()?,
            limit,
            ..RunsQuery::default()
        })
    }

    fn outcomes(&self) -> Result<Vec<Outcome>, Failure> {
        let names = self.outcome.split(',').map(str::trim).filter(|name| !name.is_empty());
        let outcome = |name| {
            let all = Outcome::ALL.map(Outcome::name).join(", ");
            Outcome::named(name).ok_or_else(|| Failure::Wrong(format!("{name:?} is none of {all}")))
        };
        names.map(outcome).collect()
    }
}

fn pattern(text: &str) -> Result<Option<String>, Failure> {
    if text.chars().count() > PATTERN_MAX {
        return Err(Failure::Wrong(format!("a pattern has at most {PATTERN_MAX} characters")));
    }
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

/// Where a Run is.
fn address(session: &str, case: &str) -> String {
    format!("/session/{}/{}", encoded(session), encoded(case))
}

/// A text as a part of an address, with its slashes.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The page that says what went wrong.
pub(crate) fn failure(failure: &Failure) -> Page {
    let (Failure::Unknown(why) | Failure::Wrong(why) | Failure::Broken(why)) = failure;
    Page { title: "Not there".to_owned(), body: html! { header { h1 { (text(why)) } } } }
}
