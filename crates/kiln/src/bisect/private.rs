//! What of this host is nobody else's business.

use std::env;
use std::path::{Path, PathBuf};

use bisect::BisectRequest;
use kernel::Locator;
use report::bisection::Private;

/// Variables that name folders of the user: the XDG Base Directory Specification 0.8.
const FOLDERS: [&str; 5] =
    ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];

/// The paths that a request names, where they really lead, the user's folders, and `results`.
pub(super) fn private(request: &BisectRequest, results: &Path) -> Private {
    let named = Private::of(request);
    let real: Vec<PathBuf> = named.roots().filter_map(real).collect();
    let folders = FOLDERS.iter().filter_map(env::var_os).map(PathBuf::from).filter(|path| path.is_absolute());
    let folders = folders.chain(env::home_dir()).chain(env::current_dir().ok()).chain([env::temp_dir()]);
    named.and(real).and(folders).and([results])
}

fn real(path: &str) -> Option<PathBuf> {
    Locator::Path(path.into()).path()?.canonicalize().ok()
}
