//! One thing that an analyser found.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Tool;
use crate::diagnostics::{Severity, write_place};

/// Something that an analyser found in a file or in a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The analyser that found it.
    pub tool: Tool,
    /// How bad the analyser says it is.
    pub severity: Severity,
    /// The analyser's name for what it looks for, such as `core.NullDereference` or `free/kfree`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The file, as a path below the tree; nothing where the message of a patch is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What is wrong, in one line.
    pub text: String,
    /// What was said with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The line of code, without the blanks around it; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// What the analyser read then: a file, an object, a semantic patch with a file.
    #[serde(skip)]
    pub about: String,
}

impl Finding {
    /// What an analyser says of nothing in particular.
    #[must_use]
    pub fn new(tool: Tool, severity: Severity, text: &str) -> Self {
        Self {
            tool,
            severity,
            rule: None,
            file: None,
            line: None,
            column: None,
            text: text.to_owned(),
            notes: Vec::new(),
            code: String::new(),
            about: String::new(),
        }
    }
}

impl fmt::Display for Finding {
    /// One line as compilers write it, with the analyser: `fs/x.c:12:5: error: reference preceded by free [coccinelle free/kfree]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, self.file.as_deref(), [self.line, self.column])?;
        write!(f, "{}: {} [{}", self.severity.name(), self.text, self.tool.name())?;
        self.rule.iter().try_for_each(|rule| write!(f, " {rule}"))?;
        f.write_str("]")
    }
}
