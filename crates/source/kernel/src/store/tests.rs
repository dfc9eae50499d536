use super::*;
use crate::News;
use crate::modules::survey::Layout;
use fixture::{NEVER, package_root, write};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn the_newest_package_by_debians_order() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().into());
    assert_eq!(store.newest_package("a"), None);
    for name in ["a_6.1.99-1", "a_6.1.192-2", "a_6.1.192-2~bpo1", "a-unsigned_7-1", "tmp-a_9-1"] {
        fs::create_dir_all(directory.path().join("deb").join(name)).unwrap();
    }
    assert_eq!(store.newest_package("a"), Some(store.package("a", "6.1.192-2")));
}

#[test]
fn an_index_is_kept_until_the_tree_changes() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path().join("store"));
    let root = directory.path().join("root");
    package_root(&root, "6.1");
    let look = || {
        let mut readings = 0;
        let survey = Survey::make(&root.join("lib/modules/6.1"), Layout::Installed).unwrap();
        let mut count = |_: News<'_>| readings += 1;
        let mut caller = Caller { listener: &mut count, interrupt: &NEVER };
        (store.index(&survey, &mut caller).unwrap(), readings)
    };
    assert_eq!(look().1, 1, "too fresh to be kept");
    sleep(Duration::from_millis(3100));
    let (index, readings) = look();
    assert_eq!((readings, look()), (1, (index, 0)));
    write(&root.join("lib/modules/6.1/kernel/new.ko"), "x");
    assert_eq!(look().1, 1);
}
