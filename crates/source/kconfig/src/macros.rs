//! The macro language of Kconfig: variables and functions that are replaced by text.
//!
//! See the kernel's Documentation/kbuild/kconfig-macro-language.rst. Nothing is run: the result of `$(shell,...)`
//! and of all that is built on it is unknown, and says so.

use std::collections::{BTreeMap, HashMap};

/// What make would have in its environment, such as `SRCARCH`, by name.
pub type Variables = BTreeMap<String, String>;

/// Deepest nesting of macros in macros.
const DEPTH_MAX: usize = 64;

/// Most arguments of a function; Kconfig's own limit.
const ARGUMENTS_MAX: usize = 16;

/// Most bytes that all expansions of a tree may read and write together. Linux 6.12 needs 0.1 MB.
const WORK_MAX: usize = 8 << 20;

/// What became of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expansion {
    pub(super) text: String,
    /// A part of it would come from a command.
    pub(super) is_unknown: bool,
}

/// Why a text cannot be expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Syntax(&'static str),
    TooMuch(&'static str, usize),
}

/// How a variable is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assign {
    /// `=`, expanded when it is used.
    Recursive,
    /// `:=`, expanded at once.
    Simple,
    /// `+=`
    Append,
}

#[derive(Debug)]
struct Macro {
    value: Expansion,
    is_simple: bool,
    /// How often it is being expanded just now.
    active: usize,
}

/// All variables and functions known so far.
#[derive(Debug)]
pub(super) struct Macros<'a> {
    environment: &'a Variables,
    macros: HashMap<String, Macro>,
    work: usize,
}

impl<'a> Macros<'a> {
    pub(super) fn new(environment: &'a Variables) -> Self {
        Self { environment, macros: HashMap::new(), work: 0 }
    }

    /// Takes an assignment.
    pub(super) fn assign(&mut self, name: &str, how: Assign, text: &str) -> Result<(), Failure> {
        let earlier = self.macros.get(name);
        let is_simple = match how {
            Assign::Append => earlier.is_some_and(|earlier| earlier.is_simple),
            Assign::Simple => true,
            Assign::Recursive => false,
        };
        let mut value = if is_simple {
            self.expand(text)?
        } else {
            Expansion { text: text.to_owned(), is_unknown: false }
        };
        if let (Assign::Append, Some(earlier)) = (how, self.macros.get(name)) {
            self.work += earlier.value.text.len();
            value.text = format!("{} {}", earlier.value.text, value.text);
            value.is_unknown |= earlier.value.is_unknown;
        }
        self.charge(value.text.len())?;
        self.macros.insert(name.to_owned(), Macro { value, is_simple, active: 0 });
        Ok(())
    }

    /// Expands a whole text.
    pub(super) fn expand(&mut self, text: &str) -> Result<Expansion, Failure> {
        Ok(self.expand_until(text, |_| false)?.0)
    }

    /// Expands up to the first character outside of macros for which `is_end` holds; says where that is.
    pub(super) fn expand_until(
        &mut self,
        text: &str,
        is_end: fn(char) -> bool,
    ) -> Result<(Expansion, usize), Failure> {
        self.run(text, is_end, &[], 0)
    }

    /// Expands the reference that begins with the `$` at the start of `text`; says where it ends.
    pub(super) fn expand_reference(&mut self, text: &str) -> Result<(Expansion, usize), Failure> {
        self.reference(text, &[], 0)
    }

    fn run(
        &mut self,
        text: &str,
        is_end: fn(char) -> bool,
        arguments: &[Expansion],
        depth: usize,
    ) -> Result<(Expansion, usize), Failure> {
        let mut out = Expansion::default();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            if c == '$' {
                let (part, length) = self.reference(&text[at..], arguments, depth)?;
                out.text.push_str(&part.text);
                out.is_unknown |= part.is_unknown;
                at += length;
            } else if is_end(c) {
                break;
            } else {
                out.text.push(c);
                at += c.len_utf8();
            }
        }
        self.charge(at + out.text.len())?;
        Ok((out, at))
    }

    /// `$(...)`, or a lone `$`, which is just a character.
    fn reference(
        &mut self,
        text: &str,
        arguments: &[Expansion],
        depth: usize,
    ) -> Result<(Expansion, usize), Failure> {
        let Some(inner) = text.strip_prefix("$(") else {
            return Ok((Expansion { text: "$".to_owned(), is_unknown: false }, 1));
        };
        let end = closing(inner).ok_or(Failure::Syntax("a macro without its closing parenthesis"))?;
        let value = self.clause(&inner[..end], arguments, depth + 1)?;
        Ok((value, "$(".len() + end + ")".len()))
    }

    /// What stands between the parentheses: a name, and arguments behind commas.
    fn clause(&mut self, clause: &str, arguments: &[Expansion], depth: usize) -> Result<Expansion, Failure> {
        self.charge(clause.len() + 1)?;
        if depth > DEPTH_MAX {
            return Err(Failure::TooMuch("nested macros", DEPTH_MAX));
        }
        if let Some(argument) = clause.parse().ok().and_then(|n: usize| arguments.get(n.checked_sub(1)?)) {
            return Ok(argument.clone());
        }
        let parts = split(clause);
        if parts.len() > ARGUMENTS_MAX {
            return Err(Failure::TooMuch("arguments of a macro", ARGUMENTS_MAX));
        }
        let mut parts = parts.into_iter().map(|part| self.run(part, |_| false, arguments, depth));
        let Some(name) = parts.next() else { return Ok(Expansion::default()) };
        let (name, _) = name?;
        let given = parts.map(|part| Ok(part?.0)).collect::<Result<Vec<_>, _>>()?;
        if name.is_unknown {
            return Ok(name);
        }
        self.call(&name.text, &given, depth)
    }

    fn call(&mut self, name: &str, given: &[Expansion], depth: usize) -> Result<Expansion, Failure> {
        let Some(found) = self.macros.get_mut(name) else { return Ok(self.built_in(name, given)) };
        if found.is_simple {
            return Ok(found.value.clone());
        }
        if given.is_empty() && found.active > 0 {
            return Err(Failure::Syntax("a variable that refers to itself"));
        }
        found.active += 1;
        let body = found.value.text.clone();
        let result = self.run(&body, |_| false, given, depth);
        if let Some(found) = self.macros.get_mut(name) {
            found.active -= 1;
        }
        Ok(result?.0)
    }

    /// Kconfig's own functions. Those that print or stop have done so before, when make ran: they give nothing.
    fn built_in(&self, name: &str, given: &[Expansion]) -> Expansion {
        let is_unknown = matches!(name, "shell" | "filename" | "lineno");
        let is_variable = !is_unknown && given.is_empty();
        let value = self.environment.get(name).filter(|_| is_variable);
        Expansion { text: value.cloned().unwrap_or_default(), is_unknown }
    }

    fn charge(&mut self, work: usize) -> Result<(), Failure> {
        self.work = self.work.saturating_add(work);
        if self.work > WORK_MAX {
            return Err(Failure::TooMuch("bytes of expanded macros", WORK_MAX));
        }
        Ok(())
    }
}

/// Where the parenthesis closes that was opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return Some(at),
            b')' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The parts between the commas that are in no parentheses.
fn split(clause: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut open, mut start) = (0_i64, 0);
    for (at, byte) in clause.bytes().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            b',' if open == 0 => {
                parts.push(&clause[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&clause[start..]);
    parts
}

#[cfg(test)]
mod tests;
