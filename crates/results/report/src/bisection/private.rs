//! Text that goes to others: without the paths of the user.

mod named;

use std::path::Path;

use bisect::{BisectRequest, Bisection};
use lab::request::words::call;
use serde_json::Value;

/// Folders in which everything is a user's.
const USERS: [&str; 6] = ["~", "/home", "/root", "/tmp", "/var/tmp", "/run/user"];

/// What ends a path in a text, besides blanks and control characters.
const ENDS: &str = "'\"`:,;()[]{}<>|&=@…‘’“”";

/// The paths of a user, of which others see only the last part.
#[derive(Debug, Clone)]
pub struct Private {
    /// Beginnings of paths, the longest first.
    roots: Vec<String>,
}

impl Private {
    /// Whatever a request names, and what is in the home directories and among temporary files of any host.
    #[must_use]
    pub fn of(request: &BisectRequest) -> Self {
        Self { roots: Vec::new() }.and(USERS).and(named::paths(request))
    }

    /// Other folders or files as well.
    #[must_use]
    pub fn and<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        let plain = |path: P| path.as_ref().display().to_string().trim_end_matches('/').to_owned();
        self.roots.extend(paths.into_iter().map(plain).filter(|root| !matches!(&root[..], "" | "." | "..")));
        self.roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        self.roots.dedup();
        self
    }

    /// What the request names, as it was typed.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(String::as_str)
    }

    /// A bisection in which no text has such a path: all that is made of it has none either, however it is cut.
    pub(super) fn hidden_in(&self, bisection: &Bisection) -> serde_json::Result<Bisection> {
        let mut document = serde_json::to_value(bisection)?;
        self.hide_all(&mut document);
        let reproduce = bisection.reproduce.iter().map(|command| self.hide_in_command(command)).collect();
        Ok(Bisection { reproduce, ..serde_json::from_value(document)? })
    }

    fn hide_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_all(value)),
            Value::Object(values) => values.values_mut().for_each(|value| self.hide_all(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A command without what quotes do to a path.
    fn hide_in_command(&self, command: &str) -> String {
        match shlex::split(command).as_deref() {
            Some([first, words @ ..]) if first == "kiln" => {
                call(&words.iter().map(|word| self.hide(word)).collect::<Vec<_>>())
            }
            _ => self.hide(command),
        }
    }

    /// A text with the last part of each path: `/srv/ada/it.sh` becomes `./it.sh`, `git:~/src/linux@v6.1` becomes
    /// `git:linux@v6.1`.
    fn hide(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(next) = rest.chars().next() {
            let length = self.path_at(rest, out.chars().next_back());
            if let Some(length) = length {
                let here = if out.ends_with("git:") { "" } else { "./" };
                out.extend([here, last(&rest[..length])]);
            } else {
                out.push(next);
            }
            rest = &rest[length.unwrap_or(next.len_utf8())..];
        }
        out
    }

    /// The length of the path at the start of `text`, behind this character.
    fn path_at(&self, text: &str, before: Option<char>) -> Option<usize> {
        let is_start = before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'));
        let root = self.roots.iter().find(|root| {
            let Some(after) = text.strip_prefix(root.as_str()) else { return false };
            match root.matches('/').count() {
                // Anything may be called `tmp`: only what is in that folder is meant.
                0 | 1 => is_start && after.strip_prefix('/').is_some_and(|below| end(below) > 0),
                _ => is_start || root.starts_with('/'),
            }
        })?;
        Some(root.len() + end(&text[root.len()..]))
    }
}

/// Where a path ends that goes on at the start of `text`.
fn end(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || c.is_control() || ENDS.contains(c)).unwrap_or(text.len())
}

fn last(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests;
