//! What is asked of a command that was started.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::signature::{ALLOW, Gives, Signature, optional};

/// What is asked of a command that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JobCall {
    /// Wait for its end.
    Wait {
        /// How long.
        #[serde(default, with = "judge::json::optional_seconds")]
        timeout: Option<Duration>,
    },
    /// Send it a signal.
    Kill {
        /// Which; SIGKILL if it is not set.
        #[serde(default)]
        signal: Option<u32>,
    },
    /// What it has written up to now.
    Output {},
}

/// The methods.
pub(crate) const METHODS: &[Signature] = &[
    Signature {
        name: "wait",
        parameters: &[optional("timeout", Kind::Time), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "waits for its end",
    },
    Signature {
        name: "kill",
        parameters: &[optional("signal", Kind::Count), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "sends it a signal, SIGKILL if no other is named",
    },
    Signature {
        name: "output",
        parameters: &[ALLOW],
        rest: None,
        gives: Gives::Text,
        about: "what it has written up to now",
    },
];
