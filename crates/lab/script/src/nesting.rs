//! How deep a script may be nested: parser and compiler use the stack of the thread.

use starlark_syntax::codemap::CodeMap;
use starlark_syntax::lexer::{Lexer, Token};

use crate::dialect::dialect;
use crate::problem::Problem;
use crate::source::Source;

/// Words of one expression, and of those around it, that are not kept apart by commas.
const WORDS: usize = 400;

/// Blocks in blocks.
const BLOCKS: usize = 40;

/// Branches of one `if`, since each is a block in the one before.
const ELIFS: usize = 100;

/// What is open at one place.
#[derive(Default)]
struct Nesting {
    /// Words since the last comma or the start of the line, of each open bracket.
    words: Vec<usize>,
    /// Words in all open brackets.
    sum: usize,
    blocks: usize,
    elifs: usize,
}

/// Checks that a file is not nested deeper than the stack allows.
///
/// # Errors
///
/// With the place where it is.
pub(crate) fn check(source: &Source) -> Result<(), Problem> {
    let codemap = CodeMap::new(source.name.clone(), source.text.clone());
    let mut nesting = Nesting { words: vec![0], ..Nesting::default() };
    for lexeme in Lexer::new(&source.text, &dialect(), codemap.clone()) {
        // The parser says what is wrong.
        let Ok((start, token, _)) = lexeme else { return Ok(()) };
        nesting.meet(&token);
        if let Some(what) = nesting.excess() {
            return Err(Problem::at(source, start, format!("{what} here")).help("give parts of it a name"));
        }
    }
    Ok(())
}

impl Nesting {
    fn meet(&mut self, token: &Token) {
        match token {
            Token::OpeningRound | Token::OpeningSquare | Token::OpeningCurly => {
                self.word();
                self.words.push(0);
            }
            Token::ClosingRound | Token::ClosingSquare | Token::ClosingCurly => self.close(),
            Token::Comma => self.forget(),
            Token::Newline => {
                self.forget();
            }
            Token::Indent => self.blocks += 1,
            Token::Dedent => self.blocks = self.blocks.saturating_sub(1),
            Token::Elif => self.elifs += 1,
            Token::If if self.words.len() == 1 && self.sum == 0 => self.elifs = 0,
            Token::Comment(_) => {}
            _ => self.word(),
        }
    }

    fn excess(&self) -> Option<&'static str> {
        if self.sum > WORDS {
            Some("this expression is too long")
        } else if self.blocks > BLOCKS {
            Some("too many blocks are in each other")
        } else if self.elifs > ELIFS {
            Some("too many branches of one if")
        } else {
            None
        }
    }

    fn word(&mut self) {
        self.sum += 1;
        if let Some(words) = self.words.last_mut() {
            *words += 1;
        }
    }

    /// Another item of a list begins.
    fn forget(&mut self) {
        if let Some(words) = self.words.last_mut() {
            self.sum -= *words;
            *words = 0;
        }
    }

    fn close(&mut self) {
        self.forget();
        if self.words.len() > 1 {
            self.words.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        check(&Source::new("a.star", text)).err().map(|problem| problem.text)
    }

    #[test]
    fn deep_scripts_are_refused_and_long_ones_are_not() {
        assert_eq!(said(&format!("x = [{}]", "1, ".repeat(10_000))), None);
        assert_eq!(said(&"x = 1\n".repeat(10_000)), None);
        assert_eq!(said(&format!("x = [\n{}]", "  f(1) + 2,\n".repeat(1000))), None);
        let long = Some("this expression is too long here".to_owned());
        assert_eq!(said(&format!("x = {}{}", "[".repeat(1000), "]".repeat(1000))), long);
        assert_eq!(said(&format!("x = 1{}", " + 1".repeat(1000))), long);
        assert_eq!(said(&format!("x = f(\n1{})", "\n + 1".repeat(1000))), long);
        assert_eq!(said(&format!("x = {}1", "f(1, ".repeat(1000))), long);
        let blocks: String = (0..60).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
        assert_eq!(said(&blocks), Some("too many blocks are in each other here".to_owned()));
        let elifs = format!("if x:\n  pass\n{}", "elif x:\n  pass\n".repeat(200));
        assert_eq!(said(&elifs), Some("too many branches of one if here".to_owned()));
        let ifs = "if x:\n  pass\nelif y:\n  pass\n".repeat(200);
        assert_eq!(said(&ifs), None);
    }
}
