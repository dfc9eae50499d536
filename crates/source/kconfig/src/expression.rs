//! Conditions: the expressions behind `depends on`, `if`, `default` and the like.

use super::lexer::Token;

/// Deepest nesting of parentheses and negations.
const DEPTH_MAX: usize = 100;

/// What an expression is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    /// A symbol by its name; one that is not defined is a text, such as a number.
    Symbol(String),
    /// A text in quotes.
    Constant(String),
    /// What a command would say; as it was written.
    Unknown(String),
}

/// How two operands are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An expression. `&&` and `||` are flat, so that only parentheses and negations nest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
    Operand(Operand),
    Compare(Operand, Relation, Operand),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Relation {
    fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "=" => Self::Equal,
            "!=" => Self::Unequal,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// The relation that holds exactly where this one does not.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Equal => Self::Unequal,
            Self::Unequal => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// As it is written.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Operand {
    fn of(token: &Token) -> Option<Self> {
        Some(match token {
            Token::Word(word) => Self::Symbol(word.clone()),
            Token::Quoted(text) => Self::Constant(text.clone()),
            Token::Unknown(written) => Self::Unknown(written.clone()),
            Token::Sign(_) => return None,
        })
    }
}

/// The tokens of a statement that are still to be read.
#[derive(Debug)]
pub(super) struct Tokens<'a>(pub(super) &'a [Token]);

impl Tokens<'_> {
    /// Takes the next token if it is this word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        self.take_if(|token| matches!(token, Token::Word(found) if found == word))
    }

    /// The next token as an operand.
    pub(super) fn operand(&mut self) -> Option<Operand> {
        let (first, rest) = self.0.split_first()?;
        let operand = Operand::of(first)?;
        self.0 = rest;
        Some(operand)
    }

    /// An expression, as long as it goes; nothing where there is none, or too deep a one.
    pub(super) fn expression(&mut self) -> Option<Expression> {
        self.any(0)
    }

    /// `if` and an expression; the outer option says whether the statement is sound.
    pub(super) fn condition(&mut self) -> Option<Option<Expression>> {
        if self.take_word("if") { Some(Some(self.expression()?)) } else { Some(None) }
    }

    fn any(&mut self, depth: usize) -> Option<Expression> {
        let mut parts = vec![self.all(depth)?];
        while self.take_sign("||") {
            parts.push(self.all(depth)?);
        }
        Some(only(parts).unwrap_or_else(Expression::Any))
    }

    fn all(&mut self, depth: usize) -> Option<Expression> {
        let mut parts = vec![self.unary(depth)?];
        while self.take_sign("&&") {
            parts.push(self.unary(depth)?);
        }
        Some(only(parts).unwrap_or_else(Expression::All))
    }

    fn unary(&mut self, depth: usize) -> Option<Expression> {
        if depth > DEPTH_MAX {
            return None;
        }
        if self.take_sign("!") {
            return Some(Expression::Not(Box::new(self.unary(depth + 1)?)));
        }
        if self.take_sign("(") {
            let inner = self.any(depth + 1)?;
            return self.take_sign(")").then_some(inner);
        }
        let left = self.operand()?;
        let Some((Token::Sign(sign), rest)) = self.0.split_first() else {
            return Some(Expression::Operand(left));
        };
        let Some(relation) = Relation::of(sign) else { return Some(Expression::Operand(left)) };
        self.0 = rest;
        Some(Expression::Compare(left, relation, self.operand()?))
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        self.take_if(|token| matches!(token, Token::Sign(found) if *found == sign))
    }

    fn take_if(&mut self, is: impl Fn(&Token) -> bool) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if is(first) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }
}

/// The one part, or all of them.
fn only(mut parts: Vec<Expression>) -> Result<Expression, Vec<Expression>> {
    match parts.pop() {
        Some(part) if parts.is_empty() => Ok(part),
        Some(part) => {
            parts.push(part);
            Err(parts)
        }
        None => Err(parts),
    }
}

#[cfg(test)]
mod tests;
