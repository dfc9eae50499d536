//! What a build needs of the user's home directory, where nothing else is seen of it: see [`host::sandbox()`].

use std::path::{Path, PathBuf};

use host::Task;
use kernel::Context;

/// Directories of programs and of these compilers, with all that is installed with them.
#[must_use]
pub fn directories_of(compilers: [&str; 2]) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let with_programs = path.iter().filter_map(|bin| Some(installation(&bin.canonicalize().ok()?)));
    let with_compilers = compilers.iter().filter_map(|compiler| prefix(&host::find_program(compiler)?));
    let with_rust = std::env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| in_home(".rustup"));
    with_programs.chain(with_compilers).chain(with_rust).chain(path.iter().cloned()).collect()
}

/// Where a program was installed.
fn prefix(program: &Path) -> Option<PathBuf> {
    Some(installation(program.canonicalize().ok()?.parent()?))
}

/// Above `bin`, unless more than programs is there.
fn installation(bin: &Path) -> PathBuf {
    let is_shared = |above: &Path| {
        let shared = ["", ".local", ".cargo"].iter().filter_map(|name| in_home(name)?.canonicalize().ok());
        shared.into_iter().any(|shared| shared == above)
    };
    let above = bin.parent().filter(|above| bin.ends_with("bin") && !is_shared(above));
    above.unwrap_or(bin).to_path_buf()
}

fn in_home(name: &str) -> Option<PathBuf> {
    Some(std::env::home_dir()?.join(name))
}

/// Where ccache has its settings.
pub(crate) fn settings_of_ccache() -> Vec<PathBuf> {
    let configuration = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let configuration = configuration.or_else(|| in_home(".config"));
    let named = std::env::var_os("CCACHE_CONFIGPATH").map(PathBuf::from);
    let named = named.and_then(|file| Some(file.parent()?.to_path_buf()));
    configuration.map(|all| all.join("ccache")).into_iter().chain(named).collect()
}

/// The cache of ccache, which is made if there is none yet.
pub(crate) fn cache_of_ccache(context: &Context<'_>) -> Option<PathBuf> {
    let asked = Task::new("ccache", &["--get-config", "cache_dir"], context.interrupt).run(&mut || {});
    let cache = PathBuf::from(asked.ok().filter(|done| done.success)?.output.trim());
    // Without it ccache compiles, and says so if something else is wrong.
    let _ = std::fs::create_dir_all(&cache);
    Some(cache)
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
