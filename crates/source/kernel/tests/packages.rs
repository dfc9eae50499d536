//! A real package of Debian, fetched by apt. Without apt and a network these tests fail; they never skip.

#![expect(clippy::unwrap_used, reason = "clippy takes only the test functions themselves for tests")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kernel::catalogue::{Catalogue, State, packages_between, releases_since};
use kernel::{Context, Error, Kernel, Locator, Module, News, Presence, Store, resolve};
use rustix::time::{ClockId, clock_gettime};

const RELEASE: &str = "6.1.0-56-cloud-amd64";
const STORE: &str = "KILN_TEST_STORE";
const LOCATOR: &str = "KILN_TEST_LOCATOR";

static NEVER: AtomicBool = AtomicBool::new(false);

fn context<'a>(store: &'a Store, listener: &'a mut dyn FnMut(News<'_>)) -> Context<'a> {
    Context { store, listener, interrupt: &NEVER }
}

fn get(text: &str, store: &Store) -> Result<Kernel, Error> {
    resolve(&text.parse::<Locator>()?, &mut context(store, &mut |_| {}))
}

#[test]
fn a_package_of_debian() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().into());
    let mut steps = Vec::new();
    let locator = format!("deb:{RELEASE}");
    let kernel =
        resolve(&locator.parse().unwrap(), &mut context(&store, &mut |step| steps.push(format!("{step:?}"))))
            .unwrap();
    assert!(
        steps[0].starts_with("Step(\"fetching linux-image-6.1.0-56-cloud-amd64-unsigned 6.1."),
        "{steps:?}"
    );
    check_facts(&kernel);
    check_modules(&kernel);
    check_second_time(&kernel, &store);
    check_changelog(&kernel);
    check_latest(&kernel, &store);
    check_other_ways(&kernel, &store);
    check_without_apt(&kernel, directory.path());
}

fn check_facts(kernel: &Kernel) {
    assert_eq!(kernel.locator, format!("deb:{RELEASE}"));
    assert_eq!(kernel.release.as_deref(), Some(RELEASE));
    assert!(kernel.version_text.as_ref().unwrap().contains("debian-kernel@lists.debian.org"));
    assert!(kernel.provenance.starts_with("Debian package linux-image-6.1.0-56-cloud-amd64-unsigned 6.1."));
    let sum = Command::new("sha256sum").arg(&kernel.image).output().unwrap();
    assert!(String::from_utf8(sum.stdout).unwrap().starts_with(&kernel.image_hash));
    assert_eq!(kernel.config.as_ref().unwrap().value("CONFIG_XFS_FS"), Some("m"));
    assert_eq!(kernel.system_map, None, "Debian ships a placeholder");
}

fn check_changelog(kernel: &Kernel) {
    let releases = releases_since(kernel, "6.1.160-1");
    let version = &releases[0].version;
    assert!(kernel.version_text.as_ref().unwrap().contains(&format!(" Debian {version} ")), "{version}");
    assert!(releases.len() > 1 && releases.iter().all(|release| !release.changes.is_empty()));
}

fn check_modules(kernel: &Kernel) {
    let modules = &kernel.modules;
    for (name, presence) in [
        ("ext4", Presence::BuiltIn),
        ("fs-ext4", Presence::BuiltIn),
        ("virtio_blk", Presence::Loadable),
        ("virtio-pci", Presence::Loadable),
        ("crypto-crc32c", Presence::BuiltIn),
        ("xxhash64", Presence::Loadable),
        ("nouveau", Presence::Absent),
    ] {
        assert_eq!(modules.presence(name), presence, "{name}");
    }
    let names = |wanted: &str| -> Vec<String> {
        modules.closure(&[wanted]).unwrap().into_iter().map(|module| module.name).collect()
    };
    assert_eq!(names("xfs"), ["libcrc32c", "xfs"]);
    assert_eq!(names("overlay"), ["overlay"]);
    let block = names("virtio_blk");
    assert_eq!(block.last().unwrap(), "virtio_blk");
    assert!(block.contains(&"virtio".into()) && block.contains(&"virtio_ring".into()), "{block:?}");
    assert!(names("virtio_pci").contains(&"virtio_pci_modern_dev".into()));
    let all = modules.closure(&["btrfs", "xfs", "overlay", "virtio_blk", "virtio_pci"]).unwrap();
    assert!(all.iter().any(|module| module.name == "xxhash_generic"), "a soft dependency: {all:?}");
    check_order(&all);
}

/// Each module reads, and comes after what it needs.
fn check_order(modules: &[Module]) {
    for (at, module) in modules.iter().enumerate() {
        let content = module.read().unwrap();
        assert!(content.starts_with(b"\x7fELF"), "{}", module.name);
        for needs in needs_by_strings(&content) {
            let before = modules[..at].iter().any(|earlier| earlier.name == needs);
            assert!(before, "{} needs {needs} before it: {modules:?}", module.name);
        }
    }
}

/// `depends=` found without any knowledge of ELF.
fn needs_by_strings(content: &[u8]) -> Vec<String> {
    let entry = content.split(|byte| *byte == 0).find_map(|text| text.strip_prefix(b"depends="));
    let text = std::str::from_utf8(entry.unwrap()).unwrap();
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn check_second_time(first: &Kernel, store: &Store) {
    let start = cpu_time();
    let second =
        resolve(&first.locator.parse().unwrap(), &mut context(store, &mut |step| panic!("{step:?}")))
            .unwrap();
    let time = cpu_time() - start;
    assert_eq!(second.identity("quiet"), first.identity("quiet"));
    assert_ne!(second.identity("quiet"), first.identity(""));
    // Far above what it takes, far below what reading 1,100 modules or asking apt would take in this build.
    assert!(time < Duration::from_millis(300), "{time:?}");
}

/// What this thread has used.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.try_into().unwrap()
}

fn check_latest(first: &Kernel, store: &Store) {
    let latest = get("deb:latest-cloud", store).unwrap();
    assert_eq!(latest.locator, "deb:latest-cloud");
    assert!(latest.release.as_ref().unwrap().ends_with("-cloud-amd64"));
    let same = latest.release == first.release;
    assert_eq!(latest.identity("") == first.identity(""), same);
    assert_eq!(get("deb:cloud-amd64", store).unwrap().image, latest.image);
}

/// The same kernel as a file and as a directory.
fn check_other_ways(first: &Kernel, store: &Store) {
    let root = first.image.parent().and_then(Path::parent).unwrap();
    for path in [first.image.as_path(), root] {
        let kernel = get(path.to_str().unwrap(), store).unwrap();
        assert_eq!(kernel.identity("x"), first.identity("x"), "{}", path.display());
    }
    let module = first.modules.closure(&["virtio"]).unwrap().remove(0).path;
    let error = get(module.to_str().unwrap(), store).unwrap_err();
    assert!(error.to_string().contains("is an object file or a module, not a kernel image"), "{error}");
}

/// This very program again, where neither apt nor anything else can be found.
fn check_without_apt(first: &Kernel, store: &Path) {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "in_a_place_without_apt", "--ignored", "--nocapture"])
        .env("PATH", "/nonexistent")
        .env(STORE, store)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{text}{}", String::from_utf8_lossy(&child.stderr));
    assert!(text.contains(&first.identity("quiet")), "{text}");
}

#[test]
#[ignore = "run by a_package_of_debian as a program of its own"]
fn in_a_place_without_apt() {
    // Who runs all ignored tests by hand gives no store, and means the tests that start this one.
    let Some(store) = std::env::var_os(STORE) else { return };
    let store = Store::new(store.into());
    println!("{}", get(&format!("deb:{RELEASE}"), &store).unwrap().identity("quiet"));
    let error = get("deb:latest-rt", &store).unwrap_err();
    assert!(error.to_string().contains("deb: needs Debian's or Ubuntu's apt"), "{error}");
    assert!(!error.is_usage());
}

/// Runs `say_how_it_went` with an apt that is configured otherwise.
fn with_apt_configured(configuration: &str, locator: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("apt.conf");
    std::fs::create_dir(directory.path().join("empty")).unwrap();
    std::fs::write(&file, configuration.replace("EMPTY", directory.path().join("empty").to_str().unwrap()))
        .unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "say_how_it_went", "--ignored", "--nocapture"])
        .env("APT_CONFIG", file)
        .env(STORE, directory.path().join("store"))
        .env(LOCATOR, locator)
        .output()
        .unwrap();
    assert!(child.status.success());
    let left = directory.path().join("store/deb");
    let left = std::fs::read_dir(left).map_or(0, |entries| entries.flatten().count());
    assert!(left <= 1, "at most the lock is left behind");
    String::from_utf8(child.stdout).unwrap()
}

#[test]
#[ignore = "run by others as a program of its own"]
fn say_how_it_went() {
    let Some(store) = std::env::var_os(STORE) else { return };
    let store = Store::new(store.into());
    match get(&std::env::var(LOCATOR).unwrap(), &store) {
        Ok(kernel) => println!("found {}", kernel.provenance),
        Err(error) => println!("usage={} {error}", error.is_usage()),
    }
}

#[test]
fn apt_without_lists_is_told_apart_from_a_wrong_name() {
    let text = with_apt_configured("Dir::State::lists \"EMPTY\";", "deb:latest-cloud");
    let wanted = "usage=false apt's package lists are empty, so deb:latest-cloud cannot be found: run `apt-get update`";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn a_network_that_is_down_is_not_the_users_fault() {
    // Nothing listens on the discard port of this host.
    let proxy = "Acquire::http::Proxy \"http://127.0.0.1:9\"; Acquire::https::Proxy \"http://127.0.0.1:9\"; Acquire::Retries \"0\";";
    let text = with_apt_configured(proxy, &format!("deb:{RELEASE}"));
    assert!(
        text.contains("usage=false apt-get download linux-image-6.1.0-56-cloud-amd64-unsigned=6.1."),
        "{text}"
    );
    assert!(text.contains("check the network"), "{text}");
}

#[test]
fn a_package_that_apt_does_not_know() {
    let directory = tempfile::tempdir().unwrap();
    let error = get("deb:99.9.0-1-nothing", &Store::new(directory.path().into())).unwrap_err();
    assert!(matches!(error, Error::NoSuchPackage { .. }) && error.is_usage(), "{error}");
}

#[test]
fn the_kernel_of_this_host_or_one_clear_line() {
    let directory = tempfile::tempdir().unwrap();
    match get("host", &Store::new(directory.path().into())) {
        Ok(kernel) => assert!(kernel.provenance.starts_with("this host's kernel ")),
        Err(error) => {
            let text = error.to_string();
            assert!(error.is_usage() && !text.contains('\n'), "{text}");
        }
    }
}

#[test]
fn packages_from_one_to_the_newest_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().into());
    let all = Catalogue::list(&mut context(&store, &mut |_| {})).entries;
    let cloud: Vec<_> =
        all.into_iter().filter(|entry| entry.flavour == "cloud" && entry.state == State::Offered).collect();
    let short = cloud[0].locator.strip_suffix("-amd64").unwrap().parse().unwrap();
    let last = cloud.last().unwrap().locator.parse().unwrap();
    let found = packages_between(&short, &last, &mut context(&store, &mut |_| {})).unwrap();
    assert_eq!(found, cloud);
    assert!(found.len() > 1);
    let back = packages_between(&last, &short, &mut context(&store, &mut |_| {})).unwrap_err();
    assert!(back.to_string().contains("--fixed"), "{back}");
}
