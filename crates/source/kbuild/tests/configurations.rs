//! Two configurations of Debian's source and what Kconfig says to those between them. The source is kept with the
//! packages of all tests; without apt and a network this test fails; it never skips.

#![expect(clippy::unwrap_used, reason = "clippy takes only the test functions themselves for tests")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kbuild::{Difference, Error, Recipe, difference};
use kernel::{Arch, Context, Store};

static NEVER: AtomicBool = AtomicBool::new(false);

fn between(good: &str, bad: &str) -> Result<Difference, Error> {
    let recipe = |name: &str| Recipe {
        configurations: vec![name.to_owned()],
        arch: Arch::Um,
        allow_unmet: false,
        variables: Vec::new(),
    };
    let store = Store::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/kiln"));
    let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
    difference(&"deb-source:6.1".parse().unwrap(), &recipe(good), &recipe(bad), &mut context)
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_real_difference_begins_and_ends_where_it_should() {
    let found = between("tiny", "boot").unwrap();
    assert!(found.options.len() >= 40, "{}", found.options.len());
    let place = |name: &str| found.options.iter().position(|one| one.names == [name]).unwrap();
    assert!(place("NET") < place("INET") && place("INET") < place("IPV6"));

    let directory = tempfile::tempdir().unwrap();
    let all: Vec<usize> = (0..found.options.len()).collect();
    for (end, included) in [("tiny", &[][..]), ("boot", &all)] {
        let path = directory.path().join(end);
        std::fs::write(&path, found.with(included)).unwrap();
        let error = between(end, path.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("are the same after olddefconfig"), "{end}: {error}");
    }
}
