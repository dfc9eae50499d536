//! What is wrong with a script or went wrong in it, for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::show::{shown, shown_lines};
use crate::source::{Position, Source};

/// Characters of a line of source, and of a value, that are shown.
const WIDTH: usize = 160;

/// Characters of what is said.
const TEXT: usize = 2000;

/// Lines of what a machine said that are shown.
const EVIDENCE: usize = 100;

/// Callers that are shown.
const FRAMES: usize = 8;

/// What is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct Problem {
    /// The place, if there is one.
    pub place: Option<Box<Place>>,
    /// What is wrong.
    pub text: String,
    /// What to do.
    pub help: Option<String>,
    /// The functions that were being called, the innermost first.
    pub stack: Box<[Frame]>,
    /// Variables at hand, and what they were.
    pub values: Vec<(String, String)>,
    /// What a machine said of it.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub evidence: Box<[String]>,
}

/// A place, as people see it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Where.
    pub at: Position,
    /// The text of the line.
    pub line: String,
}

/// A function that was being called, and where from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its name.
    pub function: String,
    /// Where it was called.
    pub at: Position,
}

impl Problem {
    /// Something that has no place.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            place: None,
            text: text.into(),
            help: None,
            stack: Box::default(),
            values: Vec::new(),
            evidence: Box::default(),
        }
    }

    /// Something at a byte of a file.
    #[must_use]
    pub fn at(source: &Source, offset: usize, text: impl Into<String>) -> Self {
        Self { place: Some(Box::new(Place::of(source, source.position(offset)))), ..Self::new(text) }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl Place {
    /// A place of a file.
    pub(crate) fn of(source: &Source, at: Position) -> Self {
        Self { line: source.line(at.line).to_owned(), at }
    }

    fn show(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line.trim().is_empty() {
            return Ok(());
        }
        let indent = self.line.chars().take_while(|c| c.is_whitespace()).count();
        writeln!(out, "{:>5} | {}", self.at.line, shown(self.line.trim_start(), WIDTH))?;
        let column = usize::try_from(self.at.column).unwrap_or(1).saturating_sub(1 + indent);
        if column < WIDTH {
            writeln!(out, "      | {}^", " ".repeat(column))?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(out, "{}: ", place.at)?;
        }
        writeln!(out, "{}", shown_lines(&self.text.chars().take(TEXT).collect::<String>(), TEXT))?;
        if let Some(place) = &self.place {
            place.show(out)?;
        }
        for (name, value) in &self.values {
            writeln!(out, "      | {name} = {}", shown(value, WIDTH))?;
        }
        for frame in self.stack.iter().take(FRAMES) {
            writeln!(out, "      in {}, called at {}", shown(&frame.function, WIDTH), frame.at)?;
        }
        if let Some(more) = self.stack.len().checked_sub(FRAMES).filter(|more| *more > 0) {
            writeln!(out, "      and {more} more calls")?;
        }
        if let Some(help) = &self.help {
            writeln!(out, "      help: {}", shown(help, TEXT))?;
        }
        for line in self.evidence.iter().take(EVIDENCE) {
            writeln!(out, "      > {}", shown(line, WIDTH))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_points_to_its_line() {
        let source = Source::new("a.star", "def f():\n    g(1)\n");
        let at = source.position(13);
        let problem = Problem {
            stack: [Frame { function: "f".to_owned(), at: source.position(0) }].into(),
            values: vec![("x".to_owned(), "\"\x1b\"".to_owned())],
            evidence: ["RIP: 0010:g+0x1/0x2".to_owned()].into(),
            ..Problem::at(&source, 13, "g is broken").help("mend it")
        };
        assert_eq!(at.column, 5);
        insta::assert_snapshot!(problem.to_string(), @r#"
        a.star:2:5: g is broken
            2 | g(1)
              | ^
              | x = "\u{1b}"
              in f, called at a.star:1:1
              help: mend it
              > RIP: 0010:g+0x1/0x2
        "#);
    }
}
