//! The configuration a kernel was built with.

use std::collections::{BTreeMap, BTreeSet};

/// The options of a `.config` file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    options: BTreeMap<String, String>,
}

impl Config {
    /// Reads the text of a `.config`; lines that set nothing are passed over.
    pub fn parse(text: &str) -> Self {
        Self { options: text.lines().filter_map(option).collect() }
    }

    /// `y`, `m`, or the text of an option, whose name may begin with `CONFIG_`; nothing if it is not set.
    pub fn value(&self, option: &str) -> Option<&str> {
        let name = option.strip_prefix("CONFIG_").unwrap_or(option);
        self.options.get(name).map(String::as_str)
    }

    /// Whether an option is built in or a module.
    pub fn is_enabled(&self, option: &str) -> bool {
        matches!(self.value(option), Some("y" | "m"))
    }

    /// All options in the order of their names, without `CONFIG_`.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The options that are not the same in another configuration, in the order of their names: without `CONFIG_`,
    /// each with its value here and there, nothing where it is not set.
    pub fn changes<'a>(&'a self, other: &'a Self) -> Vec<(&'a str, Option<&'a str>, Option<&'a str>)> {
        let names: BTreeSet<&str> = self.options().chain(other.options()).map(|(name, _)| name).collect();
        let both = names.into_iter().map(|name| (name, self.value(name), other.value(name)));
        both.filter(|(_, here, there)| here != there).collect()
    }
}

fn option(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().strip_prefix("CONFIG_")?.split_once('=')?;
    let value = match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => unescape(quoted),
        None => value.to_owned(),
    };
    (value != "n").then(|| (name.to_owned(), value))
}

fn unescape(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        // Kconfig escapes just the quote and the backslash, each by a backslash.
        text.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_values_of_each_type() {
        let config = Config::parse(
            "#\n# Linux\n#\nCONFIG_64BIT=y\r\nCONFIG_XFS_FS=m\n# CONFIG_KASAN is not set\nCONFIG_HZ=250\n\
             CONFIG_NAME=\"a \\\"b\\\" \\\\\"\nCONFIG_EMPTY=\"\"\nCONFIG_OFF=n\nrubbish\nCONFIG_BARE\n",
        );
        assert_eq!(config.value("CONFIG_64BIT"), Some("y"));
        assert_eq!(config.value("XFS_FS"), Some("m"));
        assert_eq!(config.value("HZ"), Some("250"));
        assert_eq!(config.value("NAME"), Some("a \"b\" \\"));
        assert_eq!(config.value("EMPTY"), Some(""));
        for unset in ["KASAN", "OFF", "BARE", "CONFIG_"] {
            assert_eq!(config.value(unset), None, "{unset}");
        }
        assert!(config.is_enabled("64BIT") && config.is_enabled("CONFIG_XFS_FS"));
        assert!(!config.is_enabled("HZ") && !config.is_enabled("KASAN"));
    }

    #[test]
    fn changes_are_told_from_both_sides() {
        let here =
            Config::parse("CONFIG_B=m\nCONFIG_A=y\nCONFIG_SAME=1\n# CONFIG_OFF is not set\nCONFIG_T=\"\"\n");
        let there = Config::parse("CONFIG_B=y\nCONFIG_C=2\nCONFIG_SAME=1\n");
        let wanted = [
            ("A", Some("y"), None),
            ("B", Some("m"), Some("y")),
            ("C", None, Some("2")),
            ("T", Some(""), None),
        ];
        assert_eq!(here.changes(&there), wanted);
        assert_eq!(here.changes(&here), []);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String) {
            Config::parse(&text);
        }

        #[test]
        fn changes_lead_from_one_to_the_other(here in "(CONFIG_[A-D]=[ny1]\n){0,5}", there in "(CONFIG_[A-D]=[ny1]\n){0,5}") {
            let (here, there) = (Config::parse(&here), Config::parse(&there));
            let mut options = here.options.clone();
            for (name, before, after) in here.changes(&there) {
                prop_assert_eq!(options.remove(name), before.map(str::to_owned));
                options.extend(after.map(|value| (name.to_owned(), value.to_owned())));
            }
            prop_assert_eq!(options, there.options);
        }

        #[test]
        fn what_was_written_is_read(name in "[A-Z0-9_]{1,20}", value in "\\PC*") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let config = Config::parse(&format!("CONFIG_{name}=\"{quoted}\"\n"));
            let wanted = (value != "n").then_some(value.as_str());
            prop_assert_eq!(config.value(&name), wanted);
        }
    }
}
