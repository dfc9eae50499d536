//! One complaint of a build.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The build goes on.
    Warning,
    /// Something was not built.
    Error,
}

impl Severity {
    /// Its name in the lines of compilers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One complaint of a compiler, linker, modpost, objtool, kconfig, make or a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Relative to the source tree, or to the object directory for what was made there; as it was printed if it is
    /// in neither.
    pub file: Option<String>,
    /// Line in the file, from 1.
    pub line: Option<u32>,
    /// Column in the line, from 1.
    pub column: Option<u32>,
    /// The compiler's option that controls it, such as `-Wunused-variable`, or the check of dtc.
    pub option: Option<String>,
    /// What is wrong, in one line without the option.
    pub text: String,
    /// What was said with it the first time: where it was included from, in which function, expansions.
    pub notes: Vec<String>,
    /// How often it was said.
    pub count: u32,
    /// What the user can do about it, if that is known: which package to install, or that the disk is full.
    pub advice: Option<String>,
}

impl Diagnostic {
    /// The host lacks something that the user can get: the source is not at fault.
    pub fn is_the_hosts(&self) -> bool {
        self.advice.is_some()
    }
}

impl fmt::Display for Diagnostic {
    /// One line as compilers write it: `fs/x.c:12:5: error: expected ';' [-Wodd]; what to do`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, self.file.as_deref(), [self.line, self.column])?;
        write!(f, "{}: {}", self.severity.name(), self.text)?;
        self.option.iter().try_for_each(|option| write!(f, " [{option}]"))?;
        self.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
    }
}

/// Where something is, as compilers write it before what it is: `fs/x.c:12:5: `.
pub(crate) fn write_place(
    f: &mut fmt::Formatter<'_>,
    file: Option<&str>,
    numbers: [Option<u32>; 2],
) -> fmt::Result {
    let Some(file) = file else { return Ok(()) };
    write!(f, "{file}:")?;
    numbers.into_iter().flatten().try_for_each(|number| write!(f, "{number}:"))?;
    f.write_str(" ")
}
