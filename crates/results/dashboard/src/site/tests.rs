use std::collections::BTreeSet;
use std::fs;

use outbox::Outbox;

use super::*;
use crate::fixture::{add, folders};

const SESSION: &str = "2026-11-20T10-07-31Z-4711";

/// All files below a folder, by their paths.
fn files(root: &Path, folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root.join(folder)).expect("a folder").flatten();
    let below = entries.flat_map(|entry| {
        let name = entry.file_name().into_string().expect("UTF-8");
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if entry.path().is_dir() { files(root, &path) } else { BTreeSet::from([path]) }
    });
    below.collect()
}

/// Where the links of a page lead, as paths from the root of the site.
fn leads(page: &str, file: &str) -> Vec<String> {
    let depth = file.matches('/').count();
    let targets = [" href=\"", " src=\""].iter().flat_map(|mark| page.split(mark).skip(1));
    let targets = targets.filter_map(|rest| rest.split('"').next()).filter(|target| !target.starts_with('#'));
    let from_root =
        |target: &str| target.strip_prefix(&"../".repeat(depth)).expect("it is relative").to_owned();
    targets.map(from_root).collect()
}

#[test]
fn a_site_is_whole_and_only_what_changed_is_written() {
    let place = tempfile::tempdir().expect("a directory");
    let (root, site) = (place.path().join("runs"), place.path().join("site"));
    add(&root, SESSION, "pipe/full", "is 0 <script>alert(1)</script>");
    let published = || publish(folders(&root), &site).expect("published");
    let first = published();
    let made = files(&site, "");
    for expected in [
        "index.html",
        "problems.html",
        "conclusions.html",
        "matrix/smoke.html",
        "kernel/6.1.0-47-amd64.html",
        "session/2026-11-20T10-07-31Z-4711.html",
        "feed.xml",
        "style.css",
        "page.js",
    ] {
        assert!(made.contains(expected), "no {expected} in {made:?}");
    }
    assert_eq!((first.written + 1, first.unchanged, first.removed), (made.len(), 0, 0), "and the manifest");
    for file in made.iter().filter(|file| file.ends_with(".html") || file.ends_with(".xml")) {
        let page = fs::read_to_string(site.join(file)).expect("a page");
        assert!(!page.contains("<script>alert") && !page.contains("live.js"), "{file}: {page}");
        for lead in leads(&page, file) {
            assert!(made.contains(&lead), "{file} leads to {lead}");
        }
    }
    let index = fs::read_to_string(site.join("index.html")).expect("a page");
    assert!(index.contains("<a href=\"session/2026-11-20T10-07-31Z-4711.html\">"), "{index}");
    assert_eq!(published(), Published { unchanged: first.written, ..Published::default() });
    add(&root, "2026-11-21T10-07-31Z-4711", "pipe/full", "other");
    let third = published();
    assert!(third.written >= 5 && third.unchanged >= 3 && third.removed == 0, "{third:?}");
    fs::remove_dir_all(root.join(SESSION)).expect("removable");
    assert_eq!(published().removed, 1, "the page of the session");
}

#[test]
fn a_feed_has_verdicts_and_nothing_of_a_guest_is_markup() {
    let place = tempfile::tempdir().expect("a directory");
    let (root, site) = (place.path().join("runs"), place.path().join("site"));
    add(&root, SESSION, "pipe/full", "is ]]> & <b>");
    publish(folders(&root), &site).expect("published");
    let feed = fs::read_to_string(site.join("feed.xml")).expect("a feed");
    assert!(feed.starts_with("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns="), "{feed}");
    assert!(feed.contains("<title>smoke on 6.1.0-47-amd64: 1 fail</title>"), "{feed}");
    assert!(feed.contains("is ]]&gt; &amp; &lt;b&gt;</title>"), "{feed}");
    assert_eq!(feed.matches("<entry>").count(), 2, "a session and a problem: {feed}");
    let (open, close) = (feed.matches("<link ").count(), feed.matches("</link>").count());
    assert!(open > 0 && open == close, "XML knows no element without an end: {feed}");
}

#[test]
fn a_page_that_cannot_be_made_is_left_out_and_the_rest_is_there() {
    let place = tempfile::tempdir().expect("a directory");
    let (root, site) = (place.path().join("runs"), place.path().join("site"));
    add(&root, SESSION, "pipe/full", "x");
    let folder = folders(&root).checks.join("2026-11-20T10-07-31Z-1");
    fs::create_dir_all(&folder).expect("a folder");
    let page = fs::File::create(folder.join("report.html")).expect("writable");
    page.set_len(100 << 20).expect("a hole takes no room");
    let published = publish(folders(&root), &site).expect("published");
    let file = "check/2026-11-20T10-07-31Z-1.html";
    let [(left_out, why)] = &published.left_out[..] else { panic!("{published:?}") };
    assert!(left_out == file && why.contains("2026-11-20T10-07-31Z-1"), "{published:?}");
    let read = |file: &str| fs::read_to_string(site.join(file)).expect("a page");
    assert!(
        read(file).contains("kiln could not make this page") && !read(file).contains(why),
        "{}",
        read(file)
    );
    assert!(read("index.html").contains(SESSION) && read("feed.xml").contains("<entry>"));
    page.set_len(0).expect("writable");
    drop(page);
    fs::write(folder.join("report.html"), "<title>whole</title>").expect("writable");
    let again = publish(folders(&root), &site).expect("published");
    assert_eq!((again.left_out.len(), read(file).as_str()), (0, "<title>whole</title>"), "it is tried again");
}

#[test]
fn what_has_its_page_already_is_copied() {
    let place = tempfile::tempdir().expect("a directory");
    let (root, site) = (place.path().join("runs"), place.path().join("site"));
    add(&root, SESSION, "pipe/full", "x");
    let folders = || Folders { outbox: Outbox::at(place.path().join("outbox")), ..folders(&root) };
    let bisection = folders().bisections.join("4f1c9a0e6b7d2c35");
    fs::create_dir_all(&bisection).expect("a folder");
    fs::write(bisection.join("report.html"), "<title>found it</title>").expect("writable");
    publish(folders(), &site).expect("published");
    let kept = fs::read_to_string(site.join("bisection/4f1c9a0e6b7d2c35.html")).expect("a page");
    assert_eq!(kept, "<title>found it</title>");
    let list = fs::read_to_string(site.join("conclusions.html")).expect("a page");
    assert!(list.contains("<a href=\"bisection/4f1c9a0e6b7d2c35.html\">found it</a>"), "{list}");
}
