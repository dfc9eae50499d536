//! The part of a condition that fails, as `make menuconfig` would show it: `NAME [=value]`.

use super::error::{plain, quoted};
use super::expression::{Expression, Operand, Relation};
use super::value::{Bounds, Tristate, Values};

/// Most parts of a condition that are shown.
const PARTS_MAX: usize = 6;

/// Most characters of a condition that are shown.
const LENGTH_MAX: usize = 400;

impl Values<'_> {
    /// Those of several conditions that keep their conjunction below `level`, joined; nothing if none does.
    pub(super) fn unmet(&self, conditions: &[&Expression], level: Tristate) -> Option<String> {
        let mut parts = Vec::new();
        for condition in conditions {
            self.collect(condition, false, level, &mut parts);
        }
        joined(parts, " && ")
    }

    /// Those of several conditions that hold only if some command says so.
    pub(super) fn uncertain(&self, conditions: &[&Expression], level: Tristate) -> Option<String> {
        let is_open = |condition: &&&Expression| {
            let bounds = self.of(condition);
            bounds.low < level && level <= bounds.high
        };
        let mut written = Vec::new();
        conditions.iter().filter(is_open).for_each(|condition| commands(condition, &mut written));
        joined(written, " && ")
    }

    /// What fails in an expression, or in its negation, as parts that must all hold.
    fn collect(&self, expression: &Expression, is_negated: bool, level: Tristate, parts: &mut Vec<String>) {
        match (expression, is_negated) {
            (Expression::Not(inner), _) => self.collect(inner, !is_negated, level, parts),
            (Expression::All(inner), false) | (Expression::Any(inner), true) => {
                inner.iter().for_each(|part| self.collect(part, is_negated, level, parts));
            }
            _ if self.value(expression, is_negated).high >= level => {}
            (Expression::Any(_), false) | (Expression::All(_), true) => {
                let mut alternatives = Vec::new();
                self.collect_alternatives(expression, is_negated, level, &mut alternatives);
                parts.extend(joined(alternatives, " || ").map(|text| format!("({text})")));
            }
            (Expression::Operand(operand), _) => {
                parts.push(format!("{}{}", if is_negated { "!" } else { "" }, self.operand(operand)));
            }
            (Expression::Compare(left, relation, right), _) => {
                let relation: Relation = if is_negated { relation.opposite() } else { *relation };
                let (left, right) = (self.operand(left), self.operand(right));
                parts.push(format!("{left} {} {right}", relation.sign()));
            }
        }
    }

    /// What fails in an expression, or in its negation, as parts of which one would be enough.
    fn collect_alternatives(
        &self,
        expression: &Expression,
        is_negated: bool,
        level: Tristate,
        alternatives: &mut Vec<String>,
    ) {
        match (expression, is_negated) {
            (Expression::Not(inner), _) => {
                self.collect_alternatives(inner, !is_negated, level, alternatives);
            }
            (Expression::Any(inner), false) | (Expression::All(inner), true) => {
                inner
                    .iter()
                    .for_each(|part| self.collect_alternatives(part, is_negated, level, alternatives));
            }
            _ => {
                let mut needed = Vec::new();
                self.collect(expression, is_negated, level, &mut needed);
                alternatives.extend(joined(needed, " && "));
            }
        }
    }

    fn value(&self, expression: &Expression, is_negated: bool) -> Bounds {
        let value = self.of(expression);
        if is_negated { value.not() } else { value }
    }

    /// An operand with the value that it has.
    pub(super) fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Constant(text) => quoted(text),
            Operand::Unknown(written) => plain(written),
            // A number is an undefined symbol to Kconfig, and nothing else to anybody.
            Operand::Symbol(name) if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                plain(name)
            }
            Operand::Symbol(name) if Tristate::parse(name).is_some() => self.constant(name),
            Operand::Symbol(name) => self.symbol(name),
        }
    }

    /// `m` asks for modules as well, and where there are none it is they who fail.
    fn constant(&self, name: &str) -> String {
        match self.symbols.modules() {
            Some(modules) if name == "m" && !self.has_modules() => self.symbol(modules),
            _ => plain(name),
        }
    }

    /// A symbol with the value that it has.
    pub(super) fn symbol(&self, name: &str) -> String {
        if self.symbols.kind(name).is_none() {
            return format!("{} [undefined]", plain(name));
        }
        format!("{} [={}]", plain(name), plain(self.text(name)))
    }
}

/// What an expression would run, as it was written.
fn commands(expression: &Expression, written: &mut Vec<String>) {
    let mut note = |operand: &Operand| {
        if let Operand::Unknown(text) = operand {
            written.push(plain(text));
        }
    };
    match expression {
        Expression::Operand(operand) => note(operand),
        Expression::Compare(left, _, right) => [left, right].into_iter().for_each(note),
        Expression::Not(inner) => commands(inner, written),
        Expression::All(parts) | Expression::Any(parts) => {
            parts.iter().for_each(|part| commands(part, written));
        }
    }
}

/// The parts without repetitions, and without more than anybody reads; nothing if there are none.
pub(super) fn joined(parts: Vec<String>, between: &str) -> Option<String> {
    let mut shown: Vec<String> = Vec::new();
    for part in parts {
        if !shown.contains(&part) {
            shown.push(part);
        }
        if shown.len() > PARTS_MAX {
            shown.pop();
            shown.push("…".to_owned());
            break;
        }
    }
    let mut text = shown.join(between);
    if let Some((at, _)) = text.char_indices().nth(LENGTH_MAX) {
        text.truncate(at);
        text.push('…');
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
