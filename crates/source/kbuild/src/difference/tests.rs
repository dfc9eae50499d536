//! Of a tree that only looks like a kernel, with a script that does with its few options what Kconfig does.

use super::*;
use crate::build;
use crate::made_up::Place;
use fixture::{NEVER, write};
use kernel::Arch;

const KCONFIG: &str = "\
config 64BIT\n\tdef_bool y\n
config CC_VERSION_TEXT\n\tstring\n\tdefault \"none\"\n
config CHILD\n\tbool \"c\"\n\tdepends on TOP\n
config TOP\n\tbool \"t\"\n
config NAME\n\tstring \"n\"\n\tdepends on TOP\n\tdefault \"usual\"\n
config SIZE\n\tint \"s\"\n\tdepends on TOP\n\tdefault 1\n
config GHOST\n\tbool \"g\"\n\tdepends on NOWHERE\n";

const OLDDEFCONFIG: &str = r##"
/^CONFIG_/ { at = index($0, "="); set[substr($0, 8, at - 8)] = substr($0, at + 1) }
/^# CONFIG_.* is not set$/ { set[substr($2, 8)] = "n" }
function value(name, usual) { return name in set ? set[name] : usual }
function bool(name, usual) {
    set[name] = value(name, usual)
    if (set[name] == "y") print "CONFIG_" name "=y"; else print "# CONFIG_" name " is not set"
}
END {
    print "#\nCONFIG_CC_VERSION_TEXT=\"none\"\nCONFIG_64BIT=y"
    bool("TOP", "n")
    if (set["TOP"] == "y") {
        bool("CHILD", "y")
        print "CONFIG_NAME=" value("NAME", "\"usual\"")
        print "CONFIG_SIZE=" value("SIZE", 1)
    }
}
"##;

fn place() -> Place {
    let place = Place::without_git();
    let tree = place.tree();
    write(&tree.join("Kconfig"), KCONFIG);
    write(&tree.join("conf.awk"), OLDDEFCONFIG);
    let makefile = std::fs::read_to_string(tree.join("Makefile")).unwrap();
    let script = "@awk -f conf.awk $(O)/.config > $(O)/new && mv $(O)/new $(O)/.config";
    write(&tree.join("Makefile"), makefile.replace("@sed -i /CONFIG_REFUSED/d $(O)/.config", script));
    place
}

fn file(place: &Place, name: &str, text: &str) -> String {
    let path = place.tree().with_file_name(name);
    write(&path, text);
    path.display().to_string()
}

fn recipe(configuration: &str) -> Recipe {
    Recipe {
        configurations: vec![configuration.to_owned()],
        arch: Arch::X86_64,
        allow_unmet: false,
        variables: Vec::new(),
    }
}

fn between(place: &Place, good: &str, bad: &str) -> Result<Difference, Error> {
    let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
    let locator = place.tree().display().to_string().parse().unwrap();
    difference(&locator, &recipe(good), &recipe(bad), &mut context)
}

fn built(place: &Place, configuration: &str) -> String {
    let mut context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
    let locator = place.tree().display().to_string().parse().unwrap();
    let config = build(&locator, &recipe(configuration), &mut context).unwrap().config.unwrap();
    config.options().map(|(name, value)| format!("{name}={value} ")).collect()
}

const WHOLE: &str = "\nCONFIG_CC_VERSION_TEXT=\"other\"\n";

#[test]
fn every_configuration_between_the_ends_is_built_as_a_whole_one() {
    let place = place();
    let good = file(&place, "a.config", WHOLE);
    let text =
        format!("{WHOLE}CONFIG_TOP=y\nCONFIG_CHILD=y\nCONFIG_NAME=\"odd\"\nCONFIG_SIZE=1\nCONFIG_GHOST=y\n");
    let bad = file(&place, "b.config", &text);
    let found = between(&place, &good, &bad).unwrap();
    let shown: Vec<_> = found.options.iter().map(|one| format!("{} {}", one.names[0], one.bad)).collect();
    assert_eq!(shown, ["TOP y", "CHILD y", "NAME \"odd\""]);
    let with = |included: &[usize]| built(&place, &file(&place, "step.config", &found.with(included)));
    assert_eq!(with(&[]), built(&place, &good));
    assert_eq!(with(&[0, 1, 2]), built(&place, &bad));
    assert_eq!(with(&[0]), "64BIT=y CC_VERSION_TEXT=none NAME=usual SIZE=1 TOP=y ");
    assert_eq!(with(&[1, 2]), built(&place, &good), "nothing without what it depends on");
}

#[test]
fn ends_without_a_difference_are_told_apart() {
    let place = place();
    let says = |good: &str, bad: &str, wanted: &str| {
        let error = between(&place, good, bad).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(wanted), "{error}");
    };
    let one = file(&place, "a.config", WHOLE);
    let same = file(&place, "b.config", WHOLE);
    let ghost = file(&place, "c.config", &format!("{WHOLE}CONFIG_GHOST=y\n"));
    says(&one, &same, "b.config are the same configuration: give two that differ");
    says(&one, &ghost, "are the same after olddefconfig");
    says(&one, &file(&place, "d.config", "<html>\n"), "d.config:1: \"<html>\" sets nothing");
    says(&one, "/nowhere/e.config", "/nowhere/e.config");
    says(&one, &file(&place, "f.config", "\u{0}\u{ff}"), "sets nothing");
    let context = Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER };
    let left = Place::directories(&context.store.work());
    assert!(!left.is_empty() && !left.iter().any(|path| path.join("unfinished").exists()));
}
