use super::*;
use crate::lexer::{Lexer, What};
use crate::macros::{Macros, Variables};

fn read(text: &str) -> Option<Expression> {
    let environment = Variables::new();
    let mut lexer = Lexer::new(format!("x {text}"));
    let Some(What::Tokens(tokens)) =
        lexer.next(&mut Macros::new(&environment)).unwrap().map(|found| found.what)
    else {
        return None;
    };
    let mut tokens = Tokens(&tokens[1..]);
    tokens.expression().filter(|_| tokens.0.is_empty())
}

fn symbol(name: &str) -> Expression {
    Expression::Operand(Operand::Symbol(name.to_owned()))
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    let not = |inner| Expression::Not(Box::new(inner));
    let right = Expression::All(vec![symbol("B"), not(symbol("C")), symbol("D")]);
    assert_eq!(read("A || B && !C && D"), Some(Expression::Any(vec![symbol("A"), right])));
    let left = Expression::Any(vec![symbol("A"), symbol("B")]);
    assert_eq!(read("(A || B) && C"), Some(Expression::All(vec![left, symbol("C")])));
    assert_eq!(read("((A))"), Some(symbol("A")));
}

#[test]
fn a_negated_comparison_is_negated_as_a_whole() {
    let equal =
        Expression::Compare(Operand::Symbol("A".into()), Relation::Equal, Operand::Constant("y".into()));
    assert_eq!(read("!A = \"y\""), Some(Expression::Not(Box::new(equal))));
}

#[test]
fn broken_expressions_are_none() {
    for text in ["&& A", "A &&", "(A", "A)", "A B", "A = ", "A = (B)", "!", "()", "A = B = C"] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn nesting_is_limited_and_length_is_not() {
    let nested = |depth: usize| format!("{}A{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(read(&nested(DEPTH_MAX)), Some(symbol("A")));
    assert_eq!(read(&nested(DEPTH_MAX + 1)), None);
    assert_eq!(read(&format!("{}A", "!".repeat(10_000))), None);
    let long = vec!["A"; 5_000].join(" || ");
    assert!(matches!(read(&long), Some(Expression::Any(parts)) if parts.len() == 5_000));
}

#[test]
fn relations_have_opposites() {
    for sign in ["=", "!=", "<", "<=", ">", ">="] {
        let relation = Relation::of(sign).unwrap();
        assert_eq!((relation.sign(), relation.opposite().opposite()), (sign, relation));
        assert_ne!(relation, relation.opposite());
    }
}
