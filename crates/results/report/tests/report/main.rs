//! Reports of whole sessions.
//!
//! * [`sessions`]: sessions that are written down
//! * [`snapshots`]: what each report makes of them
//! * [`repeats`]: cases that were run more than once
//! * [`streams`]: sessions at random
//! * [`transcript`]: sessions of experiments; [`trends`]: figures over the history of kernels
//! * [`comparisons`]: comparisons and measurements that are written down
//! * [`compare`]: what is printed of them
//! * [`bisections`]: bisections that are written down
//! * [`bisection`]: what is printed of them
//! * [`bisecting`]: how their progress is shown; [`underway`]: as a page
//! * [`mod@series`]: patch series; [`checks`]: what came of checking them
//! * [`problems`]: identical failures; [`matrices`]: kernels beside each other
//! * [`pages`]: pages in a browser
//! * [`ktap_reader`]: KTAP as the kernel's document has it
//! * [`ktap`], [`junit`], [`terminal`], [`errors`]: what must hold for every session

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bisecting;
mod bisection;
mod bisections;
mod checks;
mod compare;
mod comparisons;
mod errors;
mod junit;
mod ktap;
mod ktap_reader;
mod markdown;
mod matrices;
mod pages;
mod problems;
mod repeats;
mod series;
mod sessions;
mod snapshots;
mod streams;
mod terminal;
mod transcript;
mod trends;
mod underway;
