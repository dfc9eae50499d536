use super::*;
use crate::store::Store;
use fixture::NEVER;
use fixture::package_root;
use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An archive whose packages are made when they are unpacked.
#[derive(Default)]
struct Fake {
    packages: Vec<Description>,
    downloads: AtomicUsize,
    lists: Option<&'static str>,
    /// What goes wrong at unpacking.
    failure: Mutex<Option<&'static str>>,
}

impl Archive for Fake {
    fn describe(&self, packages: &[String]) -> Result<Vec<Description>, Error> {
        Ok(self.packages.iter().filter(|known| packages.contains(&known.package)).cloned().collect())
    }

    fn versions(&self, package: &str) -> Result<Vec<Description>, Error> {
        self.describe(&[package.to_owned()])
    }

    fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.packages.is_empty())
    }

    fn lists(&self) -> Option<String> {
        self.lists.map(str::to_owned)
    }

    fn download(&self, part: &Description, into: &Path, emit: &mut dyn FnMut(u64)) -> Result<PathBuf, Error> {
        let Description { package, version, .. } = part;
        emit(0);
        self.downloads.fetch_add(1, Ordering::SeqCst);
        let path = into.join(format!("{package}_{version}.deb"));
        fs::write(&path, package).unwrap();
        Ok(path)
    }

    fn unpack(&self, file: &Path, into: &Path) -> Result<(), Error> {
        let package = fs::read_to_string(file).unwrap();
        let release = stem(package.strip_prefix("linux-image-").unwrap_or("")).to_owned();
        let failure = *self.failure.lock().unwrap();
        match failure {
            Some("half") => {
                fs::create_dir_all(into.join("boot")).unwrap();
                Err(Error::Command { action: "dpkg-deb -x".into(), reason: "unexpected end of file".into() })
            }
            Some(_) => Ok(()),
            None => {
                package_root(into, &release);
                Ok(())
            }
        }
    }
}

fn package(name: &str, version: &str, depends: &[&str]) -> Description {
    Description {
        package: name.into(),
        version: version.into(),
        architecture: "amd64".into(),
        depends: depends.iter().map(|name| (*name).to_owned()).collect(),
        size: 1,
    }
}

fn debian() -> Fake {
    let packages = vec![
        package("linux-image-amd64", "6.1.2-1", &["linux-image-6.1.0-2-amd64"]),
        package("linux-image-cloud-amd64", "6.1.2-1", &["linux-image-6.1.0-2-cloud-amd64"]),
        package("linux-image-6.1.0-2-amd64", "6.1.2-1", &["kmod"]),
        package("linux-image-6.1.0-2-cloud-amd64", "6.1.2-1", &["kmod"]),
        package("linux-image-6.1.0-2-cloud-amd64-unsigned", "6.1.2-1", &["kmod"]),
        package("linux-image-round-amd64", "1", &["linux-image-round-amd64"]),
        package("linux-source-6.12", "6.12.117-1", &[]),
    ];
    Fake { packages, ..Fake::default() }
}

struct Place {
    directory: tempfile::TempDir,
    store: Store,
}

fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    Place { store: Store::new(directory.path().into()), directory }
}

fn get(text: &str, place: &Place, fake: &Fake) -> Result<Kernel, Error> {
    resolve(text, fake, &mut Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER })
}

#[test]
fn names_of_flavours() {
    for (text, name) in [
        ("latest", "amd64"),
        ("latest-amd64", "amd64"),
        ("latest-cloud", "cloud-amd64"),
        ("latest-cloud-amd64", "cloud-amd64"),
        ("latest-rt", "rt-amd64"),
        ("6.1.0-56-cloud-amd64", "6.1.0-56-cloud-amd64"),
        ("linux-image-6.1.0-56-amd64-unsigned", "6.1.0-56-amd64"),
    ] {
        assert_eq!(flavour_name(text), name, "{text}");
    }
}

#[test]
fn fetched_once_and_then_from_the_store() {
    let (place, fake) = (place(), debian());
    let first = get("6.1.0-2-cloud-amd64", &place, &fake).unwrap();
    assert_eq!(
        first.provenance,
        format!("{} package linux-image-6.1.0-2-cloud-amd64-unsigned 6.1.2-1", distribution())
    );
    assert_eq!(first.release.as_deref(), Some("6.1.0-2-cloud-amd64"));
    assert_eq!(first.locator, "deb:6.1.0-2-cloud-amd64");
    assert!(first.config.as_ref().is_some_and(|config| config.is_enabled("64BIT")));
    assert_eq!(first.modules.closure(&["virtio_blk"]).unwrap().len(), 2);
    // An empty archive: nothing but the store can answer.
    let second = get("6.1.0-2-cloud-amd64", &place, &Fake::default()).unwrap();
    assert_eq!(second.identity("quiet"), first.identity("quiet"));
    assert!(second.modules.closure(&["virtio_blk"]).unwrap()[0].path.is_file());
    let third = get("latest-cloud", &place, &fake).unwrap();
    assert_eq!((third.image, third.locator.as_str()), (first.image, "deb:latest-cloud"));
    assert_eq!(fake.downloads.load(Ordering::SeqCst), 1);
}

#[test]
fn the_architecture_can_be_left_away() {
    let (place, fake) = (place(), debian());
    let kernel = get("6.1.0-2-cloud", &place, &fake).unwrap();
    assert_eq!(kernel.release.as_deref(), Some("6.1.0-2-cloud-amd64"));
    let again = get("6.1.0-2-cloud", &place, &Fake::default()).unwrap();
    assert_eq!((again.image, again.locator.as_str()), (kernel.image, "deb:6.1.0-2-cloud"));
    assert_eq!(get("6.1.0-2", &place, &fake).unwrap().release.as_deref(), Some("6.1.0-2-amd64"));
    for (text, wanted) in [("latest-cloud", "6.1.0-2-cloud-amd64"), ("6.1.0-2", "6.1.0-2-amd64")] {
        assert_eq!(package_of(text, &fake).unwrap(), wanted);
    }
}

#[test]
fn a_name_that_moves_is_looked_up_again_when_the_lists_change() {
    let place = place();
    let november = Fake { lists: Some("November"), ..debian() };
    let first = get("latest-cloud", &place, &november).unwrap();
    let nothing_new = Fake { lists: Some("November"), ..Fake::default() };
    assert_eq!(get("latest-cloud", &place, &nothing_new).unwrap().image, first.image);
    let december = Fake { lists: Some("December"), ..Fake::default() };
    assert!(get("latest-cloud", &place, &december).is_err());
    let unknown = Fake::default();
    assert!(get("latest-cloud", &place, &unknown).is_err());
}

#[test]
fn meta_packages_lead_to_signed_ones_where_no_other_is() {
    let (place, fake) = (place(), debian());
    let kernel = get("latest", &place, &fake).unwrap();
    assert!(kernel.provenance.ends_with("linux-image-6.1.0-2-amd64 6.1.2-1"), "{}", kernel.provenance);
}

#[test]
fn unknown_names_are_the_users_fault_and_empty_lists_are_not() {
    let place = place();
    for text in ["9.9.9-1-amd64", "round-amd64"] {
        let error = get(text, &place, &debian()).unwrap_err();
        assert!(matches!(error, Error::NoSuchPackage { .. }) && error.is_usage(), "{error}");
    }
    let error = get("latest", &place, &Fake::default()).unwrap_err();
    assert!(error.to_string().contains("run `apt-get update`") && !error.is_usage(), "{error}");
}

#[test]
fn where_there_is_only_source_the_error_says_how_to_build_it() {
    let place = place();
    for text in ["6.12", "6.12-amd64", "6.12.117-amd64", "linux-image-6.12.9+bpo-amd64-unsigned"] {
        let error = get(text, &place, &debian()).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("kiln build deb-source:6.12"), "{error}");
    }
    for text in ["6.13-amd64", "12", "six.12-amd64", "6.-amd64"] {
        let error = get(text, &place, &debian()).unwrap_err();
        assert!(!error.to_string().contains("kiln build"), "{error}");
    }
}

#[test]
fn a_broken_download_is_never_taken_for_a_kernel() {
    let (place, fake) = (place(), debian());
    for failure in ["half", "empty"] {
        *fake.failure.lock().unwrap() = Some(failure);
        let error = get("6.1.0-2-amd64", &place, &fake).unwrap_err();
        assert_eq!(matches!(error, Error::Command { .. }), failure == "half", "{error}");
    }
    let left = fs::read_dir(place.directory.path().join("deb")).unwrap().count();
    assert_eq!(left, 1, "just the lock");
    *fake.failure.lock().unwrap() = None;
    get("6.1.0-2-amd64", &place, &fake).unwrap();
}

#[test]
fn damage_in_the_store_is_repaired() {
    let (place, fake) = (place(), debian());
    let kernel = get("6.1.0-2-amd64", &place, &fake).unwrap();
    let entry = place.store.package("linux-image-6.1.0-2-amd64", "6.1.2-1");
    let breaks: [&dyn Fn(); 5] = [
        &|| fs::write(&kernel.image, "short").unwrap(),
        &|| fs::remove_file(&kernel.image).unwrap(),
        &|| fs::write(entry.join("manifest.json"), "{}").unwrap(),
        &|| fs::remove_file(entry.join("modules.json")).unwrap(),
        &|| fs::remove_dir_all(entry.join(entry::ROOT).join("lib")).unwrap(),
    ];
    for (at, harm) in breaks.iter().enumerate() {
        harm();
        let again = get("6.1.0-2-amd64", &place, &fake).unwrap();
        assert_eq!(again.identity(""), kernel.identity(""));
        assert_eq!(fake.downloads.load(Ordering::SeqCst), at + 2);
    }
}

#[test]
fn two_at_once_fetch_once() {
    let (place, fake) = (place(), debian());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| get("6.1.0-2-amd64", &place, &fake).unwrap());
        }
    });
    assert_eq!(fake.downloads.load(Ordering::SeqCst), 1);
}

#[test]
fn parts_in_other_packages_are_fetched_too() {
    let place = place();
    let packages = vec![
        package("linux-image-6.8.0-1-generic", "6.8.0-1.1", &["linux-base", "linux-modules-6.8.0-1-generic"]),
        package("linux-modules-6.8.0-1-generic", "6.8.0-1.1", &[]),
    ];
    let fake = Fake { packages, ..Fake::default() };
    let lines = RefCell::new(Vec::new());
    let kernel = resolve(
        "6.8.0-1-generic",
        &fake,
        &mut Context {
            store: &place.store,
            listener: &mut |news| lines.borrow_mut().push(format!("{news:?}")),
            interrupt: &NEVER,
        },
    );
    // The fake archive makes a root for any package; the one for modules has no valid release and adds nothing.
    assert_eq!(kernel.unwrap().release.as_deref(), Some("6.8.0-1-generic"));
    assert_eq!(fake.downloads.load(Ordering::SeqCst), 2);
    assert!(lines.borrow().iter().any(|line| line.contains("fetching linux-modules-6.8.0-1-generic")));
}

#[test]
fn a_kernel_stays_in_the_store_as_long_as_somebody_has_it() {
    let (place, fake) = (place(), debian());
    let kernel = get("6.1.0-2-cloud-amd64", &place, &fake).unwrap();
    let copy = kernel.clone();
    drop(kernel);
    let prune = || {
        Store::prune(0, false, &mut Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER })
            .unwrap()
    };
    assert_eq!((prune().removed.len(), prune().in_use.len()), (0, 1));
    assert!(copy.image.is_file());
    drop(copy);
    assert_eq!(prune().removed.len(), 1);
    get("6.1.0-2-cloud-amd64", &place, &fake).unwrap();
    assert_eq!(fake.downloads.load(Ordering::SeqCst), 2);
}
