use super::*;
use std::cell::Cell;
use std::path::{Path, PathBuf};

fn package(name: &str, version: &str, depends: &[&str], size: u64) -> Description {
    Description {
        package: name.into(),
        version: version.into(),
        architecture: if name.starts_with("linux-source") { "all".into() } else { "amd64".into() },
        depends: depends.iter().map(|name| (*name).to_owned()).collect(),
        size,
    }
}

fn debian() -> Vec<Description> {
    vec![
        package("linux-image-amd64", "6.1.192-2", &["linux-image-6.1.0-56-amd64"], 1),
        package("linux-image-6.12-amd64", "6.12.117-1", &["linux-image-6.12.117+deb12-amd64"], 1),
        package("linux-image-6.12-amd64-signed-template", "6.12.117-1", &["dpkg-dev"], 2),
        package("linux-image-6.1.0-56-amd64-unsigned", "6.1.192-2", &["kmod"], 70),
        package("linux-image-6.1.0-56-amd64", "6.1.192-2", &["kmod"], 71),
        package("linux-image-6.1.0-56-amd64-dbg", "6.1.192-2", &[], 1000),
        package("linux-image-6.1.0-48-cloud-amd64", "6.1.172-1", &["kmod"], 30),
        package("linux-source", "6.1.192-2", &["linux-source-6.1"], 1),
        package("linux-source-6.1", "6.1.192-2", &["binutils"], 139),
        package("user-mode-linux", "6.1um4+b13", &["libc6"], 41),
        package("linux-image-6.1.0-1-amd64", "6.1.4-1", &["kmod"], 0),
    ]
}

fn facts(entries: &[Entry]) -> Vec<(&str, &str, u64, State)> {
    entries
        .iter()
        .map(|entry| (entry.locator.as_str(), entry.flavour.as_str(), entry.size.unwrap_or(0), entry.state))
        .collect()
}

#[test]
fn one_entry_for_a_kernel_and_none_for_what_holds_no_image() {
    let entries = select(&debian());
    let wanted = [
        ("deb:6.1.0-48-cloud-amd64", "cloud", 30, State::Offered),
        ("deb:6.1.0-56-amd64", "amd64", 70, State::Offered),
        ("deb-source:6.1", "", 139, State::Source),
        ("uml:deb", "um", 41, State::Offered),
    ];
    assert_eq!(facts(&entries), wanted);
    assert_eq!(entries[2].note.as_deref(), Some("source only: kiln build deb-source:6.1"));
}

#[test]
fn parts_in_other_packages_count_and_other_architectures_do_not() {
    let mut packages = vec![
        package("linux-image-6.8.0-31-generic", "6.8.0-31.31", &["linux-modules-6.8.0-31-generic"], 14),
        package(
            "linux-image-unsigned-6.8.0-31-generic",
            "6.8.0-31.31",
            &["linux-modules-6.8.0-31-generic"],
            13,
        ),
        package("linux-modules-6.8.0-31-generic", "6.8.0-31.31", &[], 100),
        package("linux-image-generic", "6.8.0-31.31", &["linux-image-6.8.0-31-generic"], 1),
    ];
    let arm = package("linux-image-6.1.0-56-arm64", "6.1.192-2", &[], 9);
    packages.push(Description { architecture: "arm64".into(), ..arm });
    packages.push(package("linux-image-unsigned-6.8.0-9-generic", "6.8.0-9.9", &[], 12));
    let wanted = [
        ("deb:6.8.0-31-generic", "generic", 114, State::Offered),
        ("deb:unsigned-6.8.0-9-generic", "generic", 12, State::Offered),
    ];
    assert_eq!(facts(&select(&packages)), wanted);
}

/// An archive that counts how often it is asked.
struct Counting {
    packages: Vec<Description>,
    lists: Option<&'static str>,
    asked: Cell<usize>,
}

impl Archive for Counting {
    fn describe(&self, _: &[String]) -> Result<Vec<Description>, Error> {
        self.asked.set(self.asked.get() + 1);
        Ok(self.packages.clone())
    }

    fn versions(&self, _: &str) -> Result<Vec<Description>, Error> {
        unreachable!("a list asks for no package in particular")
    }

    fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.packages.is_empty())
    }

    fn lists(&self) -> Option<String> {
        self.lists.map(str::to_owned)
    }

    fn download(&self, _: &Description, _: &Path, _: &mut dyn FnMut(u64)) -> Result<PathBuf, Error> {
        unreachable!("a list fetches nothing")
    }

    fn unpack(&self, _: &Path, _: &Path) -> Result<(), Error> {
        unreachable!("a list fetches nothing")
    }
}

#[test]
fn apt_is_asked_again_only_when_its_lists_changed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().into());
    let mut archive = Counting { packages: debian(), lists: Some("November"), asked: Cell::new(0) };
    let first = entries(&store, &archive).unwrap();
    assert_eq!((entries(&store, &archive).unwrap(), archive.asked.get()), (first.clone(), 1));
    archive.lists = Some("December");
    assert_eq!((entries(&store, &archive).unwrap(), archive.asked.get()), (first, 2));
    archive.lists = None;
    entries(&store, &archive).unwrap();
    entries(&store, &archive).unwrap();
    assert_eq!(archive.asked.get(), 4);
}

#[test]
fn lists_that_were_never_fetched_are_not_remembered() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().into());
    let mut archive = Counting { packages: Vec::new(), lists: Some("November"), asked: Cell::new(0) };
    assert!(matches!(entries(&store, &archive), Err(Error::EmptyLists { .. })));
    archive.packages = debian();
    assert_eq!(entries(&store, &archive).unwrap().len(), 4);
}
