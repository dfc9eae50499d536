use super::*;
use crate::fixture::symbols;
use crate::fragment::parse;

const TREE: &str = "\
cc-option = $(shell,cc $(1))
config MODULES
\tbool \"modules\"
\tmodules
config EXPERT
\tbool \"expert\"
config NET
\ttristate \"net\"
config KASAN
\tbool \"kasan\"
\tdepends on HAVE_ARCH_KASAN && (SLUB || SLAB)
config HAVE_ARCH_KASAN
\tbool
config PQ
\ttristate
config BTRFS
\ttristate \"btrfs\"
\tselect PQ
config RAID
\ttristate \"raid\"
\tselect PQ
config DRIVER
\ttristate \"driver\"
\tdepends on NET
config PRINTK
\tbool \"printk\" if EXPERT
\tdefault y
menu \"hidden\"
\tvisible if EXPERT
config IN_MENU
\tbool \"in menu\"
endmenu
choice
\tprompt \"timer\"
\tdefault HZ_250
config HZ_100
\tbool \"100\"
config HZ_250
\tbool \"250\"
endchoice
config HZ
\tint
\tdefault 100 if HZ_100
config CPUS
\tint \"cpus\"
\trange 2 8 if EXPERT
\trange 1 MAX
config MAX
\tint
config START
\thex \"start\"
config CMDLINE
\tstring \"line\"
config CFI
\tbool \"cfi\"
\tdepends on $(cc-option,-fsanitize=kcfi)
config CC_HAS_X
\tdef_bool $(cc-option,-fx)
config TWICE
\tbool \"twice\"
\tdepends on EXPERT
config TWICE
\tbool \"twice\"
\tdepends on KASAN
config FLOOR
\tbool
\tdefault y if EXPERT && NET
config LONELY
\tbool
";

/// The lines for a fragment, given a `.config` in short.
fn reasons(asked: &str, got: &[&str]) -> Vec<String> {
    let symbols = symbols(TREE);
    let config: String = got.iter().map(|line| format!("CONFIG_{line}\n")).collect();
    let asked = parse("test", asked).unwrap();
    unmet(&symbols, &asked, &Config::parse(&config)).iter().map(ToString::to_string).collect()
}

fn reason(asked: &str, got: &[&str]) -> String {
    let reasons = reasons(&format!("CONFIG_{asked}\n"), got);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    with_names(reasons[0].strip_prefix(&format!("CONFIG_{asked}: ")).unwrap())
}

/// The reason with each place replaced by what is defined there.
fn with_names(reason: &str) -> String {
    let mut parts = reason.split("(Kconfig:");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(')').unwrap();
        let line = TREE.lines().nth(number.parse::<usize>().unwrap() - 1).unwrap();
        text += &format!("(at {}){rest}", line.strip_prefix("config ").unwrap());
    }
    text
}

#[test]
fn what_was_granted_is_not_reported() {
    let asked = "CONFIG_NET=m\nCONFIG_BTRFS=m\nCONFIG_START=0x0010\nCONFIG_CMDLINE=\"quiet\"\nCONFIG_CPUS=4\n\
                 # CONFIG_KASAN is not set\n# CONFIG_TYPO is not set\nCONFIG_PRINTK=y\n";
    let got = ["NET=m", "BTRFS=y", "START=0x10", "CMDLINE=\"quiet\"", "CPUS=4", "PRINTK=y"];
    assert!(reasons(asked, &got).is_empty());
}

#[test]
fn an_unknown_name_brings_the_one_that_was_meant() {
    assert_eq!(
        reason("KASAM=y", &[]),
        "no option of that name for x86 in this tree; did you mean CONFIG_KASAN?"
    );
    assert_eq!(reason("FROBNICATE=y", &[]), "no option of that name for x86 in this tree");
}

#[test]
fn an_unmet_dependency_shows_only_what_fails() {
    assert_eq!(
        reason("KASAN=y", &[]),
        "depends on HAVE_ARCH_KASAN [=n] && (SLUB [undefined] || SLAB [undefined]) (at KASAN)"
    );
    assert_eq!(reason("DRIVER=y", &["MODULES=y", "NET=m", "DRIVER=m"]), "depends on NET [=m] (at DRIVER)");
    assert_eq!(reason("DRIVER=m", &["MODULES=y"]), "depends on NET [=n] (at DRIVER)");
    assert_eq!(
        reason("TWICE=y", &[]),
        "depends on EXPERT [=n] (at TWICE); or depends on KASAN [=n] (at TWICE)"
    );
}

#[test]
fn a_hidden_prompt_names_what_would_show_it() {
    assert_eq!(
        reason("PRINTK=n", &["PRINTK=y"]),
        "prompt needs EXPERT [=n] (at PRINTK), and its default is on"
    );
    assert_eq!(reason("IN_MENU=y", &[]), "prompt needs EXPERT [=n] (at IN_MENU)");
}

#[test]
fn an_option_without_prompt_names_who_could_switch_it() {
    let cannot = "has no prompt, so it cannot be set: ";
    assert_eq!(reason("PQ=y", &[]), format!("{cannot}selected by BTRFS [=n], RAID [=n] (at PQ)"));
    assert_eq!(reason("PQ=n", &["RAID=m", "PQ=m"]), format!("{cannot}selected by RAID [=m] (at PQ)"));
    assert_eq!(reason("FLOOR=y", &["EXPERT=y"]), format!("{cannot}its default needs NET [=n] (at FLOOR)"));
    assert_eq!(
        reason("CC_HAS_X=y", &[]),
        format!("{cannot}its default needs $(cc-option,-fx) (at CC_HAS_X)")
    );
    assert_eq!(reason("LONELY=y", &[]), format!("{cannot}nothing selects it (at LONELY)"));
    assert_eq!(reason("HZ=100", &["HZ=250"]), format!("{cannot}its value is its default (at HZ)"));
}

#[test]
fn what_somebody_selects_cannot_be_switched_off() {
    let tree = "config A\n\tbool \"a\"\nconfig B\n\tbool \"b\"\n\tselect A\nconfig C\n\tbool \"c\"\n\tselect A if D\n";
    let asked = parse("test", "CONFIG_A=n\n").unwrap();
    let config = Config::parse("CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=y\n");
    let reasons = unmet(&symbols(tree), &asked, &config);
    assert_eq!(reasons[0].reason, "selected by B [=y]");
    assert_eq!(reasons[0].got.as_deref(), Some("y"));
}

#[test]
fn a_choice_names_what_it_took() {
    assert_eq!(reason("HZ_100=y", &["HZ_250=y"]), "its choice took HZ_250 (at HZ_100)");
    assert_eq!(
        reason("HZ_250=n", &["HZ_250=y"]),
        "its choice must take one option, and none of the others was asked for"
    );
}

#[test]
fn a_number_is_held_against_the_range_that_applies() {
    assert_eq!(reason("CPUS=9", &["EXPERT=y", "CPUS=8"]), "outside of 2..8 (at CPUS)");
    assert_eq!(reason("CPUS=0", &["MAX=16", "CPUS=1"]), "outside of 1..MAX [=16] (at CPUS)");
}

#[test]
fn a_value_of_the_wrong_type_says_which_is_right() {
    for (asked, expected) in [
        ("EXPERT=m", "expects y or n, since it cannot be a module (at EXPERT)"),
        ("EXPERT=\"y\"", "expects y or n, without quotes (at EXPERT)"),
        ("NET=1", "expects y, m or n, without quotes (at NET)"),
        ("CMDLINE=y", "expects a text in quotes (at CMDLINE)"),
        ("CPUS=y", "expects a decimal number without leading zeros or quotes (at CPUS)"),
        ("CPUS=08", "expects a decimal number without leading zeros or quotes (at CPUS)"),
        ("START=\"0x10\"", "expects a number such as 0x7b, without quotes (at START)"),
    ] {
        assert_eq!(reason(asked, &[]), expected, "{asked}");
    }
}

#[test]
fn a_command_is_blamed_only_when_all_else_holds() {
    assert_eq!(
        reason("CFI=y", &[]),
        "depends on $(cc-option,-fsanitize=kcfi), which the tools of this build do not provide (at CFI)"
    );
    assert!(reason("EXPERT=y", &[]).starts_with("Kconfig does not object"));
}
