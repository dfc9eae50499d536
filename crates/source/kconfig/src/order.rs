//! What must be set before what, so that each step from one configuration to another takes effect.

use std::collections::HashSet;

use super::expression::{Expression, Operand};
use super::symbols::{Definition, Symbols};
use super::value::{Tristate, Values};
use crate::config::Config;

/// Whether a user can set an option in this configuration, as far as that is known.
pub fn is_settable(symbols: &Symbols, config: &Config, name: &str) -> bool {
    let values = Values { symbols, config };
    let is_open = |definition: &Definition, prompt: &Option<Expression>| {
        let around = symbols.depends(definition).into_iter().chain(symbols.visible(definition));
        values.all(around.chain(prompt)).high > Tristate::No
    };
    symbols
        .definitions(name)
        .iter()
        .any(|definition| definition.prompts.iter().any(|prompt| is_open(definition, prompt)))
}

enum Step<'a> {
    Enter(&'a str),
    Leave(&'a str),
}

impl Symbols {
    /// Every option behind those that its prompt, or else its value, depends on, and before those that select it;
    /// otherwise in the order of reading. Where a cycle leaves no such place, an option has any.
    pub fn in_order(&self) -> Vec<&str> {
        let (mut seen, mut order) = (HashSet::new(), Vec::new());
        let mut steps = Vec::new();
        for root in self.names() {
            steps.push(Step::Enter(root));
            // Not by recursion: a strange tree may be as deep as it is large.
            while let Some(step) = steps.pop() {
                match step {
                    Step::Leave(name) => order.push(name),
                    Step::Enter(name) if seen.insert(name) => {
                        steps.push(Step::Leave(name));
                        steps.extend(self.before(name).into_iter().rev().map(Step::Enter));
                    }
                    Step::Enter(_) => {}
                }
            }
        }
        order
    }

    /// The options that come directly before one.
    fn before<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let mut found = Vec::new();
        let has_prompt = self.has_prompt(name);
        for definition in self.definitions(name) {
            let around = self.depends(definition).into_iter().chain(self.visible(definition));
            around.chain(definition.prompts.iter().flatten()).for_each(|one| mentioned(one, &mut found));
            let selected = definition.selects.iter().map(|(target, _)| target.as_str());
            found.extend(selected.filter(|target| self.has_prompt(target)));
            if !has_prompt {
                for (value, condition) in &definition.defaults {
                    std::iter::once(value).chain(condition).for_each(|one| mentioned(one, &mut found));
                }
            }
        }
        if !has_prompt {
            for selector in self.selectors(name) {
                found.push(selector.name);
                selector.condition.into_iter().for_each(|one| mentioned(one, &mut found));
            }
        }
        // Undefined symbols are numbers and texts.
        found.retain(|other| *other != name && !self.definitions(other).is_empty());
        found
    }
}

/// The symbols in an expression, which is never deep.
fn mentioned<'a>(expression: &'a Expression, found: &mut Vec<&'a str>) {
    let mut note = |operand: &'a Operand| {
        if let Operand::Symbol(name) = operand {
            found.push(name);
        }
    };
    match expression {
        Expression::Operand(operand) => note(operand),
        Expression::Compare(left, _, right) => [left, right].into_iter().for_each(note),
        Expression::Not(inner) => mentioned(inner, found),
        Expression::All(parts) | Expression::Any(parts) => {
            parts.iter().for_each(|part| mentioned(part, found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::symbols;

    #[test]
    fn an_option_stands_behind_what_it_depends_on_by_whatever_way() {
        let symbols = symbols(
            "menu \"m\"\n\tdepends on BLOCK\n\tvisible if SEEN\n\
             config FIRST\n\tbool \"f\" if PROMPT\n\tdepends on A || !B && C = \"x\"\nendmenu\n\
             config LAST\n\tbool \"l\"\n\tdepends on HIDDEN\n\
             config HIDDEN\n\tbool\n\tdefault y if D\n\
             config SELECTOR\n\tbool \"s\"\n\tselect HIDDEN if E\n\tselect PULLED\n\
             config PULLED\n\tbool \"p\"\n\
             config A\n\tbool \"a\"\nconfig B\n\tbool \"b\"\nconfig C\n\tstring \"c\"\nconfig D\n\tbool \"d\"\n\
             config E\n\tbool \"e\"\nconfig BLOCK\n\tbool \"k\"\nconfig SEEN\n\tbool \"n\"\nconfig PROMPT\n\tbool \"t\"\n",
        );
        let order = symbols.in_order();
        assert_eq!(
            order,
            "BLOCK A B C SEEN PROMPT FIRST D PULLED SELECTOR E HIDDEN LAST".split(' ').collect::<Vec<_>>()
        );
    }

    #[test]
    fn cycles_and_depth_end() {
        let cycle = symbols(
            "config A\n\tbool \"a\"\n\tdepends on B && A\nconfig B\n\tbool \"b\"\n\tselect A\n\tdepends on A\n",
        );
        assert_eq!(cycle.in_order(), ["B", "A"]);
        let one = |n: usize| format!("config S{n}\n\tbool \"s\"\n\tdepends on S{}\n", n + 1);
        let chain = symbols(&(0..50_000).map(one).collect::<String>());
        assert_eq!((chain.in_order().len(), chain.in_order()[0]), (50_000, "S49999"));
    }

    #[test]
    fn what_can_be_set_is_told_from_what_follows() {
        let symbols = symbols(
            "config A\n\tbool \"a\"\nconfig B\n\tbool \"b\" if A\n\tdefault y\nconfig C\n\tbool\n\tdefault y\n\
             config D\n\tbool \"d\"\n\tdepends on $(shell,x)\nmenu \"m\"\n\tvisible if A\nconfig E\n\tint \"e\"\nendmenu\n",
        );
        let settable = |text: &str| {
            let config = Config::parse(text);
            symbols.names().filter(|name| is_settable(&symbols, &config, name)).collect::<Vec<_>>()
        };
        assert_eq!(settable("CONFIG_A=y\n"), ["A", "B", "D", "E"]);
        assert_eq!(settable(""), ["A", "D"]);
    }
}
