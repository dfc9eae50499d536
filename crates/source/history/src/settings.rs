//! What git's configuration says: the user's, and that of the repository in which kiln runs.

use std::ffi::OsStr;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::Command;

use kernel::Context;

use crate::Error;
use crate::git::{answer, run};

/// The value of a key, such as `user.name`, if it has one.
///
/// # Errors
///
/// When git is missing, or refuses its configuration.
pub fn setting(key: &str, context: &mut Context<'_>) -> Result<Option<String>, Error> {
    let found =
        answer(Path::new("."), &["config", "--get", "--end-of-options", key], heed_variables, context)?;
    Ok(found.map(|value| value.trim_end_matches('\n').to_owned()).filter(|value| !value.is_empty()))
}

/// The keys that match a regular expression of git-config(1), such as `^(b4|patatt)\.`.
///
/// # Errors
///
/// When git is missing, or refuses its configuration.
pub fn settings(pattern: &str, context: &mut Context<'_>) -> Result<Settings, Error> {
    let arguments = ["config", "--null", "--get-regexp", "--end-of-options", pattern];
    let found = answer(Path::new("."), &arguments, heed_variables, context)?.unwrap_or_default();
    Ok(found.split('\0').filter_map(|pair| pair.split_once('\n')).collect())
}

/// The password of a user, from the helpers of git-credential(1); nothing if none has it. Nobody is asked on a terminal.
///
/// # Errors
///
/// When git is missing.
pub fn password(url: &str, user: &str, context: &mut Context<'_>) -> Result<Option<String>, Error> {
    let mut input = host::nameless().map_err(Error::io("make", Path::new("memory")))?;
    let question = format!("url={url}\nusername={user}\n\n");
    input
        .write_all(question.as_bytes())
        .and_then(|()| input.rewind())
        .map_err(Error::io("write", Path::new("memory")))?;
    let ask = |command: &mut Command| {
        heed_variables(command);
        command.stdin(input).env("GIT_TERMINAL_PROMPT", "0");
    };
    // Without a helper that has it, git fails.
    let done = run(Path::new("."), &["credential", "fill"], ask, context)?;
    Ok(done.output.lines().find_map(|line| line.strip_prefix("password=")).map(str::to_owned))
}

/// Keys in lower case with their values, in the order in which git reads them. An empty value is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings(Vec<(String, String)>);

impl<'a> FromIterator<(&'a str, &'a str)> for Settings {
    fn from_iter<P: IntoIterator<Item = (&'a str, &'a str)>>(pairs: P) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.to_lowercase(), value.to_owned())).collect())
    }
}

impl Settings {
    /// The value of a key that has one: the last, which may take back those before it.
    pub fn last(&self, key: &str) -> Option<&str> {
        self.values(key).next_back().filter(|value| !value.is_empty())
    }

    /// All values of a key that may have several.
    pub fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        self.values(key).filter(|value| !value.is_empty())
    }

    fn values(&self, key: &str) -> impl DoubleEndedIterator<Item = &str> {
        self.0.iter().filter(move |(other, _)| other == key).map(|(_, value)| value.as_str())
    }
}

/// A user may also say it in the environment: `GIT_CONFIG_COUNT`, `GIT_CONFIG_GLOBAL` and others of git-config(1).
fn heed_variables(command: &mut Command) {
    let says = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_CONFIG");
    command.envs(std::env::vars_os().filter(|(name, _)| says(name)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_value_or_several() {
        let pairs = [
            ("patatt.keyringSrc", "one"),
            ("b4.midmask", "x"),
            ("patatt.keyringsrc", "two"),
            ("b4.midmask", ""),
        ];
        let settings = Settings::from_iter(pairs);
        assert_eq!(settings.all("patatt.keyringsrc").collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(settings.last("patatt.keyringsrc"), Some("two"));
        assert_eq!(settings.last("b4.midmask"), None, "it was taken back");
        assert_eq!(settings.all("b4.midmask").collect::<Vec<_>>(), ["x"]);
        assert_eq!((settings.last("b4.none"), settings.all("b4.none").next()), (None, None));
    }
}
