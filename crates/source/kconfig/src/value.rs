//! The value of conditions on a given `.config`.
//!
//! What a command would say is not known, so a value is a pair of bounds. The rules are those of the kernel's
//! Documentation/kbuild/kconfig-language.rst, "Menu dependencies".

use std::cmp::Ordering;

use super::expression::{Expression, Operand, Relation};
use super::symbols::{Kind, Symbols};
use crate::config::Config;

/// The three states of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tristate {
    No,
    Module,
    Yes,
}

/// What is known of a value: at least this, at most that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) low: Tristate,
    pub(super) high: Tristate,
}

/// The values of all symbols in one `.config`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) symbols: &'a Symbols,
    pub(super) config: &'a Config,
}

impl Tristate {
    /// `n`, `m` or `y`; anything else is none of them.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "n" => Self::No,
            "m" => Self::Module,
            "y" => Self::Yes,
            _ => return None,
        })
    }

    /// The letter for it.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Self::No => "n",
            Self::Module => "m",
            Self::Yes => "y",
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Module => Self::Module,
            Self::Yes => Self::No,
        }
    }
}

impl Bounds {
    const ANY: Self = Self { low: Tristate::No, high: Tristate::Yes };

    /// A value that is known.
    pub(super) fn exactly(value: Tristate) -> Self {
        Self { low: value, high: value }
    }

    /// The value of the negation.
    pub(super) fn not(self) -> Self {
        Self { low: self.high.opposite(), high: self.low.opposite() }
    }

    /// The value of `&&`.
    pub(super) fn and(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// The value of `||`.
    pub(super) fn or(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }
}

impl Values<'_> {
    /// The value of an expression.
    pub(super) fn of(&self, expression: &Expression) -> Bounds {
        match expression {
            Expression::Operand(operand) => self.of_operand(operand),
            Expression::Compare(left, relation, right) => self.compare(left, *relation, right),
            Expression::Not(inner) => self.of(inner).not(),
            Expression::All(parts) => self.all(parts),
            Expression::Any(parts) => {
                parts.iter().map(|part| self.of(part)).fold(Bounds::exactly(Tristate::No), Bounds::or)
            }
        }
    }

    /// The value of several conditions that must all hold.
    pub(super) fn all<'e>(&self, parts: impl IntoIterator<Item = &'e Expression>) -> Bounds {
        parts.into_iter().map(|part| self.of(part)).fold(Bounds::exactly(Tristate::Yes), Bounds::and)
    }

    /// Whether modules can be had in this configuration.
    pub(super) fn has_modules(&self) -> bool {
        self.symbols.modules().is_some_and(|modules| self.config.value(modules) == Some("y"))
    }

    /// The value of a symbol as an option that is on or off.
    pub(super) fn state(&self, name: &str) -> Tristate {
        match self.symbols.kind(name) {
            Some(Kind::Bool | Kind::Tristate) => {
                self.config.value(name).and_then(Tristate::parse).unwrap_or(Tristate::No)
            }
            _ => Tristate::No,
        }
    }

    /// The value of a symbol as a text; that of an undefined one is its name.
    pub(super) fn text<'t>(&'t self, name: &'t str) -> &'t str {
        match self.symbols.kind(name) {
            Some(Kind::Bool | Kind::Tristate) => self.state(name).letter(),
            Some(_) => self.config.value(name).unwrap_or_default(),
            None => name,
        }
    }

    fn of_operand(&self, operand: &Operand) -> Bounds {
        let name = match operand {
            Operand::Symbol(name) | Operand::Constant(name) => name,
            Operand::Unknown(_) => return Bounds::ANY,
        };
        let value = match (Tristate::parse(name), operand) {
            // A condition that asks for `m` asks for modules as well.
            (Some(Tristate::Module), _) if !self.has_modules() => Tristate::No,
            (Some(value), _) => value,
            (None, Operand::Symbol(name)) => self.state(name),
            (None, _) => Tristate::No,
        };
        Bounds::exactly(value)
    }

    fn compare(&self, left: &Operand, relation: Relation, right: &Operand) -> Bounds {
        let (Some((left, left_kind)), Some((right, right_kind))) = (self.side(left), self.side(right)) else {
            return Bounds::ANY;
        };
        let are_texts = left_kind == Some(Kind::Text) && right_kind == Some(Kind::Text);
        let numbers = number(left, left_kind).zip(number(right, right_kind)).filter(|_| !are_texts);
        let order = numbers.map_or_else(|| left.cmp(right), |(left, right)| left.cmp(&right));
        let holds = match relation {
            Relation::Equal => order == Ordering::Equal,
            Relation::Unequal => order != Ordering::Equal,
            Relation::Less => order == Ordering::Less,
            Relation::LessOrEqual => order != Ordering::Greater,
            Relation::Greater => order == Ordering::Greater,
            Relation::GreaterOrEqual => order != Ordering::Less,
        };
        Bounds::exactly(if holds { Tristate::Yes } else { Tristate::No })
    }

    /// An operand as a text, with its type; nothing if it is unknown.
    pub(super) fn side<'t>(&'t self, operand: &'t Operand) -> Option<(&'t str, Option<Kind>)> {
        match operand {
            Operand::Unknown(_) => None,
            Operand::Symbol(text) | Operand::Constant(text) if Tristate::parse(text).is_some() => {
                Some((text, Some(Kind::Tristate)))
            }
            Operand::Symbol(name) => Some((self.text(name), self.symbols.kind(name))),
            Operand::Constant(text) => Some((text, None)),
        }
    }
}

/// The number that a text stands for where its symbol has this type.
pub(super) fn number(text: &str, kind: Option<Kind>) -> Option<i128> {
    let hexadecimal = || text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, base) = match kind {
        Some(Kind::Bool | Kind::Tristate) => return Tristate::parse(text).map(|value| value as i128),
        Some(Kind::Number) => (text, 10),
        Some(Kind::Hex) => (hexadecimal().unwrap_or(text), 16),
        Some(Kind::Text) | None => hexadecimal().map_or((text, 10), |digits| (digits, 16)),
    };
    // A sign is part of a decimal number only, and a plus of none.
    let is_number = digits.strip_prefix('-').filter(|_| base == 10).unwrap_or(digits);
    let is_plain = is_number.starts_with(|c: char| c.is_ascii_hexdigit());
    i128::from_str_radix(digits, base).ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests;
