//! `kiln kernels` and `kiln kernels prune`, with this host's apt and a cache of its own.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{KERNEL, Place};

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// An entry of a cache, of 64 KiB.
fn entry(cache: &Path, name: &str) {
    let place = cache.join("kiln").join(name);
    fs::create_dir_all(&place).expect("it is ours");
    fs::write(place.join("file"), vec![7; 64 << 10]).expect("it is ours");
}

#[test]
fn what_apt_offers_can_be_named_and_stands_in_order() {
    let place = Place::new();
    let cache = place.path().join("cache");
    let list = |arguments: &[&str]| {
        place
            .kiln(["kernels", "--json"].iter().chain(arguments))
            .env("XDG_CACHE_HOME", &cache)
            .run()
            .expect(0)
            .stdout
    };
    let all = objects(&list(&[]));
    let text = |entry: &Value, field: &str| entry[field].as_str().expect(field).to_string();
    assert!(all.iter().any(|entry| entry["locator"] == KERNEL && entry["state"] == "offered"), "{all:?}");
    assert!(all.iter().all(|entry| text(entry, "locator").parse::<kernel::Locator>().is_ok()));
    let versions: Vec<String> = all.iter().map(|entry| text(entry, "version")).collect();
    assert!(versions.is_sorted_by(|a, b| kernel::version::compare(a, b).is_le()), "{versions:?}");
    assert!(all.iter().all(|entry| !text(entry, "locator").ends_with("-dbg")));
    let cloud = objects(&list(&["deb:*cloud*", "--state", "offered,source"]));
    assert!(!cloud.is_empty() && cloud.iter().all(|entry| entry["flavour"] == "cloud"), "{cloud:?}");
}

#[test]
fn a_host_without_apt_lists_what_it_has_and_says_so() {
    let place = Place::new();
    let empty = place.path().join("empty");
    fs::create_dir(&empty).expect("it is ours");
    let call = place.kiln(["kernels"]).env("PATH", &empty).env("XDG_CACHE_HOME", &empty);
    let done = call.run().expect(0);
    assert!(done.stderr.contains("apt-cache is not installed"), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1);
}

#[test]
fn lists_that_were_never_fetched_are_said_to_be_empty() {
    let place = Place::new();
    let lists = place.path().join("lists");
    fs::create_dir(&lists).expect("it is ours");
    let config = place.file("apt.conf", format!("Dir::State::lists \"{}\";", lists.display()));
    let call =
        place.kiln(["kernels"]).env("APT_CONFIG", &config).env("XDG_CACHE_HOME", place.path().join("cache"));
    let done = call.run().expect(0);
    assert!(
        done.stderr.contains("run `apt-get update`") && !done.stdout.contains("offered"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_pattern_that_matches_nothing_is_wrong_usage() {
    let place = Place::new();
    let done = place.kiln(["kernels", "no:such*"]).run().expect(2);
    assert!(done.stderr.contains("no kernel matches \"no:such*\"") && done.stdout.is_empty());
}

#[test]
fn prune_makes_room_and_says_how_much() {
    let place = Place::new();
    let cache = place.path().join("cache");
    entry(&cache, "deb/a_1");
    entry(&cache, "work/b");
    let prune = |arguments: &[&str], code| {
        let call = place.kiln(["kernels", "prune"].iter().chain(arguments)).env("XDG_CACHE_HOME", &cache);
        call.run().expect(code).stdout
    };
    assert_eq!(prune(&[], 0).lines().count(), 1, "all of it fits");
    let text = prune(&["--keep", "0", "--dry-run"], 0);
    assert!(text.contains("would remove deb/a_1") && cache.join("kiln/deb/a_1").exists(), "{text}");
    let events = objects(&prune(&["--keep", "0", "--json"], 0));
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!((&events[0]["event"], &events[2]["event"]), (&"removed".into(), &"pruned".into()));
    assert!(events[2]["freed"].as_u64() >= Some(128 << 10), "{events:?}");
    assert!(!cache.join("kiln/deb/a_1").exists() && !cache.join("kiln/work/b").exists());
    prune(&["--keep", "lots"], 2);
}
