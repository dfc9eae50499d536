//! What can be said of mail that goes out.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `kiln mail`.
#[derive(Debug, Args)]
pub(crate) struct Mail {
    /// What to do [default: list the outbox]
    #[command(subcommand)]
    pub(crate) verb: Option<MailVerb>,
}

/// What to do with mail.
#[derive(Debug, Subcommand)]
pub(crate) enum MailVerb {
    /// Queue these mails, and send all that is queued, also posts of kiln report
    Send {
        /// Mails with To and Subject, such as mail.txt of kiln check
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Send a mail or a post once more that was refused, or may not have arrived
    Retry {
        /// Its name, or the beginning of it
        name: String,
    },
    /// Remove a mail or a post that was not sent
    Drop {
        /// Its name, or the beginning of it
        name: String,
    },
}
