//! Lab scripts: the language, the journal.
//!
//! A script says what happens on machines, and what is expected of them. This crate knows no machines: it turns the methods
//! of the language into calls of a [`Bench`].
//!
//! What a script is:
//!
//! * [`experiment`]: a folder with a script, and its [`metadata`], which is read without running it
//! * [`folder`]: all that a script can read of the host; [`source`]: a file of it, and places in it
//! * [`check`](mod@check): what is wrong with a script, without running it
//! * `dialect`, `nesting`, `expectation`, `rewrite`, `syntax`: from text to a tree that counts what it does; `literal`: values of the tree;
//!   `declaration`: calls that are read without running anything
//! * [`matrix_plan`]: a file that says what a matrix tests
//!
//! What it asks for:
//!
//! * [`bench`](mod@bench): where its machines are; [`call`]: what it asks of them; [`describe`]: what they are made of;
//!   [`id`]: which one of them
//! * [`answer`]: what they answer; [`trouble`]: what goes wrong, by the name by which a script allows it
//! * `signature`, `kind`, `local`, [`nearest`]: the functions and methods of the language, and arguments that do not fit;
//!   [`reference`](mod@reference): all of them as a table
//!
//! How it runs:
//!
//! * `run`: its steps, one after the other; [`setup`], [`limits`]: what it is given; [`event`]: what it records
//! * [`journal`]: what a run leaves to the next one; [`verdict`]: what it concludes
//! * `load`, `execute`: evaluation; `context`: what is evaluated; `parallel`, `barrier`: branches; `random`: chance
//! * `value`, `data`: values, inside and outside of the interpreter
//! * `globals`, `steps`, `recorded`, `condition`, `comparison`, `json`, `counting`: the functions; `native`, `ask`: the methods
//! * [`problem`]: an error that points to the script; `stop`, `failure`: on the way to it; [`show`]: text of a stranger

pub mod answer;
mod ask;
mod barrier;
pub mod bench;
pub mod call;
pub mod check;
mod comparison;
mod condition;
mod context;
mod counting;
mod data;
mod declaration;
pub mod describe;
mod dialect;
pub mod event;
mod execute;
mod expectation;
pub mod experiment;
mod failure;
pub mod folder;
mod globals;
pub mod id;
pub mod journal;
mod json;
mod kind;
pub mod limits;
mod literal;
mod load;
mod local;
pub mod matrix_plan;
pub mod metadata;
mod native;
pub mod nearest;
mod nesting;
mod parallel;
mod plan;
pub mod problem;
mod random;
mod recorded;
pub mod reference;
mod rewrite;
mod run;
pub mod setup;
pub mod show;
mod signature;
pub mod source;
mod steps;
mod stop;
mod syntax;
pub mod trouble;
mod value;
pub mod verdict;

pub use answer::{Answer, CommandResult};
pub use bench::Bench;
pub use call::{Call, Request};
pub use check::check;
pub use event::{Event, Figure, Listener};
pub use experiment::Experiment;
pub use journal::{FileStore, Store};
pub use limits::Limits;
pub use metadata::Metadata;
pub use problem::Problem;
pub use setup::{KernelInfo, Mode, Setup};
pub use source::{Position, Source};
pub use trouble::{ErrorName, Trouble};
pub use verdict::Verdict;
