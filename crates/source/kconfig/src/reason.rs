//! Why an option is not what a fragment wants it to be.

use std::fmt;

use super::explain::joined;
use super::expression::{Expression, Operand};
use super::fragment::{Assignment, Wanted};
use super::nearest::nearest;
use super::symbols::{Definition, Kind, Selector, Symbols};
use super::value::{Tristate, Values, number};
use crate::config::Config;

/// Most places of one option that are reported.
const PLACES_MAX: usize = 3;

/// An assignment that the configuration does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// What was asked for, and where.
    pub assignment: Assignment,
    /// What came out: `y`, `m` or a text; nothing if the option is not set.
    pub got: Option<String>,
    /// Why, in one line.
    pub reason: String,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.assignment, self.reason)
    }
}

/// Compares what fragments ask for with the configuration that Kconfig made of it, in the order of `asked`.
///
/// `m` that became `y` counts as had.
pub fn unmet(symbols: &Symbols, asked: &[Assignment], got: &Config) -> Vec<Unmet> {
    let values = Values { symbols, config: got };
    let question = |assignment| Question { values, assignment };
    asked
        .iter()
        .map(question)
        .filter(|question| !question.is_met())
        .map(|question| question.answer())
        .collect()
}

/// One assignment that did not come out.
#[derive(Debug, Clone, Copy)]
struct Question<'a> {
    values: Values<'a>,
    assignment: &'a Assignment,
}

impl<'a> Question<'a> {
    fn is_met(&self) -> bool {
        let got = self.values.config.value(&self.assignment.name);
        match &self.assignment.wanted {
            Wanted::No => got.is_none_or(str::is_empty),
            Wanted::Module => matches!(got, Some("m" | "y")),
            Wanted::Yes => got == Some("y"),
            Wanted::Text(text) => got == Some(text),
            Wanted::Number(text) => {
                let kind = self.kind();
                let same =
                    |got| got == text || number(got, kind).is_some_and(|n| number(text, kind) == Some(n));
                got.is_some_and(same)
            }
        }
    }

    fn answer(&self) -> Unmet {
        let reason = self.reason().unwrap_or_else(|| {
            "Kconfig does not object: something else changed the configuration".to_owned()
        });
        let got = self.values.config.value(&self.assignment.name).map(str::to_owned);
        Unmet { assignment: self.assignment.clone(), got, reason }
    }

    fn reason(&self) -> Option<String> {
        self.unknown_name()
            .or_else(|| self.wrong_type())
            .or_else(|| self.without_prompt())
            .or_else(|| self.selected())
            .or_else(|| self.hidden())
            .or_else(|| self.taken_choice())
            .or_else(|| self.out_of_range())
            .or_else(|| self.uncertain())
    }

    fn name(&self) -> &'a str {
        &self.assignment.name
    }

    fn definitions(&self) -> &'a [Definition] {
        self.values.symbols.definitions(self.name())
    }

    fn kind(&self) -> Option<Kind> {
        self.values.symbols.kind(self.name())
    }

    /// How far conditions must hold for the wanted value. What has no modules becomes `y` where it could be `m`.
    fn level(&self) -> Tristate {
        let is_full = self.assignment.wanted == Wanted::Yes
            && self.kind() == Some(Kind::Tristate)
            && self.values.has_modules();
        if is_full { Tristate::Yes } else { Tristate::Module }
    }

    fn unknown_name(&self) -> Option<String> {
        if !self.definitions().is_empty() {
            return None;
        }
        let symbols = self.values.symbols;
        let meant = nearest(self.name(), symbols.names());
        let meant = meant.map(|name| format!("; did you mean CONFIG_{name}?")).unwrap_or_default();
        Some(format!("no option of that name for {} in this tree{meant}", symbols.arch()))
    }

    fn wrong_type(&self) -> Option<String> {
        let wanted = &self.assignment.wanted;
        let expects = match (self.kind()?, wanted) {
            (Kind::Bool, Wanted::Module) => "y or n, since it cannot be a module",
            (Kind::Bool, Wanted::Text(_) | Wanted::Number(_)) => "y or n, without quotes",
            (Kind::Tristate, Wanted::Text(_) | Wanted::Number(_)) => "y, m or n, without quotes",
            (Kind::Text, Wanted::Text(_)) => return None,
            (Kind::Text, _) => "a text in quotes",
            (Kind::Number, Wanted::Number(text)) if is_decimal(text) => return None,
            (Kind::Number, _) => "a decimal number without leading zeros or quotes",
            (Kind::Hex, Wanted::Number(text)) if !text.starts_with('-') => return None,
            (Kind::Hex, _) => "a number such as 0x7b, without quotes",
            (Kind::Bool | Kind::Tristate, _) => return None,
        };
        Some(format!("expects {expects}{}", at(self.definitions().first()?)))
    }

    fn without_prompt(&self) -> Option<String> {
        let definitions = self.definitions();
        if definitions.iter().any(|definition| !definition.prompts.is_empty()) {
            return None;
        }
        let causes = match self.assignment.wanted {
            Wanted::Yes | Wanted::Module => [self.possible_selectors(), self.defaults_needs()],
            Wanted::No => [self.active_selectors(), None],
            Wanted::Text(_) | Wanted::Number(_) => [None, None],
        };
        let causes = joined(causes.into_iter().flatten().collect(), "; ");
        let causes = causes.unwrap_or_else(|| match self.assignment.wanted {
            Wanted::Yes | Wanted::Module => "nothing selects it".to_owned(),
            _ => "its value is its default".to_owned(),
        });
        Some(format!("has no prompt, so it cannot be set: {causes}{}", at(definitions.first()?)))
    }

    fn possible_selectors(&self) -> Option<String> {
        self.selectors(|_| true)
    }

    fn active_selectors(&self) -> Option<String> {
        self.selectors(|selector| self.is_active(selector))
    }

    fn selectors(&self, is_of_interest: impl Fn(&Selector<'_>) -> bool) -> Option<String> {
        let selectors = self.values.symbols.selectors(self.name()).filter(is_of_interest);
        let names = joined(selectors.map(|selector| self.values.symbol(selector.name)).collect(), ", ")?;
        Some(format!("selected by {names}"))
    }

    fn is_active(&self, selector: &Selector<'_>) -> bool {
        let depends = self.values.symbols.depends(selector.definition);
        let conditions = self.values.all(depends.into_iter().chain(selector.condition));
        self.values.state(selector.name) > Tristate::No && conditions.high > Tristate::No
    }

    /// What the defaults of an option without a prompt are waiting for.
    fn defaults_needs(&self) -> Option<String> {
        let mut needs = Vec::new();
        for definition in self.definitions() {
            for (value, condition) in &definition.defaults {
                let mut conditions = self.values.symbols.depends(definition);
                conditions.extend(condition);
                conditions.push(value);
                needs.extend(self.needs(&conditions));
            }
        }
        Some(format!("its default needs {}", joined(needs, ", or ")?))
    }

    /// What of some conditions fails for sure, or else what some command did not grant.
    fn needs(&self, conditions: &[&Expression]) -> Option<String> {
        let level = self.level();
        self.values.unmet(conditions, level).or_else(|| self.values.uncertain(conditions, level))
    }

    /// A lower value is wanted than some `select` allows.
    fn selected(&self) -> Option<String> {
        let is_lower = self.assignment.wanted == Wanted::No;
        if is_lower { self.active_selectors() } else { None }
    }

    /// No prompt can be seen, or not far enough for the wanted value.
    fn hidden(&self) -> Option<String> {
        let level = self.level();
        let mut places = Vec::new();
        for definition in self.definitions() {
            let depends = self.values.symbols.depends(definition);
            let at = at(definition);
            if let Some(unmet) = self.values.unmet(&depends, level) {
                places.extend(definition.prompts.first().map(|_| format!("depends on {unmet}{at}")));
                continue;
            }
            for prompt in &definition.prompts {
                let mut visible = self.values.symbols.visible(definition);
                visible.extend(prompt);
                let unmet = self.values.unmet(&visible, level)?;
                places.push(format!("prompt needs {unmet}{at}"));
            }
        }
        places.truncate(PLACES_MAX);
        let default = if self.assignment.wanted == Wanted::No { ", and its default is on" } else { "" };
        joined(places, "; or ").map(|places| places + default)
    }

    fn taken_choice(&self) -> Option<String> {
        let mut rivals = self.values.symbols.rivals(self.name()).peekable();
        rivals.peek()?;
        if self.assignment.wanted == Wanted::No {
            return Some("its choice must take one option, and none of the others was asked for".to_owned());
        }
        let taken = rivals.find(|rival| self.values.state(rival) == Tristate::Yes)?;
        Some(format!("its choice took {}{}", super::error::plain(taken), at(self.definitions().first()?)))
    }

    fn out_of_range(&self) -> Option<String> {
        let Wanted::Number(wanted) = &self.assignment.wanted else { return None };
        let wanted = number(wanted, self.kind())?;
        for definition in self.definitions() {
            for (low, high, condition) in &definition.ranges {
                let depends = self.values.symbols.depends(definition);
                if self.values.all(depends.into_iter().chain(condition)).high == Tristate::No {
                    continue;
                }
                // Only the first range that applies counts.
                let (least, most) = (self.bound(low)?, self.bound(high)?);
                let (low, high) = (self.values.operand(low), self.values.operand(high));
                let is_outside = wanted < least || wanted > most;
                return is_outside.then(|| format!("outside of {low}..{high}{}", at(definition)));
            }
        }
        None
    }

    fn bound(&self, operand: &Operand) -> Option<i128> {
        let (text, kind) = self.values.side(operand)?;
        number(text, kind.or(self.kind()))
    }

    /// All that is known holds, so it must be one of the conditions that a command decides.
    fn uncertain(&self) -> Option<String> {
        let level = self.level();
        let commands = self.definitions().iter().filter_map(|definition| {
            let mut conditions = self.values.symbols.depends(definition);
            conditions.extend(self.values.symbols.visible(definition));
            conditions.extend(definition.prompts.iter().flatten());
            let commands = self.values.uncertain(&conditions, level)?;
            Some(format!(
                "depends on {commands}, which the tools of this build do not provide{}",
                at(definition)
            ))
        });
        joined(commands.take(PLACES_MAX).collect(), "; or ")
    }
}

/// Where a definition is, to stand at the end of a line.
fn at(definition: &Definition) -> String {
    format!(" ({})", definition.place)
}

/// What Kconfig takes for a number that is not hexadecimal.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits == "0" || !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
