//! `deb:` locators: a package of the host's distribution becomes a Kernel.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Kernel;
use crate::apt::{Archive, Description};
use crate::error::Error;
use crate::files;
use crate::index::Index;
use crate::kernel::{Arch, read_config};
use crate::meanings;
use crate::modules::Modules;
use crate::store::{FORMAT, Lock, Store, read_json, write_json};
use crate::survey::{Layout, Survey};
use crate::tree;

/// What the store knows about a package, so that a second run reads no image and no module.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    package: String,
    version: String,
    release: Option<String>,
    version_text: Option<String>,
    /// These paths are relative to the unpacked package.
    image: PathBuf,
    image_size: u64,
    image_hash: String,
    modules: Option<PathBuf>,
    modules_hash: Option<String>,
    config: Option<PathBuf>,
    system_map: Option<PathBuf>,
}

/// A package to fetch, with those that hold the rest of the kernel.
struct Choice {
    main: Description,
    others: Vec<Description>,
}

const MANIFEST: &str = "manifest.json";
const INDEX: &str = "modules.json";
const ROOT: &str = "root";

/// Finds a package in the store or fetches it.
pub(crate) fn resolve(
    text: &str,
    store: &Store,
    archive: &dyn Archive,
    progress: &mut dyn FnMut(&str),
) -> Result<Kernel, Error> {
    let name = flavour_name(text);
    let here = candidates(&name).iter().find_map(|package| store.newest_package(package));
    if let Some(kernel) = here.and_then(|place| open(&place, text)) {
        return Ok(kernel);
    }
    let lists = archive.lists();
    let meant = lists.as_ref().and_then(|lists| meanings::recall(store, text, lists));
    if let Some(kernel) = meant.and_then(|place| open(&place, text)) {
        return Ok(kernel);
    }
    let choice = choose(text, &name, archive)?;
    let kernel = obtain(text, &choice, store, archive, progress)?;
    if let Some(lists) = lists {
        meanings::remember(store, text, lists, (&choice.main.package, &choice.main.version));
    }
    Ok(kernel)
}

/// The Kernel of a package that apt has named: from the store, or fetched.
fn obtain(
    text: &str,
    choice: &Choice,
    store: &Store,
    archive: &dyn Archive,
    progress: &mut dyn FnMut(&str),
) -> Result<Kernel, Error> {
    let place = store.package(&choice.main.package, &choice.main.version);
    if let Some(kernel) = open(&place, text) {
        return Ok(kernel);
    }
    let lock = store.lock(progress)?;
    // Another kiln may have fetched it while this one waited.
    if let Some(kernel) = open(&place, text) {
        return Ok(kernel);
    }
    fetch(choice, &place, (store, &lock), archive, progress)?;
    open(&place, text).ok_or_else(|| Error::NoImageInPackage { package: choice.main.package.clone() })
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

fn stem(name: &str) -> &str {
    name.strip_suffix("-unsigned").unwrap_or(name)
}

/// The unsigned package comes first: it is the same image, and holds its modules also where the signed one
/// is made later by another source package.
fn candidates(name: &str) -> [String; 2] {
    [format!("linux-image-{name}-unsigned"), format!("linux-image-{name}")]
}

/// Follows meta packages to one with a kernel in it.
fn choose(text: &str, name: &str, archive: &dyn Archive) -> Result<Choice, Error> {
    const HOPS: usize = 5;
    let mut name = name.to_owned();
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
    let [_, package] = candidates(&name);
    match archive.is_empty()? {
        true => Err(Error::EmptyLists { text: text.to_owned() }),
        false => Err(Error::NoSuchPackage { text: text.to_owned(), package }),
    }
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
    (store, lock): (&Store, &Lock),
    archive: &dyn Archive,
    progress: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let workshop = store.workshop(lock)?;
    let entry = workshop.path().join("entry");
    let root = entry.join(ROOT);
    fs::create_dir_all(&root).map_err(Error::io("make", &root))?;
    for (at, part) in std::iter::once(&choice.main).chain(&choice.others).enumerate() {
        let Description { package, version, size, .. } = part;
        progress(&format!("fetching {package} {version} ({} MB)", size.div_ceil(1_000_000)));
        let download = workshop.path().join(format!("download-{at}"));
        fs::create_dir(&download).map_err(Error::io("make", &download))?;
        let file = archive.download(package, version, &download)?;
        progress(&format!("unpacking {package}"));
        archive.unpack(&file, &root)?;
        fs::remove_file(&file).map_err(Error::io("remove", &file))?;
    }
    let manifest = describe(&choice.main, &entry, progress)?;
    write_json(&entry.join(MANIFEST), &manifest)?;
    store.publish(lock, &entry, place)
}

fn describe(main: &Description, entry: &Path, progress: &mut dyn FnMut(&str)) -> Result<Manifest, Error> {
    let no_image = || Error::NoImageInPackage { package: main.package.clone() };
    // The survey has real paths, and so must all that is made relative to the root.
    let root = entry.join(ROOT);
    let root = root.canonicalize().map_err(Error::io("find", &root))?;
    let found = tree::installed_root(&root)?.ok_or_else(no_image)?;
    let inspected = tree::inspect(&found.image)?;
    let relative = |path: &Path| path.strip_prefix(&root).map(Path::to_owned).unwrap_or_default();
    let mut modules_hash = None;
    if let Some((modules, _)) = &found.modules {
        let survey = Survey::make(modules, Layout::Installed)?;
        progress(&format!("reading {} modules", survey.files.len()));
        let index = Index::build(&survey)?;
        write_json(&entry.join(INDEX), &index)?;
        modules_hash = Some(index.hash);
    }
    Ok(Manifest {
        format: FORMAT,
        package: main.package.clone(),
        version: main.version.clone(),
        release: inspected.image.release().or_else(|| found.release.clone()),
        version_text: inspected.image.version,
        image: relative(&found.image),
        image_size: inspected.size,
        image_hash: inspected.hash,
        modules: found.modules.map(|(modules, _)| relative(&modules)),
        modules_hash,
        config: found.config.as_deref().map(relative),
        system_map: found.system_map.as_deref().map(relative),
    })
}

/// The Kernel of a package in the store; nothing if a part is missing, so that it is fetched again.
fn open(place: &Path, text: &str) -> Option<Kernel> {
    let manifest: Manifest = read_json(&place.join(MANIFEST))?;
    let root = place.canonicalize().ok()?.join(ROOT);
    let image = root.join(&manifest.image);
    let size = image.metadata().ok()?.len();
    if manifest.format != FORMAT || size != manifest.image_size {
        return None;
    }
    let modules = match &manifest.modules {
        Some(path) => {
            let index: Index = read_json(&place.join(INDEX))?;
            let is_whole = root.join(path).is_dir() && manifest.modules_hash.as_ref() == Some(&index.hash);
            is_whole.then(|| Modules::new(root.join(path), index))?
        }
        None => Modules::unknown(),
    };
    let config = manifest.config.as_ref().map(|path| read_config(&root.join(path)));
    Some(Kernel {
        locator: format!("deb:{text}"),
        image,
        image_hash: manifest.image_hash,
        release: manifest.release,
        version_text: manifest.version_text,
        arch: Arch::X86_64,
        modules,
        config: config.transpose().ok()?,
        system_map: manifest.system_map.map(|path| root.join(path)),
        provenance: format!("{} package {} {}", distribution(), manifest.package, manifest.version),
    })
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
#[path = "deb_tests.rs"]
mod tests;
