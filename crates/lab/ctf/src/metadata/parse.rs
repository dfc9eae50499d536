//! Reads the text of a trace: what it says of the trace, its clock and its events. What is the same in all traces is passed over.

use std::iter::Peekable;
use std::str::Chars;

use super::{Metadata, TRACER, VERSION, type_name};
use crate::class::{Class, Field, Number, Shape, Stream};

/// Longest text, in bytes: all events of a kernel take less than two MiB.
pub(crate) const TEXT_MAX: u64 = 64 << 20;

type Wrong = (usize, String);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    /// One character that is none of the others.
    Sign(char),
}

pub(super) fn metadata(text: &str) -> Result<Metadata, Wrong> {
    let mut metadata = Metadata::default();
    let mut tokens = Tokens { lines: 1, characters: text.chars().peekable() };
    while let Some((line, statement)) = tokens.statement()? {
        let wrong = |why: &str| (line, why.to_owned());
        match statement.first() {
            Some(Token::Word(word)) if word == "trace" => {
                let uuid = text_of(&statement, "uuid")
                    .and_then(uuid)
                    .ok_or_else(|| wrong("the trace has no UUID"))?;
                metadata.uuid = uuid;
            }
            Some(Token::Word(word)) if word == "clock" => {
                let offset = word_of(&statement, "offset").and_then(|offset| offset.parse().ok());
                metadata.offset = offset.ok_or_else(|| wrong("the clock has no offset"))?;
            }
            Some(Token::Word(word)) if word == "env" => {
                let texts = statement.windows(3).filter_map(|three| match three {
                    [Token::Word(key), Token::Sign('='), Token::Text(value)] => {
                        Some((key.clone(), value.clone()))
                    }
                    _ => None,
                });
                metadata.environment.extend(texts);
            }
            Some(Token::Word(word)) if word == "event" => {
                metadata.classes.push(class(&statement).map_err(|why| (line, why))?);
            }
            _ => {}
        }
    }
    for (key, value) in [TRACER, VERSION] {
        if metadata.environment.remove(key).as_deref() != Some(value) {
            return Err((1, format!("{key} is not {value}")));
        }
    }
    Ok(metadata)
}

fn class(statement: &[Token]) -> Result<Class, String> {
    let name = text_of(statement, "name").ok_or("an event has no name")?;
    let number = |key: &str| word_of(statement, key).and_then(|number| number.parse::<u16>().ok());
    let wrong = |what: &str| format!("event {name}: {what}");
    let id = number("id").ok_or_else(|| wrong("it has no id"))?;
    let stream = match number("stream_id") {
        Some(0) => Stream::Kernel,
        Some(1) => Stream::Marks,
        _ => return Err(wrong("it has no stream")),
    };
    let begin =
        statement.windows(2).position(|two| two == [Token::Word("struct".to_owned()), Token::Sign('{')]);
    let begin = begin.ok_or_else(|| wrong("it has no fields"))? + 2;
    let mut class = Class { id, stream, name: name.to_owned(), fields: Vec::new() };
    for declaration in statement[begin..].split(|token| *token == Token::Sign(';')) {
        if declaration.first() == Some(&Token::Sign('}')) {
            break;
        }
        let field = field(declaration).ok_or_else(|| wrong("a field is not understood"))?;
        // The count of a sequence is a part of it.
        class.fields.extend(field);
    }
    if class.is_valid() { Ok(class) } else { Err(wrong("it is not valid")) }
}

/// `TYPE _NAME`, `TYPE _NAME[N]`, `TYPE _NAME[COUNT]`, `count_t COUNT`.
fn field(declaration: &[Token]) -> Option<Option<Field>> {
    let [Token::Word(kind), Token::Word(name), rest @ ..] = declaration else { return None };
    let name = name.strip_prefix('_')?.to_owned();
    let shape = match (&**kind, rest) {
        ("count_t", []) => return Some(None),
        ("string", []) => Shape::String,
        ("char_t", [Token::Sign('['), Token::Word(size), Token::Sign(']')]) => {
            Shape::Text(size.parse().ok()?)
        }
        (kind, []) => Shape::Number(number(kind)?),
        (kind, [Token::Sign('['), Token::Word(count), Token::Sign(']')]) if count.starts_with('_') => {
            Shape::Sequence(number(kind)?)
        }
        (kind, [Token::Sign('['), Token::Word(count), Token::Sign(']')]) => {
            Shape::Array(number(kind)?, count.parse().ok()?)
        }
        _ => return None,
    };
    Some(Some(Field { name, shape }))
}

fn number(kind: &str) -> Option<Number> {
    let bits = kind.strip_suffix("_t")?.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let name = kind.strip_suffix("_t")?.strip_suffix(bits)?;
    let bytes = bits.parse::<u8>().ok()? / 8;
    let (is_signed, is_hex) = match name {
        "uint" => (false, false),
        "int" => (true, false),
        "hex" => (false, true),
        _ => return None,
    };
    let number = Number { bytes, is_signed, is_hex };
    (type_name(number) == kind).then_some(number)
}

/// The text behind `KEY =`.
fn text_of<'a>(statement: &'a [Token], key: &str) -> Option<&'a str> {
    value_of(statement, key)
        .and_then(|token| if let Token::Text(text) = token { Some(&**text) } else { None })
}

/// The word or number behind `KEY =`.
fn word_of<'a>(statement: &'a [Token], key: &str) -> Option<&'a str> {
    value_of(statement, key)
        .and_then(|token| if let Token::Word(word) = token { Some(&**word) } else { None })
}

fn value_of<'a>(statement: &'a [Token], key: &str) -> Option<&'a Token> {
    statement.windows(3).find_map(|three| match three {
        [Token::Word(word), Token::Sign('='), value] if word == key => Some(value),
        _ => None,
    })
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let number = u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32)?;
    Some(number.to_be_bytes())
}

struct Tokens<'a> {
    lines: usize,
    characters: Peekable<Chars<'a>>,
}

impl Tokens<'_> {
    /// The tokens up to the next semicolon that is in no braces, and the line where they begin.
    fn statement(&mut self) -> Result<Option<(usize, Vec<Token>)>, Wrong> {
        let mut statement = Vec::new();
        let (mut begin, mut depth) = (self.lines, 0_u32);
        while let Some(token) = self.token()? {
            if statement.is_empty() {
                begin = self.lines;
            }
            match token {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => {
                    depth =
                        depth.checked_sub(1).ok_or_else(|| (self.lines, "a brace too many".to_owned()))?;
                }
                Token::Sign(';') if depth == 0 => return Ok(Some((begin, statement))),
                _ => {}
            }
            statement.push(token);
        }
        if statement.is_empty() {
            Ok(None)
        } else {
            Err((self.lines, "the text ends in the middle".to_owned()))
        }
    }

    fn token(&mut self) -> Result<Option<Token>, Wrong> {
        loop {
            let Some(c) = self.next() else { return Ok(None) };
            match c {
                c if c.is_whitespace() => {}
                '/' if self.characters.peek() == Some(&'*') => self.pass_comment(),
                '"' => return self.text().map(Some),
                c if is_letter(c) || c == '-' => {
                    let mut word = String::from(c);
                    while let Some(c) = self.characters.next_if(|c| is_letter(*c)) {
                        word.push(c);
                    }
                    return Ok(Some(Token::Word(word)));
                }
                c => return Ok(Some(Token::Sign(c))),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.characters.next();
        self.lines += usize::from(c == Some('\n'));
        c
    }

    fn pass_comment(&mut self) {
        let mut before = ' ';
        self.next();
        while let Some(c) = self.next() {
            if before == '*' && c == '/' {
                return;
            }
            before = c;
        }
    }

    fn text(&mut self) -> Result<Token, Wrong> {
        let begin = self.lines;
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(Token::Text(text)),
                Some('\\') => text.extend(self.next()),
                Some(c) => text.push(c),
                None => return Err((begin, "a text has no end".to_owned())),
            }
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}
