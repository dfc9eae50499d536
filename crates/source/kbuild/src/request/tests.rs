//! Builds of a tree that only looks like a kernel, so that they take milliseconds.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::made_up::{KCONFIG, Place, recipe};
use fixture::{NEVER, write};
use kernel::Arch;

#[test]
fn the_same_is_built_once() {
    let place = Place::new();
    let first = place.build("git:TREE@HEAD", &["defconfig"]).unwrap();
    assert!(first.locator.starts_with("built:"), "{}", first.locator);
    assert_eq!(first.release.as_deref(), Some("6.1.0-made-up"));
    assert!(first.provenance.contains("\"first\""), "{}", first.provenance);
    assert!(first.config.as_ref().unwrap().is_enabled("64BIT"));
    let again = place.build("git:TREE@main", &["defconfig"]).unwrap();
    let as_it_lies = place.build("TREE", &["defconfig"]).unwrap();
    assert_eq!((again.image_hash, place.tally()), (first.image_hash.clone(), 1));
    assert_eq!((as_it_lies.locator, place.tally()), (first.locator.clone(), 1));
    let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
    let kept = kernel::resolve(&first.locator.parse().unwrap(), &mut context).unwrap();
    assert_eq!(kept.image, first.image);
}

#[test]
fn another_source_or_configuration_is_another_kernel() {
    let place = Place::new();
    let first = place.build("TREE", &["defconfig"]).unwrap();
    place.change("int changed;\n");
    let changed = place.build("TREE", &["defconfig"]).unwrap();
    assert_ne!(first.locator, changed.locator);
    assert!(changed.provenance.contains("with changes"), "{}", changed.provenance);
    let wanted = place.fragment("CONFIG_WANTED=y\n");
    let other = place.build("TREE", &["defconfig", &wanted]).unwrap();
    assert!(other.config.unwrap().is_enabled("WANTED"));
    assert_eq!((place.tally(), place.kept()), (3, 3));
    let before = place.build("git:TREE@HEAD", &["defconfig"]).unwrap();
    assert_eq!((before.locator, place.tally()), (first.locator, 3));
}

#[test]
fn kconfig_is_asked_again_only_if_it_could_give_something_else() {
    let place = Place::new();
    let wanted = place.fragment("CONFIG_WANTED=y\n");
    let build = |subject| {
        place.commit(subject);
        place.build("git:TREE@HEAD", &["defconfig", &wanted]).unwrap().config.unwrap()
    };
    place.change("int first;\n");
    build("begin");
    place.change("int code;\n");
    let config = build("code");
    assert!(config.is_enabled("WANTED") && config.is_enabled("64BIT"));
    assert_eq!((place.asked(), place.tally()), (1, 2));
    let [work] = &Place::directories(&place.store.work())[..] else { panic!("one configuration") };
    write(&work.join("objects/.config"), "# of somebody else\n");
    place.change("int more_code;\n");
    assert!(build("more code").is_enabled("WANTED"));
    assert_eq!(place.asked(), 1, "what was in its place is not looked at");
    write(&place.tree().join("Kconfig"), format!("{KCONFIG}\nconfig NEW\n\tbool \"new\"\n"));
    build("another option");
    assert_eq!(place.asked(), 2);
    place.fragment("CONFIG_WANTED=n\n");
    place.change("int other_fragment;\n");
    assert!(!build("the same name for another fragment").is_enabled("WANTED"));
    assert_eq!((place.asked(), place.tally()), (3, 5));
}

#[test]
fn kconfig_is_asked_again_if_make_has_changed_the_configuration_by_itself() {
    let place = Place::new();
    let makefile = place.tree().join("Makefile");
    let text = fs::read_to_string(&makefile).unwrap();
    // As make does when the compiler is another one than that of the configuration.
    let sync = "\t@test ! -e $(O)/tool || echo 'CONFIG_TOOL=y' >> $(O)/.config\n";
    write(
        &makefile,
        text.replace("all:\n", &format!("all:\n{sync}")).replace("prepare:\n", &format!("{sync}prepare:\n")),
    );
    let build = |content: &str| {
        place.change(content);
        place.commit(content);
        place.build("git:TREE@HEAD", &["defconfig"]).unwrap().config.unwrap()
    };
    build("int one;\n");
    let [work] = &Place::directories(&place.store.work())[..] else { panic!("one configuration") };
    write(&work.join("objects/tool"), "");
    assert!(build("int two;\n").is_enabled("TOOL"));
    assert_eq!((place.asked(), place.tally()), (2, 3), "the second kernel was built twice");
}

#[test]
fn makefiles_have_no_network_and_see_none_of_the_users_files() {
    let place = Place::new();
    let secret = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    let makefile = place.tree().join("Makefile");
    let look = format!(
        "all:\n\t@readlink /proc/self/ns/net > $(O)/network\n\
         \t@test ! -e {} && test ! -e $$HOME/.cache && mktemp\n",
        secret.path().display()
    );
    let text = fs::read_to_string(&makefile).unwrap().replace("all:\n", &look);
    write(&makefile, text);
    place.build("TREE", &["defconfig"]).unwrap();
    let [work] = &Place::directories(&place.store.work())[..] else { panic!("one configuration") };
    let network = fs::read_to_string(work.join("objects/network")).unwrap();
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    assert!(network.starts_with("net:[") && Path::new(network.trim()) != own, "{network}");
}

#[test]
fn no_link_that_a_makefile_makes_leads_to_the_users_files() {
    let secret = "precious\n";
    for (made, reason) in [
        ("ln -sf OUTSIDE/file $(O)/System.map", "the build makes no System.map"),
        ("rm -f $(O)/System.map; mkfifo $(O)/System.map", "the build makes no System.map"),
        ("rm -f $(O)/.config; ln -s OUTSIDE/file $(O)/.config", "the build makes no .config"),
        (
            "rm -rf $(O)/arch/x86/boot; ln -s OUTSIDE $(O)/arch/x86/boot",
            "the build makes no arch/x86/boot/bzImage",
        ),
        ("rm -f $(O)/vmlinux", "the build makes no vmlinux"),
    ] {
        let place = Place::new();
        let outside = place.directory.path().join("outside");
        fs::create_dir(&outside).unwrap();
        for name in ["file", "bzImage"] {
            fs::copy(place.tree().join("init/image"), outside.join(name)).unwrap();
        }
        write(&outside.join("file"), secret);
        let makefile = place.tree().join("Makefile");
        let last = "\t@echo map > $(O)/System.map\n";
        let made = made.replace("OUTSIDE", outside.to_str().unwrap());
        let text = fs::read_to_string(&makefile).unwrap().replace(last, &format!("{last}\t@{made}\n"));
        write(&makefile, text);
        let error = place.build("TREE", &["defconfig"]).unwrap_err();
        assert!(error.accuses_kernel() && error.to_string().contains(reason), "{made}: {error}");
        assert_eq!((place.kept(), fs::read_to_string(outside.join("file")).unwrap()), (0, secret.to_owned()));
    }
}

#[test]
fn a_configuration_is_not_written_through_a_link() {
    let place = Place::new();
    let outside = place.directory.path().join("outside");
    write(&outside, "precious\n");
    let makefile = place.tree().join("Makefile");
    let link = format!("\t@rm -f $(O)/.config; ln -s {} $(O)/.config", outside.display());
    let text = fs::read_to_string(&makefile).unwrap();
    write(&makefile, text.replace("\t@echo 'CONFIG_64BIT=y' > $(O)/.config", &link));
    let wanted = place.fragment("CONFIG_WANTED=y\n");
    let error = place.build("TREE", &["defconfig", &wanted]).unwrap_err();
    assert!(error.to_string().contains("the build makes no .config"), "{error}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious\n");
}

#[test]
fn a_release_is_no_path() {
    for release in ["../../outside", "", "a b", "-x", &"1".repeat(65)] {
        let place = Place::new();
        let makefile = place.tree().join("Makefile");
        let text = fs::read_to_string(&makefile).unwrap();
        write(&makefile, text.replace("echo 6.1.0-made-up", &format!("echo '{release}'")));
        let error = place.build("TREE", &["defconfig"]).unwrap_err();
        assert!(error.accuses_kernel() && error.to_string().contains("prints no release"), "{error}");
    }
}

#[test]
fn the_users_checkout_is_not_touched() {
    let place = Place::new();
    place.change("int changed;\n");
    write(&place.tree().join("init/new.c"), "int new;\n");
    let state = || {
        let index = fs::read(place.tree().join(".git/index")).unwrap();
        let objects = place.git(&["count-objects", "--verbose"]);
        (index, objects, fs::read_dir(place.tree()).unwrap().count(), place.git(&["worktree", "list"]))
    };
    let before = state();
    place.build("TREE", &["defconfig"]).unwrap();
    place.build("git:TREE@HEAD", &["defconfig"]).unwrap();
    assert!(state() == before, "index, objects, files or work trees have changed");
}

#[test]
fn what_git_ignores_is_named_and_not_taken_for_missing() {
    let place = Place::new();
    write(&place.tree().join(".git/info/exclude"), "init/new*\n");
    for name in ["new.c", "new.h", "new.o"] {
        write(&place.tree().join("init").join(name), "int new;\n");
    }
    let notes = place.notes("TREE", &recipe(&["defconfig"]));
    let note = "is built without 2 new source files that git ignores: init/new.c, init/new.h";
    assert!(notes[0].ends_with(note), "{notes:?}");
    let built = place.build("TREE", &["defconfig"]).unwrap();
    assert!(built.provenance.contains(", without 2 new source files"), "{}", built.provenance);
    // As in Debian's source: `git init` and `git add -A` find nothing.
    fs::remove_dir_all(place.tree().join(".git")).unwrap();
    write(&place.tree().join(".gitignore"), "/*\n");
    place.git(&["init", "--quiet"]);
    place.git(&["add", "-A"]);
    let error = place.build("TREE", &["defconfig"]).unwrap_err();
    let text = error.to_string();
    assert!(
        error.is_usage() && text.contains("git ignores Kconfig, Makefile, arch, init of this tree"),
        "{text}"
    );
}

#[test]
fn the_first_of_many_ignored_files_are_named() {
    let place = Place::new();
    write(&place.tree().join(".git/info/exclude"), "init/new*\n");
    (0..5).for_each(|number| write(&place.tree().join(format!("init/new{number}.c")), "int new;\n"));
    let notes = place.notes("TREE", &recipe(&["defconfig"]));
    assert!(notes[0].ends_with(": init/new0.c, init/new1.c, init/new2.c and 2 more"), "{notes:?}");
}

#[test]
fn the_end_of_a_build_says_what_was_built() {
    let place = Place::new();
    let refused = place.fragment("CONFIG_WANTED=y\nCONFIG_REFUSED=y\n");
    let recipe = Recipe { allow_unmet: true, ..recipe(&["defconfig", &refused]) };
    let [note] = &place.notes("TREE", &recipe)[..] else { panic!("one note") };
    let start = format!("built 6.1.0-made-up, defconfig,{refused}, x86_64 as built:");
    assert!(note.starts_with(&start) && note.ends_with("s; not granted: CONFIG_REFUSED=y"), "{note}");
    let [note] = &place.notes("TREE", &recipe)[..] else { panic!("one note") };
    assert!(note.starts_with("built earlier: 6.1.0-made-up, "), "{note}");
    place.build("TREE", &["defconfig"]).unwrap();
    assert_eq!(place.notes("TREE", &crate::made_up::recipe(&["defconfig"])), [""; 0], "nothing was built");
}

#[test]
fn a_commit_that_was_built_before_is_checked_out_again_when_others_were_built_since() {
    let place = Place::new();
    let first = place.commit_empty("second");
    place.change("int third;\n");
    place.commit("third");
    place.build("git:TREE@HEAD", &["defconfig"]).unwrap();
    let older = place.build(&format!("git:TREE@{first}"), &["defconfig"]).unwrap();
    assert!(older.provenance.contains("second"), "{}", older.provenance);
}

impl Place {
    fn commit_empty(&self, subject: &str) -> String {
        self.git(&["commit", "--quiet", "--allow-empty", "--message", subject]);
        self.git(&["rev-parse", "HEAD"])
    }
}

#[test]
fn a_build_that_fails_names_its_first_error_and_leaves_no_kernel() {
    let place = Place::new();
    place.change("broken\n");
    let error = place.build("TREE", &["defconfig"]).unwrap_err();
    assert!(error.to_string().contains("init/main.c:1:5: error: expected sense"), "{error}");
    assert!(error.accuses_kernel() && !error.is_usage());
    assert_eq!(place.kept(), 0);
    place.change("int fixed;\n");
    place.build("TREE", &["defconfig"]).unwrap();
}

#[test]
fn a_disk_that_is_full_accuses_nobody() {
    let place = Place::new();
    place.change("full\n");
    let error = place.build("TREE", &["defconfig"]).unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
    assert!(!error.accuses_kernel() && !error.is_usage());
    assert_eq!(place.kept(), 0);
}

#[test]
fn an_interrupted_build_is_never_taken_for_a_finished_one() {
    let place = Place::new();
    place.change("endless\n");
    let stop = AtomicBool::new(false);
    let tally = || place.tally();
    let error = place
        .build_until("TREE", &["defconfig"], &stop, &mut |_| stop.store(tally() > 0, Ordering::Relaxed))
        .unwrap_err();
    assert!(error.is_interrupt(), "{error}");
    assert_eq!(place.kept(), 0);
    place.change("int short;\n");
    place.build("TREE", &["defconfig"]).unwrap();
}

#[test]
fn what_a_killed_build_left_is_not_built_upon() {
    let place = Place::new();
    place.build("TREE", &["defconfig"]).unwrap();
    let work = fs::read_dir(place.directory.path().join("store/work")).unwrap();
    let work = work.flatten().map(|entry| entry.path()).find(|path| path.is_dir()).unwrap();
    write(&work.join("unfinished"), "");
    write(&work.join("objects/half.o"), "half");
    place.change("int other;\n");
    place.build("TREE", &["defconfig"]).unwrap();
    assert!(!work.join("objects/half.o").exists());
    assert!(!work.join("unfinished").exists());
}

#[test]
fn two_who_want_the_same_build_it_once() {
    let place = Place::new();
    std::thread::scope(|scope| {
        let build = || place.build("TREE", &["defconfig"]).unwrap().locator;
        let (first, second) = (scope.spawn(build), scope.spawn(build));
        assert_eq!(first.join().unwrap(), second.join().unwrap());
    });
    assert_eq!((place.tally(), place.kept()), (1, 1));
}

#[test]
fn options_that_are_not_granted_are_told_with_the_reason() {
    let place = Place::new();
    let refused = place.fragment("CONFIG_REFUSED=y\nCONFIG_WANTED=y\n");
    let error = place.build("TREE", &["defconfig", &refused]).unwrap_err();
    assert!(error.to_string().contains("CONFIG_REFUSED=y"), "{error}");
    assert!(error.to_string().contains("NOWHERE"), "{error}");
    assert!(!error.to_string().contains("WANTED"), "{error}");
    assert!(error.is_usage());
    assert_eq!((place.tally(), place.kept()), (0, 0));
}

#[test]
fn what_is_no_source_is_refused() {
    let place = Place::new();
    let says = |locator: &str, configurations: &[&str], text: &str| {
        let error = place.build(locator, configurations).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert!(error.is_usage(), "{error}");
    };
    says("git:TREE@nowhere", &["defconfig"], "has no commit nowhere");
    says("git:/@HEAD", &["defconfig"], "not a git repository");
    says("/nowhere", &["defconfig"], "no such directory");
    says("git:/nowhere@HEAD", &["defconfig"], "no such directory");
    says("TREE/init", &["defconfig"], "not a kernel source tree");
    says("host", &["defconfig"], "is not source");
    says("TREE", &["bot"], "there is no configuration \"bot\"");
    says("TREE", &["tiny", "defconfig"], "both whole configurations");
    says("TREE", &["/nowhere/my.config"], "no such file");
    let typo = place.fragment("CONFIG_WANTED y\n");
    says("TREE", &[&typo], "my.config:1");
    place.git(&["rm", "--quiet", "Kconfig"]);
    place.commit("no kernel any more");
    says("git:TREE@HEAD", &["defconfig"], "not a kernel source tree");
    assert_eq!((place.tally(), place.kept()), (0, 0));
}

#[test]
fn what_an_interrupted_checkout_left_is_not_compiled_in() {
    let place = Place::new();
    place.build("TREE", &["defconfig"]).unwrap();
    let [tree] = &Place::directories(&place.store.trees())[..] else { panic!("one checkout") };
    write(&tree.join("tree/localversion-next"), "-next");
    place.change("int other;\n");
    place.build("TREE", &["defconfig"]).unwrap();
    assert!(!tree.join("tree/localversion-next").exists());
}

#[test]
fn changes_that_the_users_index_hides_are_built() {
    let place = Place::new();
    place.git(&["update-index", "--assume-unchanged", "init/main.c"]);
    place.change("broken\n");
    assert!(place.build("TREE", &["defconfig"]).unwrap_err().accuses_kernel());
}

#[test]
fn changes_in_the_second_of_the_last_commit_are_built() {
    let place = Place::new();
    place.git(&["config", "core.trustctime", "false"]);
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
    let dated = |path: &str| {
        fs::File::options().append(true).open(place.tree().join(path)).unwrap().set_modified(then).unwrap();
    };
    place.change("int good;\n");
    dated("init/main.c");
    place.commit("second");
    dated(".git/index");
    place.change("broken   \n");
    dated("init/main.c");
    assert!(place.build("TREE", &["defconfig"]).unwrap_err().accuses_kernel());
}

#[test]
fn a_commit_that_only_kiln_has_is_built_like_any_other() {
    let place = Place::new();
    place.change("broken\n");
    let culprit = place.commit("break it");
    write(&place.tree().join("init/other.c"), "");
    place.commit("later");
    assert!(place.build("git:TREE@HEAD", &["defconfig"]).unwrap_err().accuses_kernel());
    let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
    let reverted = history::revert(&place.tree(), &culprit, "HEAD", &mut context).unwrap().unwrap();
    let kernel = place.build(&format!("git:TREE@{reverted}"), &["defconfig"]).unwrap();
    assert!(kernel.provenance.contains("Revert \"break it\""), "{}", kernel.provenance);
    assert_eq!(Place::directories(&place.store.work()).len(), 1);
}

#[test]
fn configurations_share_a_checkout_and_follow_it() {
    let place = Place::new();
    let wanted = place.fragment("CONFIG_WANTED=y\n");
    let build = |configurations: &[&str]| place.build("git:TREE@HEAD", configurations).unwrap();
    build(&["defconfig"]);
    build(&["defconfig", &wanted]);
    place.change("int second;\n");
    place.commit("second");
    build(&["defconfig"]);
    let second = build(&["defconfig", &wanted]);
    assert!(second.provenance.contains("second"), "{}", second.provenance);
    let [tree] = &Place::directories(&place.store.trees())[..] else { panic!("one checkout") };
    assert_eq!(fs::read_to_string(tree.join("tree/init/main.c")).unwrap(), "int second;\n");
    assert_eq!((Place::directories(&place.store.work()).len(), place.tally(), place.kept()), (2, 4, 4));
}

#[test]
fn what_a_killed_checkout_left_is_checked_out_anew() {
    let place = Place::new();
    place.build("TREE", &["defconfig"]).unwrap();
    let [tree] = &Place::directories(&place.store.trees())[..] else { panic!("one checkout") };
    // As SIGKILL leaves it: half a tree, and git's own lock.
    write(&tree.join("unfinished"), "");
    write(&tree.join("tree.index.lock"), "");
    fs::remove_dir_all(tree.join("tree/init")).unwrap();
    place.change("int other;\n");
    place.build("TREE", &["defconfig"]).unwrap();
    assert!(tree.join("tree/init/main.c").exists() && !tree.join("unfinished").exists());
}

#[test]
fn a_whole_configuration_is_known_however_small() {
    let place = Place::new();
    let whole = place.fragment("#\nCONFIG_CC_VERSION_TEXT=\"gcc\"\nCONFIG_64BIT=y\n");
    let error = place.build("TREE", &["defconfig", &whole]).unwrap_err();
    assert!(error.to_string().contains("both whole configurations"), "{error}");
    assert!(place.build("TREE", &[&whole]).unwrap().config.unwrap().is_enabled("64BIT"));
}

#[test]
fn what_was_not_granted_is_asked_for_again_the_next_time() {
    let place = Place::new();
    let fragment = place.fragment("CONFIG_REFUSED=y\n");
    let names = ["defconfig".to_owned(), fragment];
    let recipe = Recipe {
        configurations: names.to_vec(),
        arch: Arch::X86_64,
        allow_unmet: true,
        variables: Vec::new(),
    };
    let locator: Locator = place.tree().to_str().unwrap().parse().unwrap();
    let build = || {
        let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
        super::build(&locator, &recipe, &mut context).unwrap()
    };
    let first = build();
    let granted =
        fs::read_to_string(place.tree().join("Makefile")).unwrap().replace("/CONFIG_REFUSED/d", "p;d");
    write(&place.tree().join("Kconfig"), KCONFIG.replace("NOWHERE", "64BIT"));
    write(&place.tree().join("Makefile"), granted.replace("p;d", "/CONFIG_NOTHING/d"));
    assert_ne!(build().locator, first.locator);
    assert_eq!(place.tally(), 2);
    place.change("int code;\n");
    let before = place.asked();
    place.build("TREE", &["defconfig", &names[1]]).unwrap();
    assert_eq!(place.asked(), before, "all was granted the last time");
}

#[test]
fn paths_that_makefiles_cannot_take_are_refused() {
    let place = Place::without_git();
    let odd = place.directory.path().join("my linux");
    fs::rename(place.tree(), &odd).unwrap();
    let error = place.build(odd.to_str().unwrap(), &["defconfig"]).unwrap_err();
    assert!(error.to_string().contains("do not support blanks") && error.is_usage(), "{error}");
}

#[test]
fn a_target_that_the_tree_lacks_is_no_fault_of_the_kernel() {
    let place = Place::new();
    let error = place.build("TREE", &["nowhere_defconfig"]).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("nowhere_defconfig"), "{error}");
}

#[test]
fn a_tree_without_git_is_built_where_it_lies_unless_make_has_run_in_it() {
    let place = Place::without_git();
    let first = place.build("TREE", &["defconfig"]).unwrap();
    assert_eq!(place.build("TREE", &["defconfig"]).unwrap().locator, first.locator);
    assert_eq!(place.tally(), 1);
    place.change("int changed in size;\n");
    assert_ne!(place.build("TREE", &["defconfig"]).unwrap().locator, first.locator);
    write(&place.tree().join(".config"), "");
    let error = place.build("TREE", &["defconfig"]).unwrap_err();
    assert!(error.to_string().contains("make mrproper"), "{error}");
}

#[test]
fn a_build_of_somebody_elses_folder_inside_a_repository_is_not_taken_for_the_repository() {
    let place = Place::without_git();
    let above = place.directory.path();
    let done = Command::new("git").args(["init", "--quiet"]).current_dir(above).status().unwrap();
    assert!(done.success());
    let kernel = place.build("TREE", &["defconfig"]).unwrap();
    assert!(Path::new(&kernel.image).starts_with(above.join("store")));
}
