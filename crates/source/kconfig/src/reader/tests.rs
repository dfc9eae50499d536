use crate::fixture::{read, symbols};
use crate::symbols::Kind;
use proptest::prelude::*;

fn refusal(files: &[(&str, &str)]) -> String {
    read(files).unwrap_err().to_string()
}

#[test]
fn sourced_files_are_read_where_they_are_named() {
    let found = read(&[
        ("Kconfig", "mainmenu \"Linux/$(ARCH)\"\nsource \"arch/$(SRCARCH)/Kconfig\"\nconfig LAST\n\tbool\n"),
        ("arch/x86/Kconfig", "if 64BIT\nsource \"arch/$SRCARCH/more\"\nendif\n"),
        ("arch/x86/more", "\n# more\nconfig MORE\n\thex \"more\"\n"),
    ])
    .unwrap();
    let [more] = found.definitions("MORE") else { panic!("{found:?}") };
    assert_eq!((more.place.to_string().as_str(), more.kind), ("arch/x86/more:3", Some(Kind::Hex)));
    assert_eq!(found.depends(more).len(), 1);
    assert_eq!(found.depends(&found.definitions("LAST")[0]).len(), 0);
}

#[test]
fn paths_out_of_the_tree_are_refused() {
    for path in ["../etc/passwd", "/etc/passwd", "a/../../b", "", "a//b", "$(X)/b"] {
        let text = format!("\nsource \"{path}\"\n");
        let message = refusal(&[("Kconfig", &text)]);
        assert!(message.starts_with("Kconfig:2: \"") && message.contains("not a path inside"), "{message}");
    }
    assert_eq!(
        refusal(&[("Kconfig", "source \"none\"\n")]),
        "Kconfig:1: cannot read \"none\" (no such file): complete the tree"
    );
    assert!(refusal(&[("Kconfig", "source \"$(shell,pwd)\"")]).contains("cannot resolve the path"));
}

#[test]
fn files_that_include_themselves_come_to_an_end() {
    assert!(refusal(&[("Kconfig", "source \"Kconfig\"\n")]).contains("more than 64 nested files"));
    let wide = "source \"b\"\n".repeat(300);
    assert!(
        refusal(&[("Kconfig", &wide), ("b", &wide.replace('b', "c")), ("c", "\n")])
            .contains("included files")
    );
}

#[test]
fn blocks_must_be_closed_in_their_file_and_order() {
    assert!(
        refusal(&[("Kconfig", "menu \"a\"\nif A\nendmenu\n")]).starts_with("Kconfig:3: endmenu closes no")
    );
    assert!(refusal(&[("Kconfig", "menu \"a\"\n")]).contains("ends without endmenu"));
    assert!(
        refusal(&[("Kconfig", "if A\nsource \"b\"\n"), ("b", "endif\n")]).starts_with("b:1: endif closes no")
    );
    assert!(refusal(&[("Kconfig", &"if A\n".repeat(65))]).contains("more than 64 nested blocks"));
}

#[test]
fn every_attribute_is_taken_down() {
    let found = symbols(
        "config MODULES\n\tbool \"m\"\n\tmodules\nconfig A\n\ttristate \"a\" if B\n\tdepends on C || D\n\
         \tdefault m if E\n\tselect F if G\n\timply H\n\thelp\n\t  config NO\nconfig N\n\tint\n\tprompt \"n\"\n\
         \trange 1 MAX if A\n\tdefault 5\nconfig D\n\tdef_bool y if A\n",
    );
    assert_eq!(found.modules(), Some("MODULES"));
    let [a] = found.definitions("A") else { panic!() };
    assert_eq!((a.prompts.len(), a.depends.len(), a.defaults.len(), a.selects.len()), (1, 1, 1, 1));
    let [n] = found.definitions("N") else { panic!() };
    assert_eq!((n.kind, n.prompts.len(), n.ranges.len(), n.defaults.len()), (Some(Kind::Number), 1, 1, 1));
    assert_eq!(found.kind("D"), Some(Kind::Bool));
    assert_eq!(found.selectors("F").map(|selector| selector.name).collect::<Vec<_>>(), ["A"]);
    assert_eq!(found.selectors("H").count(), 0);
    assert!(found.definitions("NO").is_empty() && found.passed_over().is_empty());
}

#[test]
fn a_choice_gives_its_type_and_condition_to_its_options() {
    let found = symbols(
        "choice\n\tprompt \"c\" if E\n\tdefault B\n\tdepends on D\nconfig A\n\tbool \"a\"\nif X\nconfig B\n\
         \tprompt \"b\"\nendif\nendchoice\nchoice\n\ttristate \"t\"\n\toptional\nconfig T\n\tprompt \"t\"\nendchoice\n",
    );
    assert_eq!((found.kind("B"), found.kind("T")), (Some(Kind::Bool), Some(Kind::Tristate)));
    assert_eq!(found.depends(&found.definitions("B")[0]).len(), 3);
    assert_eq!(found.rivals("A").collect::<Vec<_>>(), ["B"]);
    assert_eq!(found.rivals("T").count(), 0);
}

#[test]
fn older_kernels_are_read() {
    let found = symbols(
        "config ARCH\n\tstring\n\toption env=\"ARCH\"\nconfig M\n\tboolean \"m\"\n\toption modules\n\
         \t---help---\n\t  config NO\nconfig Z\n\tbool\n",
    );
    assert_eq!(found.modules(), Some("M"));
    assert!(found.definitions("NO").is_empty() && !found.definitions("Z").is_empty());
}

#[test]
fn unknown_keywords_are_passed_over_and_broken_lines_are_not() {
    let found = symbols("config A\n\ttransitional\n\tbool\nfrobnicate \"x\"\n");
    let places: Vec<String> = found.passed_over().iter().map(ToString::to_string).collect();
    assert_eq!(places, ["Kconfig:2", "Kconfig:4"]);
    for line in ["depends A", "bool y", "select", "range 1", "default", "depends on A B", "default y if"] {
        let message = refusal(&[("Kconfig", &format!("config A\n\t{line}\n"))]);
        assert!(message.starts_with("Kconfig:2: cannot understand this"), "{line}: {message}");
    }
    for line in ["config", "config \"A\"", "config A B", "if", "if A B", "x := $(open"] {
        assert!(refusal(&[("Kconfig", line)]).starts_with("Kconfig:1: "), "{line}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in "(config A|choice|menu \"a\"|if A|endif|endmenu|endchoice|help|bool|depends on|default|A|\"|\\$\\(A\\)|A = |&&|\\(|!|\n|\t| |[ -~é]){0,40}"
    ) {
        if let Err(error) = read(&[("Kconfig", &text)]) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
