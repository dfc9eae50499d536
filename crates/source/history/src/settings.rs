//! What git's configuration says: the user's, and that of the repository in which kiln runs.

use std::path::Path;

use kernel::Context;

use crate::Error;
use crate::git::answer;

/// The value of a key, such as `user.name`, if it has one.
///
/// # Errors
///
/// When git is missing, or refuses its configuration.
pub fn setting(key: &str, context: &mut Context<'_>) -> Result<Option<String>, Error> {
    let found = answer(Path::new("."), &["config", "--get", "--end-of-options", key], |_| {}, context)?;
    Ok(found.map(|value| value.trim_end_matches('\n').to_owned()).filter(|value| !value.is_empty()))
}
