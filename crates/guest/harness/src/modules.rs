//! Kernel modules.

use std::ffi::CString;
use std::fs::{self, File, read_dir};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::check::{Checked, broken, describe, fail, skip};

/// Loads the module in the file at `path`; one that is loaded already is fine.
///
/// # Errors
///
/// When the file is not there or the kernel refuses it: broken where a policy or another build is the reason.
pub fn load(path: &Path) -> Checked {
    load_with(path, "")
}

/// The same with parameters, as finit_module(2) reads them.
///
/// # Errors
///
/// As for [`load`], and when it is not known what the parameters are.
pub fn load_with(path: &Path, parameters: &str) -> Checked {
    let Ok(parameters) = CString::new(parameters) else { return broken("parameters hold a zero byte") };
    if is_live(&name_of(path)) {
        return Ok(());
    }
    let Ok(file) = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
        return broken(&format!("module {} is not in the machine", path.display()));
    };
    match rustix::system::finit_module(&file, &parameters, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        // A module of another build, or one that a policy forbids: nothing that the kernel did wrong.
        Err(error @ (Errno::NOEXEC | Errno::INVAL | Errno::KEYREJECTED | Errno::PERM)) => {
            broken(&format!("the kernel refuses module {}: {}", name_of(path), describe(error)))
        }
        Err(error) => fail(&format!("loading module {}: {}", name_of(path), describe(error))),
    }
}

/// Unloads a module that nobody uses: delete_module(2).
///
/// # Errors
///
/// As the manual page says; EINVAL for what is no name.
pub fn unload(name: &str) -> Result<(), Errno> {
    let name = CString::new(name.replace('-', "_")).map_err(|_| Errno::INVAL)?;
    rustix::system::delete_module(&name, libc::O_NONBLOCK)
}

/// Whether a module is loaded and ready: loading it once more would only cost the time to read it.
fn is_live(name: &str) -> bool {
    let state = Path::new("/sys/module").join(name.replace('-', "_")).join("initstate");
    std::fs::read_to_string(state).is_ok_and(|state| state.trim() == "live")
}

/// Whether the kernel shows a module: one that is built in and has no parameter it does not show.
#[must_use]
pub fn is_shown(name: &str) -> bool {
    Path::new("/sys/module").join(name.replace('-', "_")).exists()
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file of a module, which must not be compressed.
///
/// # Errors
///
/// When it cannot be read, or skips where there is none.
pub fn file_of(name: &str) -> Checked<File> {
    let wanted = format!("{name}.ko");
    match find(Path::new("/lib/modules"), &wanted) {
        Some(path) => Ok(File::open(path)?),
        None => skip(&format!("{wanted} is not in the machine: the kernel has it built in, or not at all")),
    }
}

fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    read_dir(directory)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .find_map(|path| if path.is_dir() { find(&path, name) } else { path.ends_with(name).then_some(path) })
}

/// What /proc/modules says about a module.
///
/// # Errors
///
/// When it cannot be read, or skips where there is none.
pub fn listed(name: &str) -> Checked<Option<String>> {
    let all = fs::read_to_string("/proc/modules")?;
    Ok(all.lines().find(|line| line.split(' ').next() == Some(name)).map(str::to_string))
}
