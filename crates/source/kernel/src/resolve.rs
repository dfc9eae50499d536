//! The way from a locator to a Kernel.

use std::path::Path;

use crate::apt::Apt;
use crate::builds;
use crate::context::Context;
use crate::deb;
use crate::error::Error;
use crate::kernel::{Kernel, read_config};
use crate::locator::Locator;
use crate::modules::Modules;
use crate::modules::survey::Survey;
use crate::tree::{self, Inspected, Parts};

/// Finds the Kernel that a locator names, and fetches it if need be.
///
/// # Errors
///
/// When there is none, or it cannot be had.
pub fn resolve(locator: &Locator, context: &mut Context<'_>) -> Result<Kernel, Error> {
    match locator {
        Locator::Deb(text) => deb::resolve(text, &Apt { interrupt: context.interrupt }, context),
        Locator::Path(typed) => {
            let path = locator.path().unwrap_or_else(|| typed.clone());
            from_path(&path, &typed.display().to_string(), context)
        }
        Locator::Built(identity) => builds::find(identity, context),
        Locator::UmlDeb => deb::resolve_uml(&Apt { interrupt: context.interrupt }, context),
        Locator::DebSource(_) | Locator::Git { .. } => Err(Error::Source { locator: locator.to_string() }),
        Locator::Host => {
            let release = rustix::system::uname().release().to_string_lossy().into_owned();
            from_host(Path::new("/"), &release, context)
        }
    }
}

/// Has the store know the newest version of a package that apt offers; [`resolve`] then finds it. Other kernels need nothing.
///
/// # Errors
///
/// When it cannot be fetched.
pub fn update(locator: &Locator, context: &mut Context<'_>) -> Result<(), Error> {
    match locator {
        Locator::Deb(text) => deb::update(text, &Apt { interrupt: context.interrupt }, context),
        _ => Ok(()),
    }
}

fn from_path(path: &Path, typed: &str, context: &mut Context<'_>) -> Result<Kernel, Error> {
    let found = path.canonicalize().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            Error::NotFound { path: path.to_owned() }
        }
        _ => Error::Unreadable { path: path.to_owned(), source },
    })?;
    let (parts, inspected, provenance) = if found.is_dir() {
        let parts = tree::in_directory(&found)?;
        let inspected = tree::inspect(&parts.image)?;
        let kind = if tree::is_made_in(&parts.image, &found) { "build tree" } else { "directory" };
        (parts, inspected, format!("{kind} {typed}"))
    } else {
        // By the path as it was typed, since that is what an error should name.
        let inspected = tree::inspect(path)?;
        let parts = tree::around_image(&found, inspected.image.release().as_deref());
        (parts, inspected, format!("file {typed}"))
    };
    let kernel = assemble(parts, inspected, context)?;
    Ok(Kernel { locator: typed.to_owned(), provenance, ..kernel })
}

fn from_host(root: &Path, release: &str, context: &mut Context<'_>) -> Result<Kernel, Error> {
    let in_boot = root.join("boot").join(format!("vmlinuz-{release}"));
    // Fedora and others keep it with the modules and copy it to /boot only on some machines.
    let with_modules = root.join("lib/modules").join(release).join("vmlinuz");
    let Some(image) = [&in_boot, &with_modules].into_iter().find(|path| path.is_file()) else {
        return Err(Error::NoHostImage { release: release.to_owned(), path: in_boot });
    };
    let inspected = tree::inspect(image)?;
    let parts = tree::around_image(&in_boot, Some(release));
    let kernel = assemble(Parts { image: image.clone(), ..parts }, inspected, context)?;
    Ok(Kernel { locator: "host".into(), provenance: format!("this host's kernel {release}"), ..kernel })
}

fn assemble(parts: Parts, inspected: Inspected, context: &mut Context<'_>) -> Result<Kernel, Error> {
    let modules = match &parts.modules {
        Some((root, layout)) => {
            let survey = Survey::make(root, *layout)?;
            let index = context.store.index(&survey, &mut context.caller())?;
            Modules::new(survey.root, index)
        }
        None => Modules::unknown(),
    };
    let config = parts.config.as_deref().map(read_config).transpose()?;
    Ok(Kernel {
        locator: String::new(),
        image: parts.image,
        image_hash: inspected.hash,
        release: inspected.image.release().or(parts.release),
        version_text: inspected.image.version,
        arch: inspected.image.arch,
        modules,
        config,
        system_map: parts.system_map,
        provenance: String::new(),
        warnings: None,
        commit: None,
        lease: None,
    })
}

#[cfg(test)]
mod tests;
