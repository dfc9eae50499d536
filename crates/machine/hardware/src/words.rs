//! The form `NAME,KEY=VALUE,KEY`: QEMU's own, so that nobody has to learn another. Two commas are one in a value.

use std::str::FromStr;

use crate::error::Error;

/// Longest description, in bytes.
const LENGTH_MAX: usize = 4096;

/// The options of a device, as they were written.
#[derive(Debug)]
pub(crate) struct Words {
    device: &'static str,
    options: Vec<(String, String)>,
}

/// The parts of a description between its single commas.
pub(crate) fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars().take(LENGTH_MAX).peekable();
    while let Some(letter) = letters.next() {
        match parts.last_mut() {
            Some(last) if letter != ',' || letters.next_if_eq(&',').is_some() => last.push(letter),
            _ => parts.push(String::new()),
        }
    }
    parts
}

/// A value as it is written between commas.
pub(crate) fn escape(value: &str) -> String {
    value.replace(',', ",,")
}

impl Words {
    /// The options of a device, of which it has those that are `known`; one without a value is `on`.
    pub(crate) fn new(device: &'static str, parts: &[String], known: &[&str]) -> Result<Self, Error> {
        let mut options: Vec<(String, String)> = Vec::new();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, "on"));
            let key = key.to_string();
            if !known.contains(&key.as_str()) {
                return Err(Error::Key { device, key, known: known.join(", ") });
            }
            if options.iter().any(|(other, _)| *other == key) {
                return Err(Error::Twice { device, key });
            }
            options.push((key, value.to_string()));
        }
        Ok(Self { device, options })
    }

    /// The value of an option, as it was written.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.options.iter().find(|(other, _)| other == key).map(|(_, value)| value.clone())
    }

    /// The value of an option that `read` understands; `expected` says what it can be.
    pub(crate) fn read<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.text(key) else { return Ok(None) };
        let wrong = || Error::Value { device: self.device, key, value: value.clone(), expected };
        read(&value).map(Some).ok_or_else(wrong)
    }

    /// The value of an option that is one of a few words.
    pub(crate) fn one_of<T: FromStr>(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, Error> {
        self.read(key, expected, |value| value.parse().ok())
    }

    /// Whether an option without a value was given.
    pub(crate) fn flag(&self, key: &'static str) -> Result<bool, Error> {
        let switch = |value: &str| match value {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        Ok(self.read(key, "on or off", switch)?.unwrap_or_default())
    }
}

/// Writes a description: what names the device, and its options.
#[derive(Debug)]
pub(crate) struct Writer(String);

impl Writer {
    pub(crate) fn new(name: &str) -> Self {
        Self(name.to_string())
    }

    pub(crate) fn option(mut self, key: &str, value: Option<impl ToString>) -> Self {
        if let Some(value) = value {
            self.0.push_str(&format!(",{key}={}", escape(&value.to_string())));
        }
        self
    }

    pub(crate) fn flag(mut self, key: &str, is_set: bool) -> Self {
        if is_set {
            self.0.push_str(&format!(",{key}"));
        }
        self
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_comes_back_as_it_was(value in "[^\0]{1,40}") {
            let text = format!("x,key={}", escape(&value));
            let words = Words::new("x", &parts(&text)[1..], &["key"]);
            // What begins or ends with commas next to others can be read in two ways: such a value is no path.
            if !value.starts_with(',') && !value.ends_with(',') {
                prop_assert_eq!(words.unwrap().text("key"), Some(value));
            }
        }
    }

    #[test]
    fn an_unknown_option_is_an_error_and_so_is_one_that_comes_twice() {
        let of = |text: &str| Words::new("disk", &parts(text)[1..], &["bus", "readonly"]).map(drop);
        assert_eq!(of("disk,bus=a,readonly"), Ok(()));
        let error = of("disk,buss=a").unwrap_err();
        assert_eq!(error.to_string(), "disk has no option \"buss\": its options are bus, readonly");
        assert_eq!(of("disk,bus=a,bus=b").unwrap_err().to_string(), "disk: bus was given twice");
    }
}
