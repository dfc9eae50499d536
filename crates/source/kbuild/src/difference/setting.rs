//! The settings that lead from one configuration to another.

use std::collections::HashSet;

use crate::configure::replaced;

/// What a user would have to set to come from one configuration to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What is built: another one where the tree differs.
    pub source: String,
    /// The first configuration, whole.
    pub(super) good: String,
    /// In such an order that each takes effect once those before it are set: what is switched off stands before
    /// what it depends on, everything else behind it.
    pub options: Vec<Setting>,
}

/// One thing that a user would set: an option, or a choice with those of its options that change together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The options, without `CONFIG_`.
    pub names: Vec<String>,
    /// As people read it: `n`, `m`, `"text"`, `0x7b`; of a choice the options that are on, such as `HZ_250=y`;
    /// `unset` for what the configuration has no place for, so that it takes its default where it appears.
    pub good: String,
    /// The same at the other end.
    pub bad: String,
    /// Lines of a `.config` for all of the names.
    pub(super) lines: Vec<String>,
}

impl Difference {
    /// A whole configuration: the first one with these of the [`Self::options`] as in the second, by their
    /// positions; a position that there is none for is passed over.
    ///
    /// With none of them `olddefconfig` makes the first configuration of it, with all of them the second.
    pub fn with(&self, included: &[usize]) -> String {
        let chosen: Vec<&Setting> = included.iter().filter_map(|at| self.options.get(*at)).collect();
        let names: HashSet<&str> = chosen.iter().flat_map(|one| &one.names).map(String::as_str).collect();
        replaced(&self.good, &names, chosen.iter().flat_map(|one| &one.lines).cloned())
    }
}
