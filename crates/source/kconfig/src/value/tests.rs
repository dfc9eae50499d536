use super::*;
use crate::fixture::symbols;

const TREE: &str = "config MODULES\n\tbool \"m\"\n\tmodules\nconfig Y\n\ttristate\nconfig M\n\ttristate\nconfig N\n\
    \ttristate\nconfig INT\n\tint\nconfig HEX\n\thex\nconfig TEXT\n\tstring\n";

const CONFIG: &str =
    "CONFIG_MODULES=y\nCONFIG_Y=y\nCONFIG_M=m\nCONFIG_INT=120200\nCONFIG_HEX=0x10\nCONFIG_TEXT=\"b\"\n";

fn value(condition: &str, config: &str) -> (Tristate, Tristate) {
    let symbols = symbols(&format!("{TREE}config Q\n\tbool\n\tdepends on {condition}\n"));
    let config = Config::parse(config);
    let values = Values { symbols: &symbols, config: &config };
    let bounds = values.all(&symbols.definitions("Q")[0].depends);
    (bounds.low, bounds.high)
}

#[test]
fn expressions_follow_the_tristate_rules() {
    use Tristate::{Module, No, Yes};
    for (condition, expected) in [
        ("Y", Yes),
        ("M", Module),
        ("!M", Module),
        ("!Y", No),
        ("M && Y", Module),
        ("M || N", Module),
        ("N && Y || !N", Yes),
        ("NOWHERE", No),
        ("INT", No),
        ("m", Module),
        ("\"y\"", Yes),
        ("M = m", Yes),
        ("M != y", Yes),
        ("N = n", Yes),
        ("M > n && M < y", Yes),
        ("INT >= 120000", Yes),
        ("INT >= 130000", No),
        ("INT = \"120200\"", Yes),
        ("HEX = 16", Yes),
        ("HEX < 0x100", Yes),
        ("TEXT = \"b\"", Yes),
        ("TEXT > \"a\" && TEXT != \"\"", Yes),
        ("NOWHERE = \"NOWHERE\"", Yes),
        ("\"x86\" = \"x86\"", Yes),
    ] {
        assert_eq!(value(condition, CONFIG), (expected, expected), "{condition}");
    }
}

#[test]
fn without_modules_a_condition_of_m_fails() {
    assert_eq!(value("m", "CONFIG_Y=y\n").1, Tristate::No);
}

#[test]
fn commands_leave_open_what_they_decide_and_nothing_else() {
    use Tristate::{Module, No, Yes};
    for (condition, expected) in [
        ("$(shell,x)", (No, Yes)),
        ("!$(shell,x)", (No, Yes)),
        ("$(shell,x) && N", (No, No)),
        ("$(shell,x) && M", (No, Module)),
        ("$(shell,x) || M", (Module, Yes)),
        ("\"$(shell,x)\" = \"\"", (No, Yes)),
    ] {
        assert_eq!(value(condition, CONFIG), expected, "{condition}");
    }
}

#[test]
fn numbers_are_those_of_kconfig() {
    assert_eq!(number("-5", Some(Kind::Number)), Some(-5));
    assert_eq!(number("1f", Some(Kind::Hex)), Some(31));
    assert_eq!(number("0X1F", None), Some(31));
    for (text, kind) in [("", None), ("+5", None), ("0x-5", None), ("-", None), ("0x", None), ("1f", None)] {
        assert_eq!(number(text, kind), None, "{text}");
    }
    assert_eq!(number(&"9".repeat(100), None), None);
}
