//! From make's objects to an entry of the store.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::failure;
use crate::make::{Make, image_in};
use crate::printed::{DIAGNOSTICS, LOG};
use kernel::Arch;
use kernel::Context;
use kernel::Record;
use kernel::entry::{ROOT, describe};
use kernel::store::write_json;

/// Puts all that is to be kept of a build into `entry`.
pub(crate) fn collect(
    make: &Make<'_>,
    entry: &Path,
    record: &mut Record,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    context.progress("keeping the kernel");
    let root = entry.join(ROOT);
    let release = make.ask("kernelrelease", context)?;
    let boot = root.join("boot");
    fs::create_dir_all(&boot).map_err(Error::io("make", &boot))?;
    let objects = make.paths.objects;
    copy(&image_in(objects, make.arch), &boot.join(format!("vmlinuz-{release}")))?;
    copy(&objects.join(".config"), &boot.join(format!("config-{release}")))?;
    copy(&objects.join("System.map"), &boot.join(format!("System.map-{release}")))?;
    if make.arch != Arch::Um {
        // UML's image is its vmlinux.
        copy(&objects.join("vmlinux"), &root.join("vmlinux"))?;
    }
    modules(make, &root, &release, context)?;
    let diagnostics = failure::diagnostics(&make.paths)?;
    record.warnings = diagnostics.warnings();
    write_json(&entry.join(DIAGNOSTICS), &diagnostics)?;
    record.write(entry)?;
    copy(make.paths.log, &entry.join(LOG))?;
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
        // Links into work directories, which will hold something else.
        for link in ["build", "source"] {
            let _ = fs::remove_file(place.join(link));
        }
    }
    for list in ["modules.builtin", "modules.builtin.modinfo"] {
        let from = make.paths.objects.join(list);
        if from.is_file() {
            copy(&from, &place.join(list))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::copy(from, to).map(drop).map_err(Error::io("copy", from))
}
