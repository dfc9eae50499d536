//! Two whole configurations side by side.

use std::collections::{BTreeMap, BTreeSet};

use super::setting::{Difference, Setting};
use crate::configure::option_of;
use kconfig::{Symbols, is_settable};
use kernel::Config;

/// Two configurations as Kconfig gave them, and what it says of their options.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    symbols: &'a Symbols,
    good: End<'a>,
    bad: End<'a>,
    /// Options that a user sets with one answer: one each, or all of a choice.
    questions: Vec<Vec<&'a str>>,
}

#[derive(Debug)]
struct End<'a> {
    text: &'a str,
    config: Config,
    /// The lines by their options; Kconfig writes none for what has no place in a configuration.
    lines: BTreeMap<&'a str, &'a str>,
}

impl<'a> End<'a> {
    fn new(text: &'a str) -> Self {
        let lines = text.lines().filter_map(|line| Some((option_of(line)?, line))).collect();
        Self { text, config: Config::parse(text), lines }
    }

    /// The value as it is written, `n` for what is off.
    fn value(&self, name: &str) -> Option<&'a str> {
        self.lines.get(name).map(|line| line.split_once('=').map_or("n", |(_, value)| value))
    }

    fn switch(&self, name: &str) -> &'a str {
        self.value(name).unwrap_or("n")
    }
}

impl<'a> Comparison<'a> {
    pub(super) fn new(symbols: &'a Symbols, [good, bad]: &'a [String; 2]) -> Self {
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut questions: Vec<Vec<&str>> = Vec::new();
        for name in symbols.in_order().into_iter().filter(|name| symbols.has_prompt(name)) {
            let next = questions.len();
            let place = symbols.choice_of(name).map_or(next, |choice| *places.entry(choice).or_insert(next));
            match questions.get_mut(place) {
                Some(choice) => choice.push(name),
                None => questions.push(vec![name]),
            }
        }
        Self { symbols, good: End::new(good), bad: End::new(bad), questions }
    }

    /// Whether something is set in the second configuration that has no place in the first.
    pub(super) fn has_unset(&self) -> bool {
        self.questions.iter().any(|question| {
            self.answer(question, &self.good).is_none() && self.answer(question, &self.bad).is_some()
        })
    }

    /// The settings. `given` is what Kconfig made of all settings that both ends have; without it these are all.
    pub(super) fn difference(&self, given: Option<&str>) -> Difference {
        let given = given.map(End::new);
        let differs = |question: &&Vec<&str>| {
            let answer = |end| self.answer(question, end);
            let Some(bad) = answer(&self.bad) else {
                // Whatever it is has no effect at that end.
                return false;
            };
            let before = answer(&self.good);
            let before = before.or_else(|| given.as_ref().map_or(Some(bad.clone()), answer));
            before.as_ref() != Some(&bad) && self.is_settable(question)
        };
        let (falling, rising): (Vec<_>, Vec<_>) =
            self.questions.iter().filter(differs).partition(|question| self.falls(question));
        let ordered = falling.into_iter().rev().chain(rising);
        let options = ordered.map(|question| self.setting(question)).collect();
        Difference { source: String::new(), good: self.base(), options }
    }

    /// What an end says; nothing where it has no place for the question.
    fn answer(&self, question: &[&str], end: &End<'_>) -> Option<String> {
        match question {
            [name] if self.is_plain_switch(name) => Some(end.switch(name).to_owned()),
            [name] if !self.symbols.is_switch(name) => end.value(name).map(str::to_owned),
            choice => {
                let on = choice.iter().filter(|name| end.switch(name) != "n");
                let on: Vec<String> = on.map(|name| format!("{name}={}", end.switch(name))).collect();
                (!on.is_empty()).then(|| on.join(" "))
            }
        }
    }

    fn is_plain_switch(&self, name: &str) -> bool {
        self.symbols.is_switch(name) && self.symbols.choice_of(name).is_none()
    }

    fn is_settable(&self, question: &[&str]) -> bool {
        self.is_settable_in(question, &self.good) || self.is_settable_in(question, &self.bad)
    }

    fn is_settable_in(&self, question: &[&str], end: &End<'_>) -> bool {
        question.iter().any(|name| is_settable(self.symbols, &end.config, name))
    }

    /// Whether it has to be set before what it depends on: that takes away the question, or the answer is less.
    fn falls(&self, question: &[&str]) -> bool {
        match [&self.good, &self.bad].map(|end| self.is_settable_in(question, end)) {
            [true, false] => true,
            [false, true] => false,
            _ => {
                let rank = |end| {
                    let answer = self.answer(question, end);
                    ["n", "m", "y"].iter().position(|value| answer.as_deref() == Some(value))
                };
                rank(&self.bad) < rank(&self.good)
            }
        }
    }

    fn setting(&self, question: &[&str]) -> Setting {
        let changed = question.iter().filter(|name| self.good.switch(name) != self.bad.switch(name));
        let changed: BTreeSet<&str> = changed.copied().collect();
        let line =
            |name: &&str| self.bad.lines.get(name).map_or_else(|| off(name), |line| (*line).to_owned());
        let shown = |end| self.answer(question, end).unwrap_or_else(|| "unset".to_owned());
        Setting {
            names: changed.iter().map(|name| (*name).to_owned()).collect(),
            good: shown(&self.good),
            bad: shown(&self.bad),
            lines: changed.iter().map(line).collect(),
        }
    }

    /// The first configuration, where nothing that appears on the way is switched on by its default.
    fn base(&self) -> String {
        let appears = |name: &&&str| {
            self.bad.lines.contains_key(**name)
                && !self.good.lines.contains_key(**name)
                && self.is_plain_switch(name)
        };
        let appearing = self.questions.iter().flatten().filter(appears);
        let lines = self.good.text.lines().map(str::to_owned).chain(appearing.map(|name| off(name)));
        lines.flat_map(|line| [line, "\n".to_owned()]).collect()
    }
}

fn off(name: &str) -> String {
    format!("# CONFIG_{name} is not set")
}

#[cfg(test)]
mod tests;
