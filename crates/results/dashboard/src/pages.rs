//! The pages.
//!
//! * [`overview`](mod@overview): what there is, and what runs; [`news`]: what changed lately
//! * [`matrix`](mod@matrix): a suite on several kernels; [`kernel`](mod@kernel): all of one kernel; [`case`](mod@case): a case over time
//! * [`runs`](mod@runs): Runs of all sessions; [`session`](mod@session): a session, or one Run of it
//! * [`problems`](mod@problems): failures that are alike; [`problem`](mod@problem): all of one
//! * [`experiment`](mod@experiment): what an experiment recorded over time
//! * [`conclusions`](mod@conclusions): comparisons, bisections and checks; [`bisection`](mod@bisection): one as it goes
//! * [`host`](mod@host): what kiln runs on, and what waits there; [`jobs`](mod@jobs): what browsers had started

mod bisection;
mod case;
mod conclusions;
mod experiment;
mod host;
mod jobs;
mod kernel;
mod matrix;
mod news;
mod overview;
mod problem;
mod problems;
mod runs;
mod session;

use judge::{Outcome, Summary};
use ledger::{LedgerError, PastError, RunsQuery};
use maud::{Markup, html};
use report::html::{Page, text};
use report::tally_text;
use serde::Deserialize;

pub(crate) use bisection::bisection;
pub(crate) use case::case;
pub(crate) use conclusions::conclusions;
pub(crate) use experiment::experiment;
pub(crate) use host::host;
pub(crate) use jobs::{Wanted, jobs};
pub(crate) use kernel::kernel;
pub(crate) use matrix::matrix;
pub(crate) use overview::overview;
pub(crate) use problem::problem;
pub(crate) use problems::problems;
pub(crate) use runs::{runs, runs_csv};
pub(crate) use session::{run, session};

/// Most characters of a pattern, and of a name.
const PATTERN_MAX: usize = 1000;

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

impl Failure {
    /// In words.
    pub(crate) fn why(&self) -> &str {
        let (Self::Unknown(why) | Self::Wrong(why) | Self::Broken(why)) = self;
        why
    }
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

/// A table that sorts: its heads, and its rows. A head that begins with `#` is that of figures, and one with `-` is spared on a
/// narrow screen.
fn table(heads: &[&str], rows: &Markup) -> Markup {
    html! {
        div.wide {
            table class="metrics sortable searchable" {
                thead {
                    tr {
                        @for head in heads {
                            @match (head.strip_prefix('#'), head.strip_prefix('-')) {
                                (Some(figure), _) => th scope="col" class="figure" { (figure) },
                                (None, Some(spared)) => th scope="col" class="spared" { (spared) },
                                (None, None) => th scope="col" { (head) },
                            }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

/// How the Runs of a session ended, in the colour of the worst.
fn tally(summary: Summary) -> Markup {
    let failures = summary.fail + summary.crash + summary.hang;
    let counts = tally_text(summary);
    html! {
        @if counts.is_empty() { "none" }
        @else { span class={ "outcome " (if failures > 0 { "fail" } else { "pass" }) } { (counts) } }
    }
}

/// The page that says what went wrong.
pub(crate) fn failure(failure: &Failure) -> Page {
    Page { title: "Not there".to_owned(), body: html! { main { h1 { (text(failure.why())) } } } }
}
