use super::*;
use fixture::{NEVER, write};
use std::fs::File;
use std::process::Command;
use std::time::Duration;

const KIB: usize = 1024;

/// A store with entries of 64 KiB, last used as many minutes ago as the list says.
fn store(entries: &[(&str, u64)]) -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    for (name, minutes) in entries {
        let entry = directory.path().join(name);
        write(&entry.join("root/file"), vec![7; 64 * KIB]);
        let date = SystemTime::now() - Duration::from_secs(60 * minutes);
        File::open(&entry).unwrap().set_modified(date).unwrap();
    }
    let store = Store::new(directory.path().into());
    (directory, store)
}

fn prune(store: &Store, keep: usize) -> Pruned {
    attempt(store, keep as u64, false).unwrap()
}

fn attempt(store: &Store, keep: u64, dry_run: bool) -> Result<Pruned, Error> {
    Store::prune(keep, dry_run, &mut Context { store, listener: &mut |_| {}, interrupt: &NEVER })
}

fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn what_was_used_longest_ago_goes_first_and_no_more_than_must() {
    let (directory, store) = store(&[("deb/a_1", 10), ("built/b", 30), ("work/c", 20), ("sources/d", 40)]);
    let pruned = prune(&store, 200 * KIB);
    assert_eq!(names(&pruned.removed), ["sources/d", "built/b"]);
    assert!(pruned.freed() >= 128 * 1024 && pruned.kept <= 200 * 1024, "{pruned:?}");
    let left = |name: &str| directory.path().join(name).exists();
    assert!(left("deb/a_1") && left("work/c") && !left("built/b") && !left("sources/d"));
    assert!(prune(&store, 200 * KIB).removed.is_empty());
    assert_eq!(names(&prune(&store, 0).removed), ["work/c", "deb/a_1"]);
    let rest: Vec<_> = fs::read_dir(directory.path().join("deb")).unwrap().flatten().collect();
    assert_eq!(rest.len(), 1, "just the lock");
}

#[test]
fn what_is_in_use_stays_and_its_use_counts() {
    let (directory, store) = store(&[("deb/a_1", 30), ("deb/b_1", 20), ("deb/c_1", 10)]);
    let lease = Store::lease(&directory.path().join("deb/a_1")).unwrap();
    let second = Store::lease(&directory.path().join("deb/a_1")).unwrap();
    let pruned = prune(&store, 0);
    assert_eq!(
        (names(&pruned.removed), names(&pruned.in_use)),
        (vec!["deb/b_1", "deb/c_1"], vec!["deb/a_1"])
    );
    drop(lease);
    assert_eq!(names(&prune(&store, 0).in_use), ["deb/a_1"]);
    drop(second);
    assert_eq!(names(&prune(&store, 0).removed), ["deb/a_1"]);
    let gone = Store::lease(&directory.path().join("deb/a_1")).unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_lease_makes_an_entry_the_youngest() {
    let (directory, store) = store(&[("deb/a_1", 30), ("deb/b_1", 20)]);
    drop(Store::lease(&directory.path().join("deb/a_1")).unwrap());
    assert_eq!(names(&prune(&store, 100 * KIB).removed), ["deb/b_1"]);
}

#[test]
fn a_dry_run_says_the_same_and_changes_nothing() {
    let (directory, store) = store(&[("deb/a_1", 30), ("work/b", 20)]);
    let dry = attempt(&store, 0, true).unwrap();
    assert_eq!(names(&dry.removed), ["deb/a_1", "work/b"]);
    assert!(directory.path().join("deb/a_1/root/file").exists());
    assert_eq!(names(&prune(&store, 0).removed), names(&dry.removed));
}

#[test]
fn a_shelf_keeps_what_was_used_last() {
    let (_directory, store) =
        store(&[("work/a", 40), ("work/b", 30), ("work/c", 20), ("work/d", 10), ("deb/e", 50)]);
    let (work, lease) = (store.work(), Store::lease(&store.work().entry("a")));
    let lock = work.try_lock().unwrap().unwrap();
    work.keep_newest(&lock, 3).unwrap();
    let left = || {
        let mut names: Vec<String> = work.names().collect();
        names.sort();
        names
    };
    assert_eq!(left(), ["a", "c", "d"], "a lease makes an entry the youngest");
    work.keep_within(&lock, 150 * 1024).unwrap();
    assert_eq!(left(), ["a", "d"]);
    work.keep_within(&lock, 0).unwrap();
    assert_eq!(left(), ["a"], "it is in use");
    drop(lease);
    work.keep_newest(&lock, 0).unwrap();
    assert_eq!(left(), [""; 0]);
    assert!(store.packages().entry("e").exists());
}

#[test]
fn only_entries_are_removed() {
    let (directory, store) = store(&[("deb/a_1", 30), ("index/x", 90), ("elsewhere/tree", 90)]);
    let root = directory.path();
    write(&root.join("deb/meanings.json"), "{}");
    fs::create_dir(root.join("work")).unwrap();
    std::os::unix::fs::symlink(root.join("elsewhere/tree"), root.join("work/link")).unwrap();
    assert_eq!(names(&prune(&store, 0).removed), ["deb/a_1"]);
    for kept in ["deb/meanings.json", "index/x/root/file", "elsewhere/tree/root/file", "work/link"] {
        assert!(root.join(kept).exists(), "{kept}");
    }
}

#[test]
fn a_store_that_was_never_used_stays_unmade() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().join("store"));
    assert!(prune(&store, 0).removed.is_empty());
    assert!(!directory.path().join("store").exists());
}

#[test]
fn what_a_killed_prune_left_goes_with_the_next() {
    let (directory, store) = store(&[("work/tmp-x/entry", 0), ("work/b", 0)]);
    prune(&store, 1 << 30);
    assert!(!directory.path().join("work/tmp-x").exists());
    assert!(directory.path().join("work/b").exists());
}

#[test]
fn a_lease_of_a_process_that_dies_is_no_lease() {
    let (directory, store) = store(&[("deb/a_1", 30)]);
    let entry = directory.path().join("deb/a_1");
    let mut holder = Command::new("flock")
        .args(["--shared", "--no-fork"])
        .arg(&entry)
        .arg("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    while claim(&entry).unwrap().is_some() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(names(&prune(&store, 0).in_use), ["deb/a_1"]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(names(&prune(&store, 0).removed), ["deb/a_1"]);
}

#[test]
fn two_prunes_and_many_users_at_once_see_whole_entries() {
    let (directory, store) = store(&[("deb/a_1", 30), ("deb/b_1", 20), ("deb/c_1", 10)]);
    let entries = ["a_1", "b_1", "c_1"].map(|name| directory.path().join("deb").join(name));
    let removed = std::thread::scope(|scope| {
        let prunes: Vec<_> = (0..2).map(|_| scope.spawn(|| prune(&store, 0).removed.len())).collect();
        for entry in &entries {
            scope.spawn(move || {
                for _ in 0..500 {
                    if let Ok(_lease) = Store::lease(entry) {
                        assert_eq!(fs::read(entry.join("root/file")).unwrap().len(), 64 * KIB);
                    }
                }
            });
        }
        prunes.into_iter().map(|prune| prune.join().unwrap()).sum::<usize>()
    });
    assert_eq!(removed + prune(&store, 0).removed.len(), entries.len());
}

#[test]
fn what_nobody_wrote_to_for_a_month_goes_where_nobody_takes_leases() {
    let days = |days: u64| days * 24 * 60;
    let entries = [
        ("objects/old", days(40)),
        ("objects/new", days(20)),
        ("kselftest/old", days(40)),
        ("deb/a_1", days(400)),
    ];
    let (directory, store) = store(&entries);
    let date = |age: u64| SystemTime::now() - Duration::from_secs(60 * days(age));
    let file = |name: &str, age: u64| {
        let path = directory.path().join(name);
        write(&path, "x");
        File::options().write(true).open(&path).unwrap().set_modified(date(age)).unwrap();
    };
    file("asked/old.json", 40);
    file("asked/new.json", 1);
    // What is deep in it counts as well.
    File::options()
        .write(true)
        .open(directory.path().join("objects/old/root/file"))
        .unwrap()
        .set_modified(date(40))
        .unwrap();
    File::open(directory.path().join("objects/old/root")).unwrap().set_modified(date(40)).unwrap();
    File::open(directory.path().join("objects/old")).unwrap().set_modified(date(40)).unwrap();
    let freed = store.prune_aged();
    assert!(freed >= 64 * 1024, "{freed}");
    let left = |name: &str| directory.path().join(name).exists();
    assert!(!left("objects/old") && !left("asked/old.json"));
    assert!(left("objects/new") && left("kselftest/old") && left("deb/a_1") && left("asked/new.json"));
    let usage = store.usage();
    let names: Vec<(&str, usize)> = usage.iter().map(|usage| (usage.name.as_str(), usage.entries)).collect();
    assert_eq!(names, [("asked", 1), ("deb", 1), ("kselftest", 1), ("objects", 1)]);
    assert!(usage[1].bytes >= 64 * 1024);
    assert!(Store::new("/nonexistent".into()).usage().is_empty());
}
