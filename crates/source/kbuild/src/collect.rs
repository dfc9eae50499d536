//! From make's objects to an entry of the store.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::failure::{self, made};
use crate::make::{Make, image_in};
use crate::printed::{DIAGNOSTICS, LOG};
use kernel::Arch;
use kernel::Context;
use kernel::Record;
use kernel::entry::{ROOT, describe};
use kernel::store::write_json;

/// Longest release, in bytes: 64 with the end of the text in utsname(2).
const RELEASE_MAX: usize = 64;

/// Puts all that is to be kept of a build into `entry`.
pub(crate) fn collect(
    make: &Make<'_>,
    entry: &Path,
    record: &Record,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    context.progress("keeping the kernel");
    let root = entry.join(ROOT);
    let release = release(make, context)?;
    let boot = root.join("boot");
    fs::create_dir_all(&boot).map_err(Error::io("make", &boot))?;
    let keep = |name: &str, to: PathBuf| copy(make, Path::new(name), &to);
    keep(image_in(make.arch), boot.join(format!("vmlinuz-{release}")))?;
    keep(".config", boot.join(format!("config-{release}")))?;
    keep("System.map", boot.join(format!("System.map-{release}")))?;
    if make.arch != Arch::Um {
        // UML's image is its vmlinux.
        keep("vmlinux", root.join("vmlinux"))?;
    }
    modules(make, &root, &release, context)?;
    write_json(&entry.join(DIAGNOSTICS), &failure::diagnostics(&make.paths)?)?;
    record.write(entry)?;
    fs::copy(make.paths.log, entry.join(LOG)).map_err(Error::io("copy", make.paths.log))?;
    match describe(entry, record.source.clone(), context)? {
        true => Ok(()),
        false => Err(kernel::Error::NotATree { path: root }.into()),
    }
}

/// The modules, or, of a kernel without, the list of what is built in.
fn modules(make: &Make<'_>, root: &Path, release: &str, context: &mut Context<'_>) -> Result<(), Error> {
    let place = root.join("lib/modules").join(release);
    fs::create_dir_all(&place).map_err(Error::io("make", &place))?;
    if make.paths.objects.join("modules.order").is_file() {
        let to = format!("INSTALL_MOD_PATH={}", root.display());
        // Debugging information would multiply what every machine must load.
        let targets = ["modules_install", &to, "INSTALL_MOD_STRIP=1", "DEPMOD=true"];
        if !make.run_into(root, &targets, context)? {
            return Err(failure::of(&make.paths));
        }
        keep_plain(root)?;
    }
    for list in ["modules.builtin", "modules.builtin.modinfo"] {
        // modules_install has installed them already.
        if make.paths.objects.join(list).is_file() && !place.join(list).is_file() {
            copy(make, Path::new(list), &place.join(list))?;
        }
    }
    Ok(())
}

/// Removes all that is neither a folder nor a plain file: `build` and `source` lead into work directories, which will hold
/// something else, and a makefile can make other links.
fn keep_plain(folder: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))?.flatten() {
        let (path, kind) = (entry.path(), entry.file_type().map_err(Error::io("look at", folder))?);
        if kind.is_dir() {
            keep_plain(&path)?;
        } else if !kind.is_file() {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// The release, as it can stand in names of files: a makefile prints it.
fn release(make: &Make<'_>, context: &mut Context<'_>) -> Result<String, Error> {
    let release = make.ask("kernelrelease", context)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._+-~".contains(c);
    let is_plain = release.starts_with(|c: char| c.is_ascii_alphanumeric())
        && release.len() <= RELEASE_MAX
        && release.chars().all(is_name);
    if is_plain {
        return Ok(release);
    }
    let cause = format!("`make kernelrelease` prints no release: {release:.80?}");
    Err(Error::Failed { errors: vec![cause.clone()], cause, log: make.paths.log.to_owned() })
}

fn copy(make: &Make<'_>, name: &Path, to: &Path) -> Result<(), Error> {
    let mut from = made(&make.paths, name)?;
    let mut write = || {
        io::copy(&mut from, &mut fs::File::create_new(to)?)?;
        // User-Mode Linux is a program.
        let mode = from.metadata()?.permissions().mode() & 0o777;
        fs::set_permissions(to, fs::Permissions::from_mode(mode))
    };
    write().map_err(Error::io("write", to))
}
