//! The source that Debian publishes: a package with an archive in it, unpacked once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::Task;

use crate::Error;
use kernel::Context;
use kernel::apt::{Archive, Description};
use kernel::deb::download_with_progress;
use kernel::name_cache;
use kernel::store::{Lease, Lock, Store};

/// An unpacked source package.
#[derive(Debug)]
pub(super) struct Found {
    /// Package and version.
    pub(super) title: String,
    /// The top of its tree.
    pub(super) tree: PathBuf,
    /// Against pruning.
    pub(super) lease: Option<Lease>,
}

const PREFIX: &str = "linux-source-";
const TREE: &str = "tree";
/// Unpacking a gigabyte takes seconds, on a slow disk minutes.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// The source that `name` means: a series such as `6.1`, or a version such as `6.1.187-1`.
pub(super) fn find(name: &str, archive: &dyn Archive, context: &mut Context<'_>) -> Result<Found, Error> {
    let key = format!("deb-source:{name}");
    let lists = archive.lists();
    let kept = lists.as_ref().and_then(|lists| name_cache::recall(context.store, &key, lists));
    if let Some(found) = kept.and_then(|kept| open(&kept.name, &kept.version, context)) {
        return Ok(found);
    }
    let part = choose(name, archive)?;
    if let Some(lists) = lists {
        name_cache::remember(context.store, &key, lists, part.clone().into());
    }
    if let Some(found) = open(&part.package, &part.version, context) {
        return Ok(found);
    }
    let shelf = context.store.sources();
    let lock = shelf.lock(&mut context.caller())?;
    // Another kiln may have fetched it while this one waited.
    if let Some(found) = open(&part.package, &part.version, context) {
        return Ok(found);
    }
    fetch(&part, &lock, archive, context)?;
    open(&part.package, &part.version, context).ok_or(Error::NoSourceInPackage { package: part.package })
}

fn place(package: &str, version: &str, context: &Context<'_>) -> PathBuf {
    context.store.sources().entry(&format!("{package}_{version}"))
}

fn open(package: &str, version: &str, context: &Context<'_>) -> Option<Found> {
    let place = place(package, version, context);
    let lease = Store::lease(&place).ok();
    let tree = place.join(TREE);
    tree.join("Makefile").is_file().then(|| Found { title: format!("{package} {version}"), tree, lease })
}

/// The package of that series, or the one whose version it is.
fn choose(name: &str, archive: &dyn Archive) -> Result<Description, Error> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let mut numbers = name.split('.');
    let series = match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => format!("{major}.{}", minor.split(['-', '~']).next().unwrap_or(minor)),
        _ => name.to_owned(),
    };
    let package = format!("{PREFIX}{series}");
    let all = archive.versions(&package)?;
    let chosen = match series == name {
        true => all.first(),
        false => all.iter().find(|found| found.version == name),
    };
    if let Some(chosen) = chosen {
        return Ok(chosen.clone());
    }
    if archive.is_empty()? {
        return Err(kernel::Error::EmptyLists { locator: format!("deb-source:{name}") }.into());
    }
    let versions = all.iter().map(|found| found.version.clone()).collect();
    Err(Error::NoSourcePackage { text: name.to_owned(), package, versions })
}

/// Downloads and unpacks aside, and puts the tree in place in one step.
fn fetch(
    part: &Description,
    lock: &Lock,
    archive: &dyn Archive,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    let shelf = context.store.sources();
    let workshop = shelf.workshop(lock)?;
    let file = download_with_progress(part, &workshop.path().join("download"), archive, context)?;
    context.progress(&format!("unpacking {}", part.package));
    let unpacked = workshop.path().join("package");
    archive.unpack(&file, &unpacked)?;
    let tarball = tarball(&unpacked.join("usr/src"), &part.package);
    let tarball = tarball.ok_or_else(|| Error::NoSourceInPackage { package: part.package.clone() })?;
    let entry = workshop.path().join("entry");
    let tree = entry.join(TREE);
    fs::create_dir_all(&tree).map_err(Error::io("make", &tree))?;
    let [from, to] = [&tarball, &tree].map(|path| path.display().to_string());
    let arguments =
        ["--extract", "--strip-components=1", "--no-same-owner", "--file", &from, "--directory", &to];
    let done = Task::new("tar", &arguments, context.interrupt).limit(LIMIT).run(&mut || {});
    let done = done.map_err(Error::from)?;
    if !done.success {
        let reason = done.complaint.lines().next().unwrap_or_default().to_owned();
        return Err(kernel::Error::Command { action: format!("unpacking {}", part.package), reason }.into());
    }
    Ok(shelf.publish(lock, &entry, &place(&part.package, &part.version, context))?)
}

/// Beside it lie patches, which it has already.
fn tarball(directory: &Path, package: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?;
    let is_tarball = |name: &str| name.starts_with(&format!("{package}.tar"));
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_tarball))
}
