use super::*;
use crate::macros::Variables;

fn statements(text: &str) -> Vec<Statement> {
    let environment = Variables::new();
    let mut macros = Macros::new(&environment);
    macros.assign("arch", Assign::Simple, "x86").unwrap();
    let mut lexer = Lexer::new(text.to_owned());
    let mut found = Vec::new();
    while let Some(statement) = lexer.next(&mut macros).unwrap() {
        if statement.what == What::Tokens(vec![word("help")]) {
            lexer.skip_help();
        }
        found.push(statement);
    }
    found
}

fn word(text: &str) -> Token {
    Token::Word(text.to_owned())
}

fn tokens(line: &str) -> Vec<Token> {
    match statements(line).pop().unwrap().what {
        What::Tokens(tokens) => tokens,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_becomes_words_texts_and_signs() {
    assert_eq!(
        tokens("\tdepends on A&&!(B>=\"5 \\\"x\\\"\") # why\n"),
        [
            word("depends"),
            word("on"),
            word("A"),
            Token::Sign("&&"),
            Token::Sign("!"),
            Token::Sign("("),
            word("B"),
            Token::Sign(">="),
            Token::Quoted("5 \"x\"".to_owned()),
            Token::Sign(")"),
        ]
    );
    assert_eq!(tokens("prompt 'it\"s' ; A"), [word("prompt"), Token::Quoted("it\"s".to_owned()), word("A")]);
    assert_eq!(tokens("default \"open\ndefault y"), [word("default"), word("y")]);
}

#[test]
fn a_backslash_joins_lines_and_the_statement_is_at_the_first() {
    let found = statements("\n\ndepends on A && \\\n\tB\nconfig C");
    assert_eq!(found.iter().map(|statement| statement.line).collect::<Vec<_>>(), [3, 5]);
}

#[test]
fn macros_are_expanded_in_words_texts_and_paths() {
    assert_eq!(tokens("default a-$(arch)_b"), [word("default"), word("a-x86_b")]);
    assert_eq!(tokens("default $(none)"), [word("default")]);
    assert_eq!(tokens("menu \"$(arch) $5\""), [word("menu"), Token::Quoted("x86 $5".to_owned())]);
    assert_eq!(
        statements("source \"arch/$(arch)/Kconfig\"")[0].what,
        What::Source("arch/x86/Kconfig".into(), false)
    );
    assert_eq!(
        statements("source arch/$(arch)/Kconfig ")[0].what,
        What::Source("arch/x86/Kconfig".into(), false)
    );
}

#[test]
fn what_a_command_would_say_is_kept_as_it_was_written() {
    assert_eq!(
        tokens("def_bool $(shell,echo # \"y)\") && A"),
        [
            word("def_bool"),
            Token::Unknown("$(shell,echo # \"y)".to_owned()),
            Token::Quoted(") && A".to_owned())
        ]
    );
    assert_eq!(tokens("default \"$(shell,x) y\"")[1], Token::Unknown("\"$(shell,x) y\"".to_owned()));
    assert!(matches!(statements("source \"$(shell,x)\"")[0].what, What::Source(_, true)));
}

#[test]
fn assignments_keep_their_text() {
    let what = |line| statements(line).pop().unwrap().what;
    assert_eq!(what("a = $(1) # x \n"), What::Assignment("a".into(), Assign::Recursive, "$(1) # x ".into()));
    assert_eq!(what("a:=\n"), What::Assignment("a".into(), Assign::Simple, String::new()));
    assert_eq!(what("$(arch)_64 += y"), What::Assignment("x86_64".into(), Assign::Append, "y".into()));
}

#[test]
fn help_ends_where_the_indentation_does() {
    let first_words = |text| {
        let words = |statement: Statement| match statement.what {
            What::Tokens(tokens) => tokens.into_iter().next(),
            _ => None,
        };
        statements(text).into_iter().filter_map(words).collect::<Vec<_>>()
    };
    let both = [word("help"), word("config")];
    assert_eq!(first_words("help\n\t  a\n\n\t   b = 1\n        \t  c\nconfig X"), both);
    assert_eq!(first_words("  help\n    config NOT\n  config X\n"), both);
    assert_eq!(first_words("\thelp\n\nconfig X\n"), both);
    assert_eq!(first_words("help\n\t a"), [word("help")]);
}
