//! `deb:` locators: a package of the host's distribution becomes a Kernel.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Kernel;
use crate::apt::{Archive, Description};
use crate::context::Context;
use crate::entry;
use crate::error::Error;
use crate::files;
use crate::name_cache;
use crate::store::Lock;

/// A package to fetch, with those that hold the rest of the kernel.
struct Choice {
    main: Description,
    others: Vec<Description>,
}

/// Finds a package in the store or fetches it.
pub(crate) fn resolve(text: &str, archive: &dyn Archive, context: &mut Context<'_>) -> Result<Kernel, Error> {
    let store = context.store;
    let locator = format!("deb:{text}");
    let here = candidates(&flavour_name(text)).into_iter().find_map(|package| store.newest_package(&package));
    if let Some(kernel) = here.and_then(|place| entry::open(&place, &locator)) {
        return Ok(kernel);
    }
    let lists = archive.lists();
    let meant = lists.as_ref().and_then(|lists| name_cache::recall(store, text, lists));
    if let Some(kernel) =
        meant.and_then(|meant| entry::open(&store.package(&meant.name, &meant.version), &locator))
    {
        return Ok(kernel);
    }
    let choice = choose(text, archive)?;
    let kernel = obtain(&locator, &choice, archive, context)?;
    if let Some(lists) = lists {
        name_cache::remember(store, text, lists, choice.main.into());
    }
    Ok(kernel)
}

/// Fetches what apt offers now by this name, unless it is here: with the store only, a package that was built again would not be seen.
pub(crate) fn update(text: &str, archive: &dyn Archive, context: &mut Context<'_>) -> Result<(), Error> {
    match choose(text, archive) {
        Ok(choice) => obtain(&format!("deb:{text}"), &choice, archive, context).map(drop),
        // What is here can be run all the same.
        Err(Error::NoSuchPackage { .. } | Error::EmptyLists { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Debian's User-Mode Linux, which is a package of its own.
pub(crate) fn resolve_uml(archive: &dyn Archive, context: &mut Context<'_>) -> Result<Kernel, Error> {
    const LOCATOR: &str = "uml:deb";
    const PACKAGE: &str = "user-mode-linux";
    let here = context.store.newest_package(PACKAGE);
    if let Some(kernel) = here.and_then(|place| entry::open(&place, LOCATOR)) {
        return Ok(kernel);
    }
    match archive.describe(&[PACKAGE.to_owned()])?.into_iter().next() {
        Some(main) => obtain(LOCATOR, &Choice { main, others: Vec::new() }, archive, context),
        None if archive.is_empty()? => Err(Error::EmptyLists { locator: LOCATOR.to_owned() }),
        None => Err(Error::NoSuchPackage {
            locator: LOCATOR.to_owned(),
            package: PACKAGE.to_owned(),
            series: None,
        }),
    }
}

/// The Kernel of a package that apt has named: from the store, or fetched.
fn obtain(
    locator: &str,
    choice: &Choice,
    archive: &dyn Archive,
    context: &mut Context<'_>,
) -> Result<Kernel, Error> {
    let place = context.store.package(&choice.main.package, &choice.main.version);
    if let Some(kernel) = entry::open(&place, locator) {
        return Ok(kernel);
    }
    let lock = context.store.packages().lock(&mut context.caller())?;
    // Another kiln may have fetched it while this one waited.
    if let Some(kernel) = entry::open(&place, locator) {
        return Ok(kernel);
    }
    fetch(choice, &place, &lock, archive, context)?;
    entry::open(&place, locator)
        .ok_or_else(|| Error::NoImageInPackage { package: choice.main.package.clone() })
}

/// The part of the package's name after `linux-image-`, for the newest kernel that of the meta package.
fn flavour_name(text: &str) -> String {
    let newest = |flavour: &str| match flavour {
        "" => "amd64".to_owned(),
        whole if whole == "amd64" || whole.ends_with("-amd64") => whole.to_owned(),
        part => format!("{part}-amd64"),
    };
    if text == "latest" {
        return newest("");
    }
    match text.strip_prefix("latest-") {
        Some(flavour) => newest(flavour),
        None => stem(text.strip_prefix("linux-image-").unwrap_or(text)).to_owned(),
    }
}

/// The name without what sets the unsigned package apart.
pub(crate) fn stem(name: &str) -> &str {
    name.strip_suffix("-unsigned").unwrap_or(name)
}

/// What may stand after `linux-image-` for what was typed after `deb:`: the architecture can be left away.
pub(crate) fn names(text: &str) -> Vec<String> {
    spelled(flavour_name(text))
}

fn spelled(name: String) -> Vec<String> {
    let whole = (!name.ends_with("amd64")).then(|| format!("{name}-amd64"));
    std::iter::once(name).chain(whole).collect()
}

/// The unsigned package comes first: it is the same image, and holds its modules also where the signed one
/// is made later by another source package.
fn candidates(name: &str) -> Vec<String> {
    let both = |name: String| [format!("linux-image-{name}-unsigned"), format!("linux-image-{name}")];
    spelled(name.to_owned()).into_iter().flat_map(both).collect()
}

/// The name of the package that apt has for what was typed, as it stands after `deb:`.
pub(crate) fn package_of(text: &str, archive: &dyn Archive) -> Result<String, Error> {
    let package = choose(text, archive)?.main.package;
    Ok(stem(package.strip_prefix("linux-image-").unwrap_or(&package)).to_owned())
}

/// Follows meta packages to one with a kernel in it.
fn choose(text: &str, archive: &dyn Archive) -> Result<Choice, Error> {
    const HOPS: usize = 5;
    let mut name = flavour_name(text);
    for _ in 0..HOPS {
        let names = candidates(&name);
        let found = archive.describe(&names)?;
        let main = names.iter().find_map(|name| found.iter().find(|found| found.package == *name));
        let Some(main) = main else { break };
        let next = main.depends.iter().find_map(|needs| needs.strip_prefix("linux-image-"));
        match next {
            Some(next) => name = stem(next).to_owned(),
            None => return with_others(main.clone(), archive),
        }
    }
    let package = format!("linux-image-{name}");
    let locator = format!("deb:{text}");
    let series = source_series(&name, archive)?;
    if series.is_none() && archive.is_empty()? {
        return Err(Error::EmptyLists { locator });
    }
    Err(Error::NoSuchPackage { locator, package, series })
}

/// The series that a kernel belongs to, if apt has its source.
fn source_series(name: &str, archive: &dyn Archive) -> Result<Option<String>, Error> {
    let Some(series) = series(name) else { return Ok(None) };
    let found = archive.describe(&[format!("linux-source-{series}")])?;
    Ok((!found.is_empty()).then_some(series))
}

/// `6.12` of `6.12.117+deb12-amd64`.
fn series(name: &str) -> Option<String> {
    let (major, rest) = name.split_once('.')?;
    let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"))
}

/// Ubuntu, and Debian since Linux 6.16, put modules or the image itself into packages of their own.
fn with_others(main: Description, archive: &dyn Archive) -> Result<Choice, Error> {
    let is_part = |name: &&String| name.starts_with("linux-modules-") || name.starts_with("linux-binary-");
    let names: Vec<String> = main.depends.iter().filter(is_part).cloned().collect();
    let others = if names.is_empty() { Vec::new() } else { archive.describe(&names)? };
    Ok(Choice { main, others })
}

/// Downloads and unpacks aside, reads everything once, and puts it in place in one step.
fn fetch(
    choice: &Choice,
    place: &Path,
    lock: &Lock,
    archive: &dyn Archive,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    let workshop = context.store.packages().workshop(lock)?;
    let entry = workshop.path().join("entry");
    let root = entry.join(entry::ROOT);
    fs::create_dir_all(&root).map_err(Error::io("make", &root))?;
    for (at, part) in std::iter::once(&choice.main).chain(&choice.others).enumerate() {
        let download = workshop.path().join(format!("download-{at}"));
        let file = download_with_progress(part, &download, archive, context)?;
        context.progress(&format!("unpacking {}", part.package));
        archive.unpack(&file, &root)?;
        fs::remove_file(&file).map_err(Error::io("remove", &file))?;
    }
    let provenance = format!("{} package {} {}", distribution(), choice.main.package, choice.main.version);
    if !entry::describe(&entry, provenance, context)? {
        return Err(Error::NoImageInPackage { package: choice.main.package.clone() });
    }
    context.store.packages().publish(lock, &entry, place)
}

/// Fetches one package and reports how much of it is there.
///
/// # Errors
///
/// When apt cannot fetch it, and when `into` cannot be made.
pub fn download_with_progress(
    part: &Description,
    into: &Path,
    archive: &dyn Archive,
    context: &mut Context<'_>,
) -> Result<PathBuf, Error> {
    const MEGABYTE: u64 = 1_000_000;
    let Description { package, version, size, .. } = part;
    let megabytes = size.div_ceil(MEGABYTE);
    context.progress(&format!("fetching {package} {version} ({megabytes} MB)"));
    fs::create_dir(into).map_err(Error::io("make", into))?;
    let mut emit = |bytes: u64| {
        context.progress(&format!("fetching {package} {version}: {} of {megabytes} MB", bytes / MEGABYTE));
    };
    archive.download(part, into, &mut emit)
}

/// Whose packages these are, in a word for people.
fn distribution() -> &'static str {
    let limit = files::Limit { what: "the name of the distribution", bytes: 64 << 10 };
    match files::read_text(Path::new("/etc/os-release"), limit) {
        Ok(Some(text)) if text.lines().any(|line| line.trim() == "ID=ubuntu") => "Ubuntu",
        _ => "Debian",
    }
}

#[cfg(test)]
mod tests;
