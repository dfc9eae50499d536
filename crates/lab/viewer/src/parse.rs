//! From text to a filter.

use std::iter::Peekable;
use std::str::{CharIndices, FromStr};

use lab::suites::select::Pattern;
use thiserror::Error;

use crate::filter::{Filter, How, Literal, Node};

/// Longest filter, in bytes.
const TEXT_MAX: usize = 4096;

/// Parentheses and negations within each other.
const DEPTH_MAX: usize = 64;

/// A text that is no filter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the filter is not understood at character {at}: {why}")]
pub struct WrongFilter {
    /// Counted from 1.
    at: usize,
    why: &'static str,
}

const NO_COMPARISON: &str = "a comparison such as cpu == 1 is missing";
const NO_OPERATOR: &str = "one of == != < <= > >= ~ !~ is missing";
const NO_VALUE: &str = "a number, a time such as 1.5ms, a word or a text in quotes is missing";

/// A word of the language.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Not,
    And,
    Or,
    How(How),
    Word(String),
    Quoted(String),
}

impl FromStr for Filter {
    type Err = WrongFilter;

    fn from_str(text: &str) -> Result<Self, WrongFilter> {
        parse(text).map(Self)
    }
}

/// Reads a filter.
fn parse(text: &str) -> Result<Node, WrongFilter> {
    if text.len() > TEXT_MAX {
        return Err(WrongFilter { at: TEXT_MAX, why: "it is too long" });
    }
    let mut parser = Parser { tokens: tokens(text)?, next: 0, end: text.chars().count() + 1 };
    let node = parser.any(0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(node),
        Some(_) => Err(parser.wrong("&& or || is missing")),
    }
}

struct Parser {
    /// With the places where they begin.
    tokens: Vec<(usize, Token)>,
    next: usize,
    end: usize,
}

impl Parser {
    fn wrong(&self, why: &'static str) -> WrongFilter {
        WrongFilter { at: self.tokens.get(self.next).map_or(self.end, |(at, _)| *at), why }
    }

    /// Takes a word of the language, if it comes next.
    fn takes(&mut self, token: &Token) -> bool {
        let is_next = self.tokens.get(self.next).is_some_and(|(_, next)| next == token);
        self.next += usize::from(is_next);
        is_next
    }

    fn any(&mut self, depth: usize) -> Result<Node, WrongFilter> {
        let mut parts = vec![self.all(depth)?];
        while self.takes(&Token::Or) {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Node::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> Result<Node, WrongFilter> {
        let mut parts = vec![self.one(depth)?];
        while self.takes(&Token::And) {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Node::All(parts) })
    }

    fn one(&mut self, depth: usize) -> Result<Node, WrongFilter> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("it is too deep"));
        }
        if self.takes(&Token::Not) {
            return Ok(Node::Not(Box::new(self.one(depth + 1)?)));
        }
        if !self.takes(&Token::Open) {
            return self.comparison();
        }
        let node = self.any(depth + 1)?;
        if self.takes(&Token::Close) { Ok(node) } else { Err(self.wrong(") is missing")) }
    }

    fn comparison(&mut self) -> Result<Node, WrongFilter> {
        let Some((_, Token::Word(field))) = self.tokens.get(self.next).cloned() else {
            return Err(self.wrong(NO_COMPARISON));
        };
        self.next += 1;
        let Some((_, Token::How(how))) = self.tokens.get(self.next).cloned() else {
            return Err(self.wrong(NO_OPERATOR));
        };
        self.next += 1;
        let with = match self.tokens.get(self.next) {
            Some((_, Token::Quoted(text))) => Literal::Text(text.clone()),
            Some((_, Token::Word(word))) => literal(word).ok_or_else(|| self.wrong(NO_VALUE))?,
            _ => return Err(self.wrong(NO_VALUE)),
        };
        let with = match (how, with) {
            (How::Like | How::Unlike, Literal::Text(text)) => Literal::Pattern(Pattern::new(&text)),
            (How::Like | How::Unlike, _) => return Err(self.wrong("a pattern is a word or a text in quotes")),
            (_, with) => with,
        };
        self.next += 1;
        Ok(Node::Compare { field, how, with })
    }
}

/// A number, a time, or a word; nothing if it begins like a number and is none.
fn literal(word: &str) -> Option<Literal> {
    let begin = word.strip_prefix('-').unwrap_or(word);
    if !begin.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(Literal::Text(word.to_owned()));
    }
    let magnitude = match begin.strip_prefix("0x") {
        Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
        None => magnitude(begin)?,
    };
    Some(Literal::Number(if begin.len() == word.len() { magnitude } else { -magnitude }))
}

/// A number, or a time in nanoseconds.
fn magnitude(text: &str) -> Option<i128> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let digits: u32 = match unit {
        "" | "ns" => 0,
        "us" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let factor = 10_i128.pow(digits);
    let whole = i128::from(whole.parse::<u64>().ok()?) * factor;
    let places = u32::try_from(fraction.len()).ok().filter(|places| *places <= digits)?;
    let part = if fraction.is_empty() { 0 } else { i128::from(fraction.parse::<u64>().ok()?) };
    Some(whole + part * 10_i128.pow(digits - places))
}

/// The words of the language.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, WrongFilter> {
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let place = text[..at].chars().count() + 1;
        let token = match c {
            c if c.is_whitespace() => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            '"' | '\'' => Token::Quoted(
                quoted(&mut rest, c).ok_or(WrongFilter { at: place, why: "the quote does not end" })?,
            ),
            c if is_word(c) => Token::Word(word(&mut rest, c)),
            c => operator(&mut rest, c)
                .ok_or(WrongFilter { at: place, why: "this character has no meaning" })?,
        };
        tokens.push((place, token));
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '*' | '?')
}

fn word(rest: &mut Peekable<CharIndices<'_>>, first: char) -> String {
    let mut word = String::from(first);
    while let Some((_, c)) = rest.next_if(|(_, c)| is_word(*c)) {
        word.push(c);
    }
    word
}

fn quoted(rest: &mut Peekable<CharIndices<'_>>, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()?.1 {
            c if c == quote => return Some(text),
            '\\' => text.push(rest.next()?.1),
            c => text.push(c),
        }
    }
}

fn operator(rest: &mut Peekable<CharIndices<'_>>, first: char) -> Option<Token> {
    let mut follows = |wanted: char| rest.next_if(|(_, c)| *c == wanted).is_some();
    Some(match first {
        '&' if follows('&') => Token::And,
        '|' if follows('|') => Token::Or,
        '=' if follows('=') => Token::How(How::Equal),
        '!' if follows('=') => Token::How(How::Different),
        '!' if follows('~') => Token::How(How::Unlike),
        '!' => Token::Not,
        '<' if follows('=') => Token::How(How::LessOrEqual),
        '<' => Token::How(How::Less),
        '>' if follows('=') => Token::How(How::GreaterOrEqual),
        '>' => Token::How(How::Greater),
        '~' => Token::How(How::Like),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Literal {
        match parse(&format!("x == {text}")) {
            Ok(Node::Compare { with, .. }) => with,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_are_numbers_times_and_texts() {
        for (text, number) in
            [("5", 5), ("-5", -5), ("0xff", 255), ("1.5ms", 1_500_000), ("2s", 2_000_000_000), ("7ns", 7)]
        {
            assert_eq!(value(text), Literal::Number(number), "{text}");
        }
        for (text, wanted) in
            [("cat", "cat"), ("\"a b\"", "a b"), ("'a\\'b'", "a'b"), ("kworker/0:1", "kworker/0:1")]
        {
            assert_eq!(value(text), Literal::Text(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, at, why) in [
            ("", 1, NO_COMPARISON),
            ("cpu", 4, NO_OPERATOR),
            ("cpu = 1", 5, "this character has no meaning"),
            ("cpu ==", 7, NO_VALUE),
            ("cpu == 1 cpu == 2", 10, "&& or || is missing"),
            ("(cpu == 1", 10, ") is missing"),
            ("comm == \"a", 9, "the quote does not end"),
            ("ä == 1 &", 8, "this character has no meaning"),
            ("cpu == 1x", 8, NO_VALUE),
            ("time > 1.5", 8, NO_VALUE),
            ("cpu ~ 1", 7, "a pattern is a word or a text in quotes"),
        ] {
            assert_eq!(parse(text), Err(WrongFilter { at, why }), "{text}");
        }
        assert_eq!(parse(&"!".repeat(100)).expect_err("it is deep").why, "it is too deep");
        assert_eq!(parse(&"x".repeat(5000)).expect_err("it is long").why, "it is too long");
    }

    #[test]
    fn and_binds_more_than_or() {
        let Ok(Node::Any(parts)) = parse("a == 1 || b == 2 && c == 3") else { panic!("it is an or") };
        assert!(matches!(&parts[..], [Node::Compare { .. }, Node::All(all)] if all.len() == 2), "{parts:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[a-z0-9 ()!&|=<>~\"'\\\\.ä-]{0,60}") {
            let _ = parse(&text);
        }
    }
}
