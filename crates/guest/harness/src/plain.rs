//! Values as people read them, without the words of the language that a case is written in.

use std::fmt::Debug;

use rustix::io::Errno;

use crate::errno::name;

/// Types around a value that say nothing to whoever reads a report.
const WRAPPERS: [&str; 8] = ["Some", "Ok", "Err", "Pid", "Uid", "Gid", "Signal", "Wrapping"];

/// Values within values that are read.
const DEPTH: usize = 16;

/// A value in words: `ENOENT`, `1, 2`, `nothing`.
#[must_use]
pub fn plain(value: &(impl Debug + ?Sized)) -> String {
    let text = format!("{value:?}");
    let mut reader = Reader { rest: &text };
    let read = reader.value(DEPTH).filter(|_| reader.rest.is_empty());
    // What is not written as most types are is shown as it is.
    read.unwrap_or(text)
}

/// Reads what `Debug` writes.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        if self.rest.starts_with(['"', '\'']) {
            return self.quoted().map(str::to_string);
        }
        let word = self.word();
        Some(match self.rest.chars().next() {
            Some('(') if word == "Ok" && self.take("(())").is_some() => "success".to_string(),
            Some('(') => named(word, &self.list("(", ")", depth)?.join(", ")),
            Some('[') if word.is_empty() => or_nothing(self.list("[", "]", depth)?.join(", ")),
            Some('{') => self.fields(word, depth)?,
            _ if word == "None" => "nothing".to_string(),
            _ => Some(word).filter(|word| !word.is_empty())?.to_string(),
        })
    }

    /// The fields of a type: `a 1, b 2`; of an error of the kernel its name.
    fn fields(&mut self, word: &str, depth: usize) -> Option<String> {
        let fields = self.list("{", "}", depth)?;
        let code = fields.iter().find_map(|field| field.strip_prefix("code: ")?.parse().ok());
        match code.filter(|_| word == "Os") {
            Some(code) => Some(name(Errno::from_raw_os_error(code))),
            None => Some(fields.join(", ").replace(": ", " ")),
        }
    }

    /// Values between two signs, with the names of fields.
    fn list(&mut self, open: &str, close: &str, depth: usize) -> Option<Vec<String>> {
        self.take(open)?;
        let mut values = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.take(close).is_some() {
                return Some(values);
            }
            let field = self.field();
            values.push(format!("{field}{}", self.value(depth)?));
            self.rest = self.rest.trim_start();
            if self.take(",").is_none() && !self.rest.starts_with(close) {
                return None;
            }
        }
    }

    /// `NAME: ` before a value.
    fn field(&mut self) -> &'a str {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        let has_value = length > 0 && self.rest[length..].starts_with(": ");
        self.split(if has_value { length + ": ".len() } else { 0 })
    }

    fn word(&mut self) -> &'a str {
        let length = self.rest.find([',', '(', ')', '[', ']', '{', '}', '"']).unwrap_or(self.rest.len());
        self.split(length).trim()
    }

    /// A text in quotes, with them.
    fn quoted(&mut self) -> Option<&'a str> {
        let quote = self.rest.chars().next()?;
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|&(_, c)| {
            let is_end = c == quote && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        let (at, _) = end?;
        Some(self.split(at + 1))
    }

    fn take(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn split(&mut self, at: usize) -> &'a str {
        let (before, rest) = self.rest.split_at(at);
        self.rest = rest;
        before
    }
}

/// What stands in `NAME(...)`, with the name if it tells something.
fn named(word: &str, inner: &str) -> String {
    match word {
        "" => or_nothing(inner.to_string()),
        word if WRAPPERS.contains(&word) => inner.to_string(),
        word => format!("{word} {inner}"),
    }
}

fn or_nothing(text: String) -> String {
    if text.is_empty() { "nothing".to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use rustix::process::Pid;
    use rustix::time::Timespec;

    #[test]
    fn errors_are_shown_by_their_names() {
        assert_eq!(plain(&Err::<(), _>(Errno::NOENT)), "ENOENT");
        assert_eq!(plain(&Ok::<_, Errno>(())), "success");
        assert_eq!(plain(&Ok::<_, Errno>(5)), "5");
        assert_eq!(plain(&(Some(Errno::INVAL), std::io::Error::from_raw_os_error(1))), "EINVAL, EPERM");
    }

    #[test]
    fn tuples_lists_and_options_are_plain() {
        assert_eq!(plain(&(1, "a (b], \"c\"", Some(Pid::INIT))), "1, \"a (b], \\\"c\\\"\", 1");
        assert_eq!(plain(&[[1, 2], [3, 4]]), "1, 2, 3, 4");
        assert_eq!(plain(&(Vec::<u8>::new(), None::<u8>, ())), "nothing, nothing, nothing");
        assert_eq!(plain(&vec![-1.5, 2.0]), "-1.5, 2.0");
        assert_eq!(plain(&Duration::from_millis(20)), "20ms");
    }

    #[test]
    fn fields_keep_their_names() {
        assert_eq!(plain(&Some(Timespec { tv_sec: 1, tv_nsec: 5 })), "tv_sec 1, tv_nsec 5");
        assert_eq!(plain(&rustix::fs::SealFlags::SHRINK), "SealFlags SHRINK");
    }

    #[test]
    fn what_is_written_in_another_way_is_left() {
        let odd = |text: &str| plain(&format_args!("{text}"));
        for text in ["[::1]:80", "(1", "a)b", "{{{", "\"x", ""] {
            assert_eq!(odd(text), text);
        }
        assert_eq!(odd(&"(".repeat(100)), "(".repeat(100));
    }
}
