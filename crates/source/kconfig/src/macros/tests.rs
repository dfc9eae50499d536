use super::*;

fn expanded(assignments: &[(&str, Assign, &str)], text: &str) -> Result<Expansion, Failure> {
    let environment = Variables::from([("SRCARCH".to_owned(), "x86".to_owned())]);
    let mut macros = Macros::new(&environment);
    for (name, how, value) in assignments {
        macros.assign(name, *how, value)?;
    }
    macros.expand(text)
}

fn text(assignments: &[(&str, Assign, &str)], input: &str) -> String {
    let found = expanded(assignments, input).unwrap();
    assert!(!found.is_unknown);
    found.text
}

use Assign::{Append, Recursive, Simple};

#[test]
fn variables_come_from_assignments_then_from_outside_and_are_empty_otherwise() {
    assert_eq!(text(&[], "arch/$(SRCARCH)/Kconfig$(NONE)"), "arch/x86/Kconfig");
    assert_eq!(text(&[("SRCARCH", Simple, "um")], "$(SRCARCH)"), "um");
    assert_eq!(text(&[], "$ $5 ${X}"), "$ $5 ${X}");
}

#[test]
fn simple_variables_are_expanded_at_once_and_recursive_ones_when_used() {
    let before_and_after =
        [("A", Simple, "1"), ("S", Simple, "$(A)"), ("R", Recursive, "$(A)"), ("A", Simple, "2")];
    assert_eq!(text(&before_and_after, "$(S)$(R)"), "12");
    let appended = [
        ("A", Simple, "1"),
        ("S", Simple, "x"),
        ("S", Append, "$(A)"),
        ("N", Append, "$(A)"),
        ("A", Simple, "2"),
    ];
    assert_eq!(text(&appended, "$(S),$(N)"), "x 1,2");
}

#[test]
fn functions_take_arguments_and_leave_missing_ones_empty() {
    let functions = [
        ("greet", Recursive, "$(1), I am $(2)."),
        ("comma", Simple, ","),
        ("outer", Recursive, "$(greet,$(1),x)"),
    ];
    assert_eq!(text(&functions, "$(greet,Hello,(a,b))"), "Hello, I am (a,b).");
    assert_eq!(text(&functions, "$(greet,Hi)"), "Hi, I am .");
    assert_eq!(text(&functions, "$(outer,a$(comma)b)"), "a,b, I am x.");
}

#[test]
fn nothing_is_run_and_all_that_needs_a_command_is_unknown() {
    let include = [
        ("if-success", Recursive, "$(shell,{ $(1); } && echo \"$(2)\" || echo \"$(3)\")"),
        ("success", Recursive, "$(if-success,$(1),y,n)"),
        ("cc-option", Recursive, "$(success,$(CC) $(1))"),
        ("flag", Simple, "$(cc-option,-m32)"),
    ];
    for unknown in ["$(shell,touch /nowhere)", "$(cc-option,-fx)", "a $(flag)", "$($(flag))", "$(lineno)"] {
        assert!(expanded(&include, unknown).unwrap().is_unknown, "{unknown}");
    }
    assert_eq!(text(&include, "$(error-if,$(success,false),no compiler)$(info,hello)"), "");
}

#[test]
fn endless_and_broken_macros_are_refused() {
    assert_eq!(
        expanded(&[("X", Recursive, "$(Y)"), ("Y", Recursive, "$(X)")], "$(X)"),
        Err(Failure::Syntax("a variable that refers to itself"))
    );
    assert!(matches!(expanded(&[("F", Recursive, "$(F,$(1))")], "$(F,1)"), Err(Failure::TooMuch(..))));
    assert!(matches!(expanded(&[], "$(open"), Err(Failure::Syntax(_))));
    let doubling: Vec<(String, String)> =
        (0..60).map(|n| (format!("A{}", n + 1), format!("$(A{n})$(A{n})"))).collect();
    let mut all = vec![("A0", Simple, "x")];
    all.extend(doubling.iter().map(|(name, value)| (name.as_str(), Recursive, value.as_str())));
    assert!(matches!(expanded(&all, "$(A60)"), Err(Failure::TooMuch(..))));
    let commas = format!("$(f{})", ",".repeat(20));
    assert!(matches!(expanded(&[], &commas), Err(Failure::TooMuch(..))));
}
