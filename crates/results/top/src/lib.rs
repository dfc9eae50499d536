//! What the ledger knows, on a terminal: sessions as they run, what changed, problems, and the evidence for each.
//!
//! Data goes one way, from the ledger to a frame:
//!
//! * [`reader`]: the ledger becomes a [`Look`], and what is opened becomes lines
//! * [`look`]: what there is at a moment
//! * [`state`]: a [`State`] changes by an [`Input`], which may have an [`Effect`]; [`keys`]: what keys mean
//! * [`views`]: a file for each view: from a look to a table, or a page that is opened; [`tabs`]: those that are always there
//! * [`table`], [`list`], [`pager`]: lists, what is selected in them, and text that is scrolled and searched
//! * [`draw`](mod@draw): a state becomes a frame; [`areas`]: what is where; [`paint`]: text into a frame; [`mascot`]: the joke
//!
//! Nothing here reads a key or writes to a terminal: whoever has one does.

mod areas;
mod draw;
#[cfg(test)]
mod fixture;
mod keys;
mod list;
mod look;
mod mascot;
mod pager;
mod paint;
mod reader;
mod state;
mod table;
mod tabs;
mod views;

pub use draw::draw;
pub use look::{
    ChangeRow, Child, Look, News, Offer, OfferedKernel, OfferedSuite, ProblemRow, RunRow, SessionRow,
    SessionState,
};
pub use reader::{Error, Reader};
pub use state::{Effect, Input, Options, State};
