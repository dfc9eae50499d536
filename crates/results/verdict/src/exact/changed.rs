//! The functions whose code is not the same on both Kernels, and what they execute.
//!
//! What a Kernel draws at random makes the same code take another way: a list has one more entry, a cache is empty. So a
//! difference that comes from functions with other code is no chance. A Kernel compared with itself has none.

use std::collections::{BTreeMap, BTreeSet};

use measure::{Detail, Function, Measurement};

/// What changed code executes more or less.
#[derive(Debug)]
pub struct Changed<'a> {
    functions: BTreeSet<&'a str>,
    base: BTreeMap<&'a str, &'a Detail>,
    new: BTreeMap<&'a str, &'a Detail>,
}

impl<'a> Changed<'a> {
    /// Compares the code of all functions that both executed.
    #[must_use]
    pub fn of(base: &'a Measurement, new: &'a Measurement) -> Self {
        let differs = |(name, code): (&'a String, &'a measure::Code)| {
            new.code.get(name).is_some_and(|other| code.differs(other)).then_some(name.as_str())
        };
        let functions = base.code.iter().filter_map(differs).collect();
        Self { functions, base: base.details(), new: new.details() }
    }

    /// How many instructions more the new Kernel executes in an operation in functions with other code that both entered
    /// equally often, and in those that only one of the two entered; nothing if none of the former costs more or less.
    ///
    /// Functions that only one entered are not enough: chance, too, leads to other functions. And a function that is
    /// entered more often costs more whatever its code is.
    #[must_use]
    pub fn instructions(&self, operation: &str) -> Option<i64> {
        let (base, new) = (by_name(self.base.get(operation)?), by_name(self.new.get(operation)?));
        let names: BTreeSet<&str> = base.keys().chain(new.keys()).copied().collect();
        let (mut sum, mut is_found) = (0_i64, false);
        for name in names {
            let change = match (base.get(name), new.get(name)) {
                (Some(before), Some(after)) => {
                    let is_its_own = self.functions.contains(name) && before.calls == after.calls;
                    let change = signed(after).saturating_sub(signed(before));
                    is_found |= is_its_own && change != 0;
                    if is_its_own { change } else { 0 }
                }
                (None, Some(after)) => signed(after),
                (Some(before), None) => -signed(before),
                (None, None) => 0,
            };
            sum = sum.saturating_add(change);
        }
        is_found.then_some(sum)
    }
}

fn by_name(detail: &Detail) -> BTreeMap<&str, &Function> {
    detail.functions.iter().map(|function| (function.name.as_str(), function)).collect()
}

fn signed(function: &Function) -> i64 {
    i64::try_from(function.instructions).unwrap_or(i64::MAX)
}
