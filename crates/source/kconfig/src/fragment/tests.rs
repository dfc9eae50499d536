use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Vec<String> {
    parse("tiny", text).unwrap().iter().map(|found| format!("{} {found}", found.origin.line)).collect()
}

fn refusal(text: &str) -> String {
    parse("tiny", text).unwrap_err().to_string()
}

#[test]
fn every_form_of_a_value_is_read_with_its_line() {
    let text = "# tiny\n\nCONFIG_A=y\nCONFIG_B=m \nCONFIG_C=n\r\n# CONFIG_D is not set\nCONFIG_E=\"a \\\"b\\\" \\\\\"\n\
                CONFIG_F=-12\nCONFIG_G=0x7bFF\nCONFIG_H=\"\"\n# CONFIG_I=y\n#CONFIG_J=y\n";
    let expected = [
        "3 CONFIG_A=y",
        "4 CONFIG_B=m",
        "5 CONFIG_C=n",
        "6 CONFIG_D=n",
        "7 CONFIG_E=\"a \\\"b\\\" \\\\\"",
        "8 CONFIG_F=-12",
        "9 CONFIG_G=0x7bFF",
        "10 CONFIG_H=\"\"",
    ];
    assert_eq!(read(text), expected);
}

#[test]
fn a_line_that_kconfig_would_ignore_is_an_error() {
    for line in [
        "CONFIG_A",
        "CONFIG_A = y",
        " CONFIG_A=y",
        "CONFIGA=y",
        "A=y",
        "CONFIG_=y",
        "CONFIG_A-B=y",
        "CONFIG_A=",
        "CONFIG_A=yes",
        "CONFIG_A=Y",
        "CONFIG_A=y # why",
        "CONFIG_A=\"open",
        "CONFIG_A=\"shut\" and more",
        "CONFIG_A=0x",
        "CONFIG_A=-",
        "CONFIG_A=12k",
        "#CONFIG_A is not set",
        "#  CONFIG_A is not set",
        "# CONFIG_A is  not set",
        "# CONFIG_ is not set",
        "<<<<<<< HEAD",
    ] {
        let text = format!("CONFIG_B=y\n{line}\n");
        assert!(refusal(&text).starts_with("tiny:2: \""), "{line}: {:?}", parse("tiny", &text));
    }
}

#[test]
fn an_error_shows_the_line_escaped_and_cut() {
    assert_eq!(
        refusal("CONFIG_A=\u{1b}[31m"),
        r#"tiny:1: "CONFIG_A=\u{1b}[31m" sets nothing: expected y, m, n, "text", 123 or 0x7b after the =, and nothing else"#
    );
    assert!(refusal(&"x".repeat(100_000)).len() < 300);
}

#[test]
fn two_values_for_one_option_are_an_error_and_the_same_twice_is_none() {
    assert_eq!(read("CONFIG_A=y\nCONFIG_A=y\n"), ["1 CONFIG_A=y"]);
    assert_eq!(
        refusal("CONFIG_A=y\n\n# CONFIG_A is not set\n"),
        "tiny:3: CONFIG_A was already set to something else in line 1: keep one of them"
    );
}

#[test]
fn of_several_fragments_the_last_word_counts() {
    let fragment = |name, text| parse(name, text).unwrap();
    let both =
        combine([fragment("a", "CONFIG_A=y\nCONFIG_B=m\n"), fragment("b", "CONFIG_C=y\nCONFIG_A=n\n")]);
    let shown: Vec<String> = both.iter().map(|found| format!("{}: {found}", found.origin)).collect();
    assert_eq!(shown, ["a:2: CONFIG_B=m", "b:1: CONFIG_C=y", "b:2: CONFIG_A=n"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in "(CONFIG_|# CONFIG_|[A-C]|=|y|\"|\\\\| is not set|\n|[ -~é]){0,40}") {
        match parse("x", &text) {
            Ok(found) => prop_assert!(found.len() <= text.lines().count()),
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }

    #[test]
    fn what_is_shown_can_be_read_again(name in "[A-Za-z0-9_]{1,20}", value in "[^\n\r]{0,40}") {
        let origin = Place { file: "x".into(), line: 1 };
        let assignment = Assignment { name, wanted: Wanted::Text(value), origin };
        prop_assert_eq!(parse("x", &assignment.to_string()).unwrap(), [assignment]);
    }
}
