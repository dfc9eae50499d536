//! A headless Chromium that reads kiln's pages, and judges them. Only tests and the benchmark know this crate.
//!
//! * [`chromium`]: the program; [`tab`]: a page that it shows; [`keys`]: what a person presses
//! * [`connection`]: how it is spoken to; [`incident`]: what no page may do
//! * [`checks`]: what every page promises; [`hostile`]: texts that want to be more than text
//!
//! The browser is Debian's; `scripts/setup proof` installs it, and axe-core of npm.

mod checks;
mod chromium;
mod connection;
mod hostile;
mod incident;
mod keys;
mod tab;

pub use checks::{Expected, faults};
pub use chromium::Browser;
pub use hostile::{HOSTILE, hostile_lines};
pub use keys::Key;
pub use tab::{Look, NARROW, Tab, WIDE};

use thiserror::Error;

/// Why nothing is known of a page.
#[derive(Debug, Error)]
pub enum Error {
    /// A program or file is not there.
    #[error("{what}: {why}: run scripts/setup proof")]
    Missing {
        /// The program or file.
        what: String,
        /// What the host says.
        why: String,
    },
    /// The host refuses.
    #[error("the browser: {0}")]
    Io(#[from] std::io::Error),
    /// The browser has ended.
    #[error("the browser ended while it was asked for {asked}\n{log}")]
    Ended {
        /// The method that was called.
        asked: String,
        /// What it printed.
        log: String,
    },
    /// It does not do what it is asked.
    #[error("{method}: {why}")]
    Refused {
        /// The method that was called.
        method: String,
        /// What it answers.
        why: String,
    },
    /// Something that is sure to come does not.
    #[error("waited in vain: {0}")]
    Late(String),
    /// A script of the test threw something.
    #[error("a script of the test: {0}")]
    Script(String),
}
