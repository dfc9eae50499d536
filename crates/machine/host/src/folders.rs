//! The folders of kiln's own files, as the XDG Base Directory Specification 0.8 has them.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Where kiln keeps what it can make again: `$XDG_CACHE_HOME/kiln`, or `~/.cache/kiln`.
#[must_use]
pub fn cache_folder() -> PathBuf {
    folder(env::var_os("XDG_CACHE_HOME"), ".cache")
}

/// Where kiln keeps results: `$XDG_STATE_HOME/kiln`, or `~/.local/state/kiln`.
#[must_use]
pub fn state_folder() -> PathBuf {
    folder(env::var_os("XDG_STATE_HOME"), ".local/state")
}

/// Where programs keep what their user gave them: `$XDG_DATA_HOME`, or `~/.local/share`; nothing for a user without a home.
#[must_use]
pub fn data_home() -> Option<PathBuf> {
    base(env::var_os("XDG_DATA_HOME"), ".local/share")
}

/// A user without a home gets a folder among the temporary ones.
fn folder(variable: Option<OsString>, below_home: &str) -> PathBuf {
    base(variable, below_home).unwrap_or_else(env::temp_dir).join("kiln")
}

/// The specification has relative paths ignored.
fn base(variable: Option<OsString>, below_home: &str) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let set = variable.map(PathBuf::from).filter(absolute);
    set.or_else(|| env::home_dir().filter(absolute).map(|home| home.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_paths_are_heeded() {
        assert_eq!(folder(Some("/x/y".into()), ".cache"), PathBuf::from("/x/y/kiln"));
        let usual = folder(None, ".cache");
        assert!(usual.is_absolute() && usual.ends_with("kiln"), "{usual:?}");
        for ignored in ["", "x/y", "./x"] {
            assert_eq!(folder(Some(ignored.into()), ".cache"), usual, "{ignored:?}");
        }
    }
}
