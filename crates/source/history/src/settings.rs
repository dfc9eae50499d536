//! What git's configuration says: the user's, and that of the repository in which kiln runs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use kernel::Context;

use crate::Error;
use crate::git::answer;

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

/// The values of all keys that match a regular expression of git-config(1), such as `^(b4|patatt)\.`, by key in lower case; of
/// several values the last one.
///
/// # Errors
///
/// When git is missing, or refuses its configuration.
pub fn settings(pattern: &str, context: &mut Context<'_>) -> Result<BTreeMap<String, String>, Error> {
    let arguments = ["config", "--null", "--get-regexp", "--end-of-options", pattern];
    let found = answer(Path::new("."), &arguments, heed_variables, context)?.unwrap_or_default();
    let pairs = found.split('\0').filter_map(|pair| pair.split_once('\n'));
    Ok(pairs.map(|(key, value)| (key.to_lowercase(), value.to_owned())).collect())
}

/// A user may also say it in the environment: `GIT_CONFIG_COUNT`, `GIT_CONFIG_GLOBAL` and others of git-config(1).
fn heed_variables(command: &mut Command) {
    let says = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_CONFIG");
    command.envs(std::env::vars_os().filter(|(name, _)| says(name)));
}
