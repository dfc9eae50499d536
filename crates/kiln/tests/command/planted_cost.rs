//! A kernel that is built twice from the archive's source, once with a known cost on the path of one system call.
//!
//! The second build has a cache of its own in which the source is patched; what compilers did for the first serves
//! it too, if the host has ccache. Both are kept, so that they are made once.

use std::path::{Path, PathBuf};

use kbuild::{Recipe, source_tree};
use verdict::{Comparison, Verdict};

use crate::support::{Place, SOURCE, cache, with_store};

/// The file and the line of it after which the cost is planted.
const FILE: &str = "kernel/sys.c";
const FUNCTION: &str = "SYSCALL_DEFINE0(getppid)\n{\n\tint pid;\n\n";

/// A load of the counter and 500 turns of two instructions.
const COST: &str =
    "\tasm volatile(\"mov $500, %%ecx\\n1:\\tdec %%ecx\\n\\tjnz 1b\" : : : \"ecx\", \"cc\");\n";
const INSTRUCTIONS: f64 = 1001.0;

/// Where the patched source is built, and the top of that source.
fn patched() -> (PathBuf, PathBuf) {
    let recipe = Recipe {
        configurations: vec!["tiny".into()],
        arch: kernel::Arch::X86_64,
        allow_unmet: false,
        variables: vec![],
    };
    let original = with_store(|context| source_tree(&SOURCE.parse().expect("a locator"), &recipe, context));
    let original = original.expect("apt has the source");
    let own = cache().join("planted");
    let tree = own.join(original.path.strip_prefix(cache()).expect("it is kept in the cache"));
    for name in ["asked", "built"] {
        let shared = cache().join("kiln").join(name);
        std::fs::create_dir_all(&shared).expect("the cache is writable");
        std::fs::create_dir_all(own.join("kiln")).expect("the cache is writable");
        let link = std::os::unix::fs::symlink(shared, own.join("kiln").join(name));
        assert!(link.is_ok() || own.join("kiln").join(name).is_symlink(), "{link:?}");
    }
    if !tree.exists() {
        copy_with_cost(&original.path, &tree);
    }
    (own, tree)
}

/// Another tree of the same files, but for one.
fn copy_with_cost(original: &Path, tree: &Path) {
    let scratch = tree.with_extension("unfinished");
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(tree.parent().expect("below the cache")).expect("the cache is writable");
    let copied = std::process::Command::new("cp").arg("-al").arg(original).arg(&scratch).status();
    assert!(copied.expect("cp is there").success());
    let file = scratch.join(FILE);
    let text = std::fs::read_to_string(&file).expect("every kernel has it");
    let (before, after) = text.split_once(FUNCTION).expect("every kernel has it");
    // It is a link to the original: never written through.
    std::fs::remove_file(&file).expect("ours");
    std::fs::write(&file, [before, FUNCTION, COST, after].concat()).expect("the cache is writable");
    std::fs::rename(&scratch, tree).expect("the same disk");
}

#[test]
fn a_planted_cost_is_found_measured_and_named_and_nothing_else_is() {
    let place = Place::new();
    let base = place.built(&["--config", "tiny"]);
    let (own, tree) = patched();
    let objects = std::env::var_os("CCACHE_DIR").unwrap_or_else(|| cache().join("ccache").into());
    let call = place.kiln(["build", tree.to_str().expect("paths of tests are UTF-8"), "--config", "tiny"]);
    let new = call.env("XDG_CACHE_HOME", own).env("CCACHE_DIR", objects).builds();
    let done = place.kiln(["compare", &base, &new, "--why", "--json"]).run().expect(1);
    let comparison: Comparison = done.stated();
    let against = &comparison.others[0];
    assert!(against.rows.len() > 100, "{}", against.rows.len());
    // The other image takes another number of instructions to unpack.
    let found: Vec<_> = against
        .rows
        .iter()
        .filter(|row| row.verdict != Verdict::Same && row.metric != "boot/user-space")
        .collect();
    let [row] = found[..] else { panic!("{found:#?}") };
    assert_eq!((row.metric.as_str(), row.verdict), ("syscall/getppid", Verdict::Worse));
    assert!((row.difference / INSTRUCTIONS - 1.0).abs() < 0.02, "{row:?}");
    let why = row.why.as_ref().expect("it was asked for");
    let first = &why.functions[0];
    assert!(first.function.contains("sys_getppid"), "{why:?}");
    let gained = first.new.unwrap_or(0).abs_diff(first.base.unwrap_or(0));
    assert!((980..=1022).contains(&gained), "{why:?}");
    assert!(why.unexplained.abs() <= 20, "{why:?}");
    for missing in &against.missing {
        assert_eq!(missing.base, missing.new, "{missing:?}");
    }
}
