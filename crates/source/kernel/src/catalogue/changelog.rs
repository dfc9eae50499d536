//! What a package's own changelog says of the versions behind another.

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use super::{changes, here};
use crate::files;
use crate::kernel::Kernel;
use crate::store::Store;
use crate::version;

/// Of Debian's changelog, unpacked: 6.1.192-2 has 3.7 MB that go back to 2.6; in bytes.
const SIZE_MAX: u64 = 32 << 20;

/// Its names: that of a package which somebody else wrote, and of one which is Debian's own, as the signed ones are
/// (Debian Policy, section 12.7). Where there are both, the second is not Debian's.
const NAMES: [&str; 2] = ["changelog.Debian.gz", "changelog.gz"];

/// One version of a package as its changelog tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Such as `6.1.192-2`.
    pub version: String,
    /// The releases of the stable kernel that came in with it, such as `6.1.191`, in the order of the changelog.
    pub stable: Vec<String>,
    /// What is new: an entry for each change, in one line and in the order of the changelog.
    pub changes: Vec<String>,
}

/// The releases after version `after` up to a Kernel that was unpacked from a package of Debian or Ubuntu, the newest
/// first; none where its package holds no changelog.
pub fn releases_since(kernel: &Kernel, after: &str) -> Vec<Release> {
    let text = changelog_of(&kernel.image).and_then(|path| unpacked(&path));
    text.map_or_else(Vec::new, |text| releases_in(&text, after))
}

/// The version of the package with the locator `before`, and the releases after it up to another, of packages that the store
/// has; nothing where it has no two such packages.
#[must_use]
pub fn releases_kept(store: &Store, before: &str, locator: &str) -> Option<(String, Vec<Release>)> {
    let kept = here::packages(store);
    let named = |wanted: &str| kept.iter().find(|package| package.locator == wanted);
    let (before, package) = named(before).zip(named(locator))?;
    let text = unpacked(&changelog_in(&package.folder)?)?;
    Some((before.version.clone(), releases_in(&text, &before.version)))
}

/// The changelog that was unpacked with the image at `boot/vmlinuz-…`.
fn changelog_of(image: &Path) -> Option<PathBuf> {
    changelog_in(image.parent()?.parent()?)
}

/// The changelog of a package that was unpacked into a folder.
fn changelog_in(package: &Path) -> Option<PathBuf> {
    let documents = package.join("usr/share/doc");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(documents).ok()?.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let mut places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.find(|path| files::is_plain_file(path))
}

fn unpacked(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    GzDecoder::new(File::open(path).ok()?).take(SIZE_MAX).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Reads a changelog, deb-changelog(5), down to a version that is not later than `after`.
#[must_use]
pub fn releases_in(text: &str, after: &str) -> Vec<Release> {
    let mut releases: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match heading(line) {
            Some(version) if version::debian::compare(version, after) != Ordering::Greater => break,
            Some(version) => releases.push((version, Vec::new())),
            None => releases.last_mut().into_iter().for_each(|(_, lines)| lines.push(line)),
        }
    }
    let release = |(version, lines): (&str, Vec<&str>)| Release {
        version: version.to_owned(),
        stable: changes::stable(&lines),
        changes: changes::changes(&lines),
    };
    releases.into_iter().map(release).collect()
}

/// The version in `linux (6.1.192-2) bookworm-security; urgency=high`.
fn heading(line: &str) -> Option<&str> {
    let (package, rest) = line.split_once(" (")?;
    let (version, _) = rest.split_once(") ")?;
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    (is_word(package) && is_word(version)).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::write;
    use proptest::prelude::*;
    use std::io::Write;

    const CHANGELOG: &str = "\
linux (6.1.192-2) bookworm-security; urgency=high

  * ext4: fix NULL folio (Closes: #1154101)

 -- Somebody <a@example.org>  Mon, 16 Nov 2026 11:17:40 +0100

linux (6.1.192-1) bookworm-security; urgency=high

  * New upstream stable update:
    https://www.kernel.org/pub/linux/kernel/v6.x/ChangeLog-6.1.191
    - io-wq: order the exit bit

  [ Somebody ]
  * Bump ABI to 56

 -- Somebody <a@example.org>  Mon, 16 Nov 2026 11:17:40 +0100

linux (6.1.187-1) bookworm-security; urgency=high

  * older

 -- Somebody <a@example.org>  Mon, 16 Nov 2026 11:17:40 +0100
";

    #[test]
    fn releases_after_a_version() {
        let found = releases_in(CHANGELOG, "6.1.187-1");
        let versions: Vec<&str> = found.iter().map(|release| release.version.as_str()).collect();
        assert_eq!(versions, ["6.1.192-2", "6.1.192-1"]);
        assert_eq!(found[0].changes, ["ext4: fix NULL folio (Closes: #1154101)"]);
        assert_eq!(found[1].changes, ["io-wq: order the exit bit", "Bump ABI to 56"]);
        assert_eq!(found[1].stable, ["6.1.191"]);
        assert_eq!(releases_in(CHANGELOG, "6.1.190-1"), found);
        assert_eq!((releases_in(CHANGELOG, "6.1.192-2"), releases_in(CHANGELOG, "0").len()), (Vec::new(), 3));
    }

    #[test]
    fn it_is_found_beside_the_image() {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("root/boot/vmlinuz-1");
        assert_eq!(changelog_of(&image), None);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(CHANGELOG.as_bytes()).unwrap();
        let documents = directory.path().join("root/usr/share/doc");
        let packed = packed.finish().unwrap();
        for name in ["linux-image-1/changelog.gz", "linux-modules-1/changelog.Debian.gz"] {
            let path = documents.join(name);
            write(&path, &packed);
            assert_eq!(changelog_of(&image).as_deref(), Some(&*path));
        }
        let path = documents.join("linux-image-1/changelog.Debian.gz");
        write(&path, packed);
        assert_eq!(changelog_of(&image).as_deref(), Some(&*path));
        assert_eq!(unpacked(&path).as_deref(), Some(CHANGELOG));
        write(&path, "not packed");
        assert_eq!(unpacked(&path), None);
    }

    #[test]
    fn of_two_packages_that_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().into());
        for (package, version) in [("linux-image-1-amd64", "6.1.187-1"), ("linux-image-2-amd64", "6.1.192-2")]
        {
            let manifest = serde_json::json!({
                "format": 2, "provenance": "x", "arch": "x86_64", "image": "i", "image_size": 1, "image_hash": "",
            });
            let folder = store.package(package, version);
            write(&folder.join("manifest.json"), manifest.to_string());
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(CHANGELOG.as_bytes()).unwrap();
            write(&folder.join("usr/share/doc").join(package).join("changelog.gz"), packed.finish().unwrap());
        }
        let (since, releases) = releases_kept(&store, "deb:1-amd64", "deb:2-amd64").unwrap();
        assert_eq!((since.as_str(), releases.len()), ("6.1.187-1", 2));
        assert_eq!(releases_kept(&store, "deb:1-amd64", "deb:3-amd64"), None);
        assert_eq!(releases_kept(&store, "host", "deb:2-amd64"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String, heading in "linux \\([^ ]{0,9}\\)? ?[a-z]{0,3}", after: String) {
            let _ = releases_in(&text, &after);
            let _ = releases_in(&format!("{heading}\n{text}\n{heading}\n"), &after);
        }
    }
}
