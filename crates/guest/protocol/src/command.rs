//! A program, as the agent starts it.

use serde::{Deserialize, Serialize};

use crate::Need;

/// A program with what it is started with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its working directory; `/tmp`, which is empty, if this is.
    pub directory: String,
    /// Variables besides those that every run has.
    pub environment: Vec<(String, String)>,
    /// Without these it is not measured; a Run has them in its request.
    pub needs: Vec<Need<String>>,
}

impl Command {
    /// A program with its arguments, in the usual directory and environment.
    #[must_use]
    pub fn new(argv: Vec<String>) -> Self {
        Self { argv, ..Self::default() }
    }
}
