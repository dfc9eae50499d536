//! The browser.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Error;
use crate::connection::{Connection, Event};

/// Debian's package is called so, and others' program, too.
const PROGRAM: &str = "chromium";

/// Moves the two pipes to where Chromium looks for them.
const PIPES: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null";

/// Nothing is fetched that no page asks for, and nothing is shown.
const ARGUMENTS: [&str; 12] = [
    "--headless",
    "--remote-debugging-pipe",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-first-run",
    "--force-color-profile=srgb",
];

/// A browser with a profile of its own, until it is dropped.
#[derive(Debug)]
pub struct Browser {
    connection: Mutex<Connection>,
    /// Behind the connection: it is removed when the browser has ended.
    profile: TempDir,
}

impl Browser {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// When it is not there, or does not answer.
    pub fn start() -> Result<Self, Error> {
        let missing =
            |error: std::io::Error| Error::Missing { what: PROGRAM.to_owned(), why: error.to_string() };
        let profile = TempDir::new()?;
        let mut command = Command::new("sh");
        command.args(["-c", PIPES, PROGRAM]).args(ARGUMENTS);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        if std::fs::metadata("/proc/self")?.uid() == 0 {
            // Its sandbox is not for root.
            command.arg("--no-sandbox");
        }
        // What programs keep for their user is not this user's.
        command.env("HOME", profile.path()).env("TZ", "UTC");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(log(profile.path()))?);
        let browser =
            Self { connection: Mutex::new(Connection::new(command.spawn().map_err(missing)?)), profile };
        browser.call("", "Browser.getVersion", &json!({})).map_err(|error| match error {
            Error::Ended { log, .. } => Error::Missing { what: PROGRAM.to_owned(), why: log },
            error => error,
        })?;
        Ok(browser)
    }

    /// Calls a method in a tab, or of the whole browser, and gives its result.
    pub(crate) fn call(&self, session: &str, method: &str, params: &Value) -> Result<Value, Error> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.call(session, method, params).map_err(|error| match error {
            Error::Ended { asked, .. } => {
                let log = std::fs::read(log(self.profile.path())).unwrap_or_default();
                Error::Ended { asked, log: String::from_utf8_lossy(&log).into_owned() }
            }
            error => error,
        })
    }

    /// All events of a tab since they were forgotten.
    pub(crate) fn events(&self, session: &str) -> Vec<Event> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection.events(session).cloned().collect()
    }

    pub(crate) fn forget(&self, session: &str) {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner).forget(session);
    }
}

/// The file with what it prints.
fn log(profile: &Path) -> std::path::PathBuf {
    profile.join("chromium.log")
}
