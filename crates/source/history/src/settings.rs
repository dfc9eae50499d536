//! What git's configuration says: the user's, and that of the repository in which kiln runs.

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

/// A user may also say it in the environment: `GIT_CONFIG_COUNT`, `GIT_CONFIG_GLOBAL` and others of git-config(1).
fn heed_variables(command: &mut Command) {
    let says = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_CONFIG");
    command.envs(std::env::vars_os().filter(|(name, _)| says(name)));
}
