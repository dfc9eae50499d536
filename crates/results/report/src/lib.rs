//! Runs and verdicts for people and programs.
//!
//! Every report listens to the events of a session and writes to the writer it was given. The first
//! error of that writer silences the report and comes back from its `finish`.
//!
//! * [`Live`]: one status line on a terminal, failures above it
//! * [`Plain`]: one line per event, where there is no terminal
//! * [`Human`]: the summary at the end, failures first, with their evidence
//! * [`Json`]: the events as JSON lines
//! * [`Ktap`]: KTAP version 1, for the tools of kernel people
//! * [`Junit`]: JUnit XML, for CI servers
//! * [`Transcript`]: an experiment, as it runs
//! * [`mod@compared`]: a Run beside another of the same case
//! * [`cases`]: what `kiln cases` prints
//! * [`kernels`]: what `kiln kernels` prints
//! * [`comparison`]: what `kiln compare` prints
//! * [`measurement`]: what `kiln measure` prints; [`mod@calibration`] with `--calibrate`
//! * [`Measuring`]: how far measuring is
//! * [`trend`]: what `kiln trend` prints; [`mod@matrix`]: what `kiln matrix` prints
//! * [`watch`](mod@watch): what `kiln watch` tells
//! * [`bisection`]: what `kiln bisect` prints
//! * [`Bisecting`]: how far a bisection is
//! * [`check`](mod@check): what `kiln check` prints
//! * [`findings_table`] and [`findings_json`]: what `kiln findings` prints
//! * [`mod@html`]: what all pages have in common
//! * [`mod@markdown`]: the same reports as Markdown
//! * [`mod@session`]: what `kiln report` writes about a session; [`mod@history`]: the Runs of a case as a chart
//! * [`problems_table`] and [`problems_json`]: what `kiln problems` prints; [`ShownProblem`]: all about one
//! * [`store`]: what `kiln store` prints
//! * [`export`]: what `kiln export` writes
//! * [`mod@series`]: what `kiln series` prints
//! * [`hazard`]: what `kiln hazard` prints
//! * [`mod@count`], [`latency`], [`mod@probe`], [`race`], [`sample`], [`steal`], [`stress`], [`sweep`]: what instruments report
//! * [`mod@trace`]: what `kiln trace` prints; [`mod@observe`]: what `kiln observe` prints
//! * [`Pace`]: how far a session is that another kiln runs
//! * [`mod@safe`]: guest text that cannot harm a terminal; [`style`]: colours

mod address;
mod attestation;
mod axis;
mod bisecting;
pub mod bisection;
mod calibration;
pub mod cases;
pub mod check;
mod columns;
mod compared;
pub mod comparison;
pub mod count;
mod csv;
mod estimate;
mod evidence;
pub mod export;
mod figures;
mod findings;
pub mod hazard;
mod header;
pub mod history;
pub mod html;
mod human;
mod json;
mod junit;
pub mod kernels;
mod ktap;
pub mod latency;
mod live;
pub mod markdown;
pub mod matrix;
pub mod measurement;
mod measuring;
pub mod observe;
mod pace;
mod plain;
pub mod probe;
mod problem;
mod problems;
mod progress;
pub mod race;
mod repeats;
mod results;
pub mod safe;
pub mod sample;
mod scale;
pub mod series;
pub mod session;
mod show;
mod sink;
pub mod steal;
pub mod store;
pub mod stress;
pub mod style;
pub mod sweep;
mod table;
mod times;
pub mod trace;
mod transcript;
pub mod trend;
pub mod watch;
mod words;

pub use bisecting::Bisecting;
pub use calibration::calibrated;
pub use cases::{CaseInfo, cases_json, cases_table};
pub use compared::compared;
pub use findings::{findings_json, findings_table};
pub use human::Human;
pub use json::{Json, line as json_line};
pub use junit::Junit;
pub use kernels::{kernels_json, kernels_table, pruned_json, pruned_text};
pub use ktap::Ktap;
pub use live::Live;
pub use measuring::Measuring;
pub use pace::Pace;
pub use plain::Plain;
pub use problem::ShownProblem;
pub use problems::{closed_note, problems_json, problems_table, seen_on, state};
pub use results::{results_json, results_table};
pub use safe::safe;
pub use show::{KeptRun, Shown, ShownLine};
pub use transcript::Transcript;
pub use words::{clock, seconds, tally_text, why};
