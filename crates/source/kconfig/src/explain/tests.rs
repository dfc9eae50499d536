use super::*;
use crate::config::Config;
use crate::fixture::symbols;

fn unmet(condition: &str, level: Tristate) -> Option<String> {
    let tree = "config MODULES\n\tbool\n\tmodules\nconfig Y\n\tbool\nconfig M\n\ttristate\nconfig N\n\tbool\nconfig K\n\tbool\n\
                config INT\n\tint\n";
    let symbols = symbols(&format!("{tree}config Q\n\tbool\n\tdepends on {condition}\n"));
    let config = Config::parse("CONFIG_MODULES=y\nCONFIG_Y=y\nCONFIG_M=m\nCONFIG_INT=5\n");
    let conditions: Vec<&Expression> = symbols.definitions("Q")[0].depends.iter().collect();
    Values { symbols: &symbols, config: &config }.unmet(&conditions, level)
}

#[test]
fn only_what_fails_is_shown() {
    for (condition, expected) in [
        ("Y && M", None),
        ("Y && N", Some("N [=n]")),
        ("N && N && !Y", Some("N [=n] && !Y [=y]")),
        ("Y && (N || K)", Some("(N [=n] || K [=n])")),
        ("N || Y && K", Some("(N [=n] || K [=n])")),
        (
            "(N || (K || NOWHERE) && Y) || INT > 5",
            Some("(N [=n] || (K [=n] || NOWHERE [undefined]) || INT [=5] > 5)"),
        ),
        ("!(Y && (Y && !K))", Some("(!Y [=y] || K [=n])")),
        ("N || Y", None),
        ("!(Y || N)", Some("!Y [=y]")),
        ("!(Y && M)", None),
        ("!(Y && !N)", Some("(!Y [=y] || N [=n])")),
        ("!!N", Some("N [=n]")),
        ("INT >= 7", Some("INT [=5] >= 7")),
        ("!(INT = 5)", Some("INT [=5] != 5")),
        ("\"a\" = \"b\"", Some("\"a\" = \"b\"")),
        ("NOWHERE", Some("NOWHERE [undefined]")),
        ("$(shell,x) && N", Some("N [=n]")),
    ] {
        assert_eq!(unmet(condition, Tristate::Module).as_deref(), expected, "{condition}");
    }
    assert_eq!(unmet("Y && M", Tristate::Yes).as_deref(), Some("M [=m]"));
}

#[test]
fn long_conditions_are_cut() {
    let many: Vec<String> = (0..100).map(|n| format!("X{n}")).collect();
    let shown = unmet(&many.join(" && "), Tristate::Yes).unwrap();
    assert!(
        shown.starts_with("X0 [undefined] && ") && shown.ends_with(" && …") && shown.len() < 200,
        "{shown}"
    );
    let wide = format!("\"{}\" = \"b\"", "a\\\\".repeat(5000));
    assert!(unmet(&wide, Tristate::Yes).unwrap().chars().count() <= LENGTH_MAX + 1);
}
