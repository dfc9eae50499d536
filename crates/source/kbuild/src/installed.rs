//! What a build needs of the user's home directory, where nothing else is seen of it: see [`host::sandbox()`].

use std::path::{Path, PathBuf};

use host::Task;
use kernel::Context;

/// Directories of programs, and of these compilers with all that is installed with them.
#[must_use]
pub fn directories_of(compilers: [&str; 2]) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let with_compilers = compilers.iter().filter_map(|compiler| prefix(&host::find_program(compiler)?));
    std::env::split_paths(&path).chain(with_compilers).collect()
}

/// Where a program was installed: above its `bin`, unless that is somebody's own.
fn prefix(program: &Path) -> Option<PathBuf> {
    let bin = program.canonicalize().ok()?.parent()?.to_path_buf();
    let is_own = |directory: &Path| std::env::home_dir().is_some_and(|home| directory == home);
    let above = bin.parent().filter(|above| bin.ends_with("bin") && !is_own(above));
    Some(above.unwrap_or(&bin).to_path_buf())
}

/// The cache of ccache, which is made if there is none yet, and its settings.
pub(crate) fn directories_of_ccache(context: &Context<'_>) -> Vec<PathBuf> {
    let asked = Task::new("ccache", &["--get-config", "cache_dir"], context.interrupt).run(&mut || {});
    let cache = asked.ok().filter(|done| done.success).map(|done| PathBuf::from(done.output.trim()));
    if let Some(cache) = &cache {
        // Without it ccache compiles, and says so if something else is wrong.
        let _ = std::fs::create_dir_all(cache);
    }
    let configuration = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let configuration = configuration.or_else(|| Some(std::env::home_dir()?.join(".config")));
    let named = std::env::var_os("CCACHE_CONFIGPATH").map(PathBuf::from);
    let settings = [configuration.map(|all| all.join("ccache")), named.and_then(|file| prefix(&file))];
    settings.into_iter().flatten().chain(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::write;

    #[test]
    fn a_compiler_comes_with_what_is_installed_beside_it() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let (installed, alone) = (place.join("llvm/bin/clang"), place.join("tools/clang"));
        write(&installed, "");
        write(&alone, "");
        assert_eq!(prefix(&installed), Some(place.join("llvm")));
        assert_eq!(prefix(&alone), Some(place.join("tools")));
        assert_eq!(prefix(&place.join("no/bin/clang")), None);
    }
}
