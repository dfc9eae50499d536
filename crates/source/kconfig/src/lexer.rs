//! A Kconfig file as statements of tokens. Macros are expanded on the way, as in Kconfig's own lexer.

use super::macros::{Assign, Failure, Macros};

/// Most tokens of one statement.
const TOKENS_MAX: usize = 20_000;

/// Columns from one tab stop to the next, which count for help texts.
const TAB: usize = 8;

/// The smallest part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Keyword, symbol or number.
    Word(String),
    /// A text that stood in quotes.
    Quoted(String),
    /// A word or text of which a part would come from a command; as it was written.
    Unknown(String),
    /// An operator or a parenthesis.
    Sign(&'static str),
}

/// One statement, or one line of a statement that has several.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Where it begins, counted from one.
    pub(super) line: usize,
    pub(super) what: What,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// At least one.
    Tokens(Vec<Token>),
    Assignment(String, Assign, String),
    /// The path, and whether a part of it is unknown.
    Source(String, bool),
}

/// Longer ones first, since the first that fits is taken.
const SIGNS: [&str; 11] = ["||", "&&", "!=", "<=", ">=", "=", "<", ">", "!", "(", ")"];

/// The operators behind the first word of a line that make it an assignment.
const ASSIGNMENTS: [(&str, Assign); 3] =
    [(":=", Assign::Simple), ("+=", Assign::Append), ("=", Assign::Recursive)];

/// Reads one file.
#[derive(Debug)]
pub(super) struct Lexer {
    text: String,
    at: usize,
    line: usize,
}

impl Lexer {
    pub(super) fn new(text: String) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// Where the lexer is, counted from one.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The next statement, or nothing at the end of the file.
    pub(super) fn next(&mut self, macros: &mut Macros<'_>) -> Result<Option<Statement>, Failure> {
        let mut tokens = Vec::new();
        let mut first = self.line;
        loop {
            self.skip_blanks();
            if self.rest().is_empty() || self.rest().starts_with('\n') {
                let is_end = self.rest().is_empty();
                self.skip_line();
                if !tokens.is_empty() {
                    return Ok(Some(Statement { line: first, what: What::Tokens(tokens) }));
                } else if is_end {
                    return Ok(None);
                }
                continue;
            }
            if tokens.is_empty() {
                first = self.line;
            }
            if let [Token::Word(word)] = tokens.as_slice()
                && let Some(what) = self.special(word, macros)?
            {
                self.skip_line();
                return Ok(Some(Statement { line: first, what }));
            }
            tokens.extend(self.token(macros)?);
            if tokens.len() > TOKENS_MAX {
                return Err(Failure::TooMuch("tokens in a statement", TOKENS_MAX));
            }
        }
    }

    /// Passes over a help text, which ends where the indentation becomes less than that of its first line.
    pub(super) fn skip_help(&mut self) {
        let mut indentation = 0;
        loop {
            let line = self.rest().split('\n').next().unwrap_or_default();
            let text = line.trim_start_matches([' ', '\t']);
            if !text.is_empty() {
                let columns = columns(&line[..line.len() - text.len()]);
                if columns < indentation {
                    return;
                }
                indentation = if indentation == 0 { columns } else { indentation };
            }
            self.skip_line();
            if !self.rest().starts_with([' ', '\t', '\n']) {
                return;
            }
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// To the begin of the next line.
    fn skip_line(&mut self) {
        match self.rest().find('\n') {
            Some(length) => {
                self.at += length + 1;
                self.line += 1;
            }
            None => self.at = self.text.len(),
        }
    }

    /// What separates tokens: blanks, escaped ends of lines, comments, and what Kconfig ignores with a warning.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { return };
            if c == ' ' || c == '\t' {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.skip_line();
            } else if c == '#' {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if is_word(c) || "$\"'\n".contains(c) || starts_sign(rest) {
                return;
            } else {
                self.at += c.len_utf8();
            }
        }
    }

    fn token(&mut self, macros: &mut Macros<'_>) -> Result<Option<Token>, Failure> {
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| "\"'".contains(*c)) {
            return self.quoted(quote, macros).map(Some);
        }
        if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            self.at += sign.len();
            return Ok(Some(Token::Sign(sign)));
        }
        if rest.starts_with([':', '+']) {
            return Err(Failure::Syntax("an assignment in the middle of a statement"));
        }
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if !rest[length..].starts_with('$') {
            let word = rest[..length].to_owned();
            self.at += length;
            return Ok(Some(Token::Word(word)));
        }
        let line = rest.split('\n').next().unwrap_or_default();
        let (found, length) = macros.expand_until(line, |c| !is_word(c))?;
        let written = line[..length].to_owned();
        self.at += length;
        if found.is_unknown {
            return Ok(Some(Token::Unknown(written)));
        }
        Ok((!found.text.is_empty()).then_some(Token::Word(found.text)))
    }

    /// A text up to its closing quote or the end of the line.
    fn quoted(&mut self, quote: char, macros: &mut Macros<'_>) -> Result<Token, Failure> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut is_unknown = false;
        while let Some(c) = self.rest().chars().next().filter(|c| *c != '\n') {
            if c == '$' {
                let line = self.rest().split('\n').next().unwrap_or_default();
                let (part, length) = macros.expand_reference(line)?;
                text.push_str(&part.text);
                is_unknown |= part.is_unknown;
                self.at += length;
                continue;
            }
            self.at += c.len_utf8();
            if c == quote {
                break;
            }
            match (c, self.rest().chars().next().filter(|next| *next != '\n')) {
                ('\\', Some(next)) => {
                    text.push(next);
                    self.at += next.len_utf8();
                }
                ('\\', None) => {}
                _ => text.push(c),
            }
        }
        Ok(if is_unknown {
            Token::Unknown(self.text[start..self.at].to_owned())
        } else {
            Token::Quoted(text)
        })
    }

    /// An assignment or a path, which are not made of tokens; `word` is what the line began with.
    fn special(&mut self, word: &str, macros: &mut Macros<'_>) -> Result<Option<What>, Failure> {
        let rest = self.rest();
        if let Some((sign, how)) = ASSIGNMENTS.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
            let value = rest[sign.len()..].split('\n').next().unwrap_or_default();
            let value = value.trim_start_matches([' ', '\t']).to_owned();
            return Ok(Some(What::Assignment(word.to_owned(), how, value)));
        }
        // Before 4.18 the path needed no quotes.
        if word == "source" && !rest.starts_with(['"', '\'']) {
            let path = rest.split('\n').next().unwrap_or_default().trim_end();
            let found = macros.expand(path)?;
            return Ok(Some(What::Source(found.text, found.is_unknown)));
        }
        if word == "source" {
            return Ok(Some(match self.token(macros)? {
                Some(Token::Quoted(path)) => What::Source(path, false),
                _ => What::Source(String::new(), true),
            }));
        }
        Ok(None)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn starts_sign(text: &str) -> bool {
    SIGNS.iter().chain(&[":=", "+="]).any(|sign| text.starts_with(sign))
}

fn columns(blanks: &str) -> usize {
    blanks.chars().fold(0, |column, c| if c == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
}

#[cfg(test)]
mod tests;
