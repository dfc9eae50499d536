use super::*;
use proptest::prelude::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

fn paths(folder: &Folder) -> Vec<&str> {
    folder.entries().map(|(path, _)| path).collect()
}

#[test]
fn everything_inside_is_found_in_order() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    std::fs::create_dir_all(at("b/c")).unwrap();
    std::fs::create_dir_all(at(".git/hooks")).unwrap();
    for name in ["b/c/run", "a", ".git/hooks/x"] {
        std::fs::write(at(name), "12345").unwrap();
    }
    std::fs::set_permissions(at("b/c/run"), PermissionsExt::from_mode(0o4755)).unwrap();
    symlink("../a", at("b/up")).unwrap();
    let folder = Folder::survey(place.path()).unwrap();
    assert_eq!(paths(&folder), ["a", "b", "b/c", "b/c/run", "b/up"]);
    assert_eq!(folder.file("b/c/run"), Some(("b/c/run", &Entry::File { size: 5, permissions: 0o755 })));
    assert!(folder.file("b/c/run").unwrap().1.is_executable());
    assert_eq!(folder.file("b/up").unwrap().0, "a");
    assert_eq!((folder.size(), folder.left_out().len()), (10, 0));
    assert_eq!(folder.read("a").unwrap(), b"12345");
}

#[test]
fn a_copy_has_the_same_content_whatever_its_permissions() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    let content = |path: &str| Folder::survey(&at(path)).unwrap().content().unwrap();
    std::fs::create_dir_all(at("one/d/empty")).unwrap();
    std::fs::write(at("one/d/run"), "echo").unwrap();
    std::fs::set_permissions(at("one/d/run"), PermissionsExt::from_mode(0o775)).unwrap();
    symlink("d/run", at("one/link")).unwrap();
    let folder = Folder::survey(&at("one")).unwrap();
    folder.copy_to(&at("two")).unwrap();
    assert_eq!(Folder::survey(&at("two")).unwrap().identity().unwrap(), folder.identity().unwrap());
    assert!(folder.copy_to(&at("two")).is_err(), "it is there already");
    std::fs::set_permissions(at("two/d/run"), PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::remove_dir(at("two/d/empty")).unwrap();
    assert_eq!(content("two"), content("one"));
    std::fs::set_permissions(at("two/d/run"), PermissionsExt::from_mode(0o600)).unwrap();
    assert_ne!(content("two"), content("one"), "nobody may execute it");
}

#[test]
fn nothing_leads_out_and_nothing_special_is_opened() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    std::fs::create_dir(at("d")).unwrap();
    symlink("/etc/shadow", at("absolute")).unwrap();
    symlink("../../etc/shadow", at("d/up")).unwrap();
    symlink("loop", at("loop")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe"),
        rustix::fs::FileType::Fifo,
        Mode::from_raw_mode(0o777),
        0,
    )
    .unwrap();
    std::fs::write(place.path().join(OsStr::from_bytes(b"odd\xff")), "").unwrap();
    std::fs::write(at("new\nline"), "").unwrap();
    let folder = Folder::survey(place.path()).unwrap();
    assert_eq!(paths(&folder), ["d", "loop"]);
    assert_eq!(folder.file("loop"), None);
    let mut left_out = folder.left_out().to_vec();
    left_out.sort();
    assert_eq!(
        left_out,
        [
            "absolute is a link that leads out of the folder",
            "d/up is a link that leads out of the folder",
            "new\\nline has a name that is not plain text",
            "odd\u{fffd} has a name that is not plain text",
            "pipe is a pipe",
        ]
    );
    assert!(folder.read("absolute").is_err());
    assert!(folder.read("pipe").unwrap_err().to_string().ends_with("/pipe: is not a file"));
}

#[test]
fn what_is_no_folder_is_refused() {
    assert!(Folder::survey(Path::new("/nowhere")).unwrap_err().is_usage());
    assert!(Folder::survey(Path::new("/etc/passwd")).unwrap_err().is_usage());
}

proptest! {
    #[test]
    fn no_link_gets_above_the_folder(path in "[a-c]{1,2}(/[a-c]{1,2}){0,3}", target in "(\\.\\./){0,3}[a-c/.]{0,6}") {
        let ups = target.split('/').take_while(|part| *part == "..").count();
        match inside(&path, &target) {
            Some(end) => prop_assert!(end.split('/').all(|part| part != "..") && !target.starts_with('/')),
            None => prop_assert!(target.starts_with('/') || target.contains("..")),
        }
        prop_assert!(ups <= path.matches('/').count() || inside(&path, &target).is_none());
    }
}
