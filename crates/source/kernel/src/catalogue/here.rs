//! Kernels that are on this host: unpacked in the store, or installed in `/boot`.

use std::fs;
use std::path::{Path, PathBuf};

use super::entry::{Entry, State};
use crate::builds::{self, Record};
use crate::deb;
use crate::entry::{self, Manifest};
use crate::error::Error;
use crate::prune::disk_usage;
use crate::store::Store;
use crate::tree;
use crate::version;
use crate::version::text::{date, flavour, package_version};

/// A package in the store.
pub(super) struct Package {
    pub(super) locator: String,
    pub(super) version: String,
    flavour: String,
    /// Where it was unpacked.
    pub(super) folder: PathBuf,
    manifest: Manifest,
}

/// The packages in the store, the newest version first: that is what its locator would give.
pub(super) fn packages(store: &Store) -> Vec<Package> {
    let shelf = store.packages();
    let package = |(entry, manifest): (String, Manifest)| {
        let (package, version) = entry.split_once('_').unwrap_or((&entry, ""));
        let (locator, flavour) = match package.strip_prefix("linux-image-") {
            Some(name) => (format!("deb:{}", deb::stem(name)), flavour(deb::stem(name))),
            None if package == "user-mode-linux" => ("uml:deb".to_owned(), "um".to_owned()),
            None => return None,
        };
        Some(Package { locator, version: version.to_owned(), flavour, folder: shelf.entry(&entry), manifest })
    };
    let mut packages: Vec<Package> = entry::all(&shelf).into_iter().filter_map(package).collect();
    packages.sort_by(|a, b| version::debian::compare(&b.version, &a.version));
    packages
}

/// The same for people.
pub(super) fn cached(store: &Store) -> Vec<Entry> {
    let entry = |package: Package| Entry {
        locator: package.locator,
        version: package.version,
        flavour: package.flavour,
        date: package.manifest.version_text.as_deref().and_then(date),
        size: Some(disk_usage(&package.folder)),
        state: State::Cached,
        note: None,
    };
    packages(store).into_iter().map(entry).collect()
}

/// What kiln has built.
pub(super) fn built(store: &Store) -> Vec<Entry> {
    let shelf = store.builds();
    let entry = |(identity, manifest): (String, Manifest)| Entry {
        locator: builds::locator(&identity),
        version: manifest.release.unwrap_or_default(),
        flavour: Record::read(&shelf.entry(&identity)).map_or_else(String::new, |record| record.flavour()),
        date: Record::read(&shelf.entry(&identity)).map(|record| record.date),
        size: Some(disk_usage(&shelf.entry(&identity))),
        state: State::Built,
        note: Some(manifest.provenance),
    };
    entry::all(&shelf).into_iter().map(entry).collect()
}

/// The kernels in the `/boot` of a root directory; the one that is running is `host`.
pub(super) fn installed(root: &Path, running: &str) -> Vec<Entry> {
    let files = fs::read_dir(root.join("boot")).into_iter().flatten().flatten();
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // Fedora and others keep it with the modules and copy it to /boot only on some machines.
    let with_modules = root.join("lib/modules").join(running).join("vmlinuz");
    let of_running = format!("vmlinuz-{running}");
    let mut found: Vec<Entry> = Vec::new();
    if !names.contains(&of_running) {
        found.extend(of_file(&with_modules, running, true));
    }
    names.sort();
    for name in &names {
        if let Some(release) = name.strip_prefix("vmlinuz-") {
            found.extend(of_file(&root.join("boot").join(name), release, release == running));
        }
    }
    found
}

/// A file that is a kernel, or that may be one and only root may read.
fn of_file(path: &Path, release: &str, is_running: bool) -> Option<Entry> {
    let (text, note) = match tree::inspect(path) {
        Ok(inspected) => (inspected.image.version, None),
        Err(Error::Unreadable { .. }) => (None, Some("not readable by you".to_owned())),
        Err(_) => return None,
    };
    let text = text.unwrap_or_default();
    Some(Entry {
        locator: if is_running { "host".to_owned() } else { path.display().to_string() },
        version: package_version(&text).unwrap_or(release).to_owned(),
        flavour: flavour(release),
        date: date(&text),
        size: path.metadata().ok().map(|found| found.len()),
        state: State::Installed,
        note,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::{bz_image, write};

    #[test]
    fn kernels_in_boot() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let text = |release: &str| bz_image(&format!("{release} (x) #1 SMP Debian 6.1.192-2 (2026-11-16)"));
        write(&root.join("boot/vmlinuz-6.1.0-56-cloud-amd64"), text("6.1.0-56-cloud-amd64"));
        write(&root.join("boot/vmlinuz-6.2.0"), bz_image("6.2.0 (x) #1"));
        write(&root.join("boot/vmlinuz-old.txt"), "text");
        write(&root.join("boot/config-6.2.0"), "");
        let found = installed(root, "6.2.0");
        let facts: Vec<_> = found
            .iter()
            .map(|entry| (entry.version.as_str(), entry.flavour.as_str(), entry.date.as_deref()))
            .collect();
        assert_eq!(facts, [("6.1.192-2", "cloud", Some("2026-11-16")), ("6.2.0", "", None)]);
        assert!(found[0].locator.ends_with("boot/vmlinuz-6.1.0-56-cloud-amd64"));
        assert_eq!((found[1].locator.as_str(), found[1].size), ("host", Some(2048)));
        assert_eq!(installed(&root.join("nowhere"), "6.2.0"), []);
    }

    #[test]
    fn the_running_kernel_also_beside_its_modules() {
        let directory = tempfile::tempdir().unwrap();
        write(&directory.path().join("lib/modules/6.2.0/vmlinuz"), bz_image("6.2.0 (x) #1"));
        let found = installed(directory.path(), "6.2.0");
        assert_eq!(found.iter().map(|entry| entry.locator.as_str()).collect::<Vec<_>>(), ["host"]);
    }

    #[test]
    fn packages_in_the_store() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().into());
        for (package, version) in [
            ("linux-image-6.1.0-56-cloud-amd64-unsigned", "6.1.192-1"),
            ("linux-image-6.1.0-56-cloud-amd64-unsigned", "6.1.192-2"),
            ("user-mode-linux", "6.1um4+b13"),
            ("something-else", "1"),
        ] {
            let manifest = serde_json::json!({
                "format": 2, "provenance": "x", "arch": "x86_64", "image": "i", "image_size": 1, "image_hash": "",
                "version_text": "6.1 (x) #1 Debian 6.1.192-2 (2026-11-16)",
            });
            write(&store.package(package, version).join("manifest.json"), manifest.to_string());
        }
        write(&store.package("half", "1").join("manifest.json"), "{");
        let found = cached(&store);
        let facts: Vec<_> =
            found.iter().map(|entry| (entry.locator.as_str(), entry.version.as_str())).collect();
        let cloud = "deb:6.1.0-56-cloud-amd64";
        assert_eq!(facts, [(cloud, "6.1.192-2"), (cloud, "6.1.192-1"), ("uml:deb", "6.1um4+b13")]);
        assert!(found.iter().all(|entry| entry.size.is_some_and(|size| size > 0)));
        assert_eq!(found[0].date.as_deref(), Some("2026-11-16"));
    }
}
