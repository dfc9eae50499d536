//! The order in which modules load.
//!
//! A depth-first walk with its own stack, so that a tree made to be deep cannot exhaust the thread's. Hard
//! dependencies come first, then soft ones, then the module. A soft dependency that itself needs a module
//! which waits for it (crypto_algapi wants cryptomgr, which needs crypto_algapi) is loaded afterwards.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::modules::index::{Entry, Found, Index};

/// The modules to load for these names, what is needed before what needs it.
pub(crate) fn order<'a>(index: &'a Index, names: &[&str]) -> Result<Vec<(&'a str, &'a Entry)>, Error> {
    let mut walk =
        Walk { index, order: Vec::new(), seen: BTreeSet::new(), open: BTreeSet::new(), later: Vec::new() };
    for name in names {
        match index.find(name) {
            Found::BuiltIn => {}
            Found::Loadable(name, entry) => walk.load(name, entry)?,
            Found::Nothing => return Err(Error::NoSuchModule { name: (*name).to_owned() }),
        }
    }
    Ok(walk.order)
}

struct Walk<'a> {
    index: &'a Index,
    order: Vec<(&'a str, &'a Entry)>,
    /// Every module that was entered.
    seen: BTreeSet<&'a str>,
    /// Those of them that still wait for what they need.
    open: BTreeSet<&'a str>,
    /// Soft dependencies that need a module which waits for them.
    later: Vec<(&'a str, &'a Entry)>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Enter(&'a str, &'a Entry),
    Soft(&'a str),
    Leave(&'a str, &'a Entry),
}

impl<'a> Walk<'a> {
    fn load(&mut self, name: &'a str, entry: &'a Entry) -> Result<(), Error> {
        self.later.push((name, entry));
        while let Some((name, entry)) = self.later.pop() {
            let mut steps = vec![Step::Enter(name, entry)];
            while let Some(step) = steps.pop() {
                self.step(step, &mut steps)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, step: Step<'a>, steps: &mut Vec<Step<'a>>) -> Result<(), Error> {
        match step {
            Step::Enter(name, entry) if self.seen.insert(name) => {
                self.open.insert(name);
                steps.push(Step::Leave(name, entry));
                steps.extend(entry.softdeps.iter().rev().map(|soft| Step::Soft(soft)));
                self.enter_needs(name, entry, steps)?;
            }
            Step::Enter(..) => {}
            Step::Soft(name) => self.soft(name, steps),
            Step::Leave(name, entry) => {
                self.open.remove(name);
                self.order.push((name, entry));
            }
        }
        Ok(())
    }

    fn enter_needs(&mut self, name: &str, entry: &'a Entry, steps: &mut Vec<Step<'a>>) -> Result<(), Error> {
        for needs in entry.depends.iter().rev() {
            match self.index.find(needs) {
                Found::BuiltIn => {}
                Found::Loadable(name, entry) => steps.push(Step::Enter(name, entry)),
                Found::Nothing => {
                    return Err(Error::MissingDependency { name: name.to_owned(), needs: needs.clone() });
                }
            }
        }
        Ok(())
    }

    /// A soft dependency that is not there, or not whole, is left out without a word, as modprobe does.
    fn soft(&mut self, name: &str, steps: &mut Vec<Step<'a>>) {
        let Found::Loadable(name, entry) = self.index.find(name) else { return };
        match self.needs_of(name, entry) {
            Some(needs) if needs.is_disjoint(&self.open) => steps.push(Step::Enter(name, entry)),
            Some(_) if !self.seen.contains(name) => self.later.push((name, entry)),
            _ => {}
        }
    }

    /// The module and all that it cannot do without, or nothing if a part of it is missing or damaged.
    fn needs_of(&self, name: &'a str, entry: &'a Entry) -> Option<BTreeSet<&'a str>> {
        let mut needs = BTreeSet::new();
        let mut waiting = vec![(name, entry)];
        while let Some((name, entry)) = waiting.pop() {
            if entry.damage.is_some() {
                return None;
            }
            if !needs.insert(name) {
                continue;
            }
            for name in &entry.depends {
                match self.index.find(name) {
                    Found::BuiltIn => {}
                    Found::Loadable(name, entry) => waiting.push((name, entry)),
                    Found::Nothing => return None,
                }
            }
        }
        Some(needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// An index of modules given as `name: hard hard ~soft`.
    fn index(lines: &[&str]) -> Index {
        let entry = |line: &&str| {
            let (name, needs) = line.split_once(':').unwrap();
            let (soft, hard): (Vec<&str>, Vec<&str>) =
                needs.split_whitespace().partition(|n| n.starts_with('~'));
            let entry = Entry {
                path: format!("{name}.ko").into(),
                depends: hard.into_iter().map(str::to_owned).collect(),
                softdeps: soft.into_iter().map(|name| name[1..].to_owned()).collect(),
                damage: None,
            };
            (name.to_owned(), entry)
        };
        let entries: BTreeMap<_, _> = lines.iter().map(entry).collect();
        let built_in = Some(["builtin".to_owned()].into());
        Index { entries, built_in, ..Index::default() }
    }

    fn names<'a>(index: &'a Index, names: &[&str]) -> Vec<&'a str> {
        order(index, names).unwrap().into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn hard_then_soft_then_the_module() {
        let index = index(&["top: b a ~s ~gone ~builtin", "a: c builtin", "b: c", "c:", "s: t", "t:", "x:"]);
        assert_eq!(names(&index, &["top"]), ["c", "b", "a", "t", "s", "top"]);
        assert_eq!(names(&index, &["a", "x", "top", "builtin", "a"]), ["c", "a", "x", "b", "t", "s", "top"]);
        assert_eq!(names(&index, &[]), [""; 0]);
    }

    #[test]
    fn missing_ones_are_named() {
        let index = index(&["a: b", "b: gone", "c: ~a ~d", "d:"]);
        assert!(
            matches!(order(&index, &["nothing"]), Err(Error::NoSuchModule { name }) if name == "nothing")
        );
        let missing = order(&index, &["a"]).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "module b needs gone, which is not in this kernel's module tree: complete the tree"
        );
        assert_eq!(names(&index, &["c"]), ["d", "c"], "a soft dependency that is not whole is left out");
    }

    #[test]
    fn soft_cycles_keep_the_hard_order() {
        let index = index(&["algapi: ~cryptomgr", "cryptomgr: algapi", "user: algapi"]);
        for root in ["algapi", "cryptomgr", "user"] {
            let order = names(&index, &[root]);
            let at = |name| order.iter().position(|found| *found == name);
            assert!(at("algapi") < at("cryptomgr"), "{order:?}");
        }
        assert_eq!(names(&index, &["user"]), ["algapi", "user", "cryptomgr"]);
    }

    #[test]
    fn hard_cycles_end() {
        let index = index(&["a: b", "b: c", "c: a ~b"]);
        let mut order = names(&index, &["a"]);
        order.sort_unstable();
        assert_eq!(order, ["a", "b", "c"]);
    }

    #[test]
    fn depth_does_not_matter() {
        let lines: Vec<String> = (0..50_000).map(|at| format!("m{at}: m{}", at + 1)).collect();
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.push("m50000:");
        assert_eq!(names(&index(&lines), &["m0"]).len(), 50_001);
    }

    proptest! {
        /// Module i may need only modules below it, and may softly want any.
        #[test]
        fn each_once_and_after_its_needs(
            hard in proptest::collection::vec(proptest::collection::vec(0usize..20, 0..4), 20),
            soft in proptest::collection::vec(proptest::collection::vec(0usize..25, 0..4), 20),
            roots in proptest::collection::vec(0usize..20, 0..5),
        ) {
            let line = |at: usize| {
                let hard = hard[at].iter().filter(|needs| **needs < at).map(|needs| format!(" m{needs}"));
                let soft = soft[at].iter().map(|wants| format!(" ~m{wants}"));
                format!("m{at}:{}", hard.chain(soft).collect::<String>())
            };
            let lines: Vec<String> = (0..20).map(line).collect();
            let index = index(&lines.iter().map(String::as_str).collect::<Vec<_>>());
            let roots: Vec<String> = roots.iter().map(|root| format!("m{root}")).collect();
            let order = names(&index, &roots.iter().map(String::as_str).collect::<Vec<_>>());
            let mut before = BTreeSet::new();
            for name in &order {
                for needs in &index.entries[*name].depends {
                    prop_assert!(before.contains(needs.as_str()), "{} before {} in {:?}", name, needs, order);
                }
                prop_assert!(before.insert(*name), "{} twice in {:?}", name, order);
            }
            // All soft dependencies that exist are there too, since nothing in this tree is missing.
            for name in &order {
                for wants in index.entries[*name].softdeps.iter().filter(|w| index.entries.contains_key(*w)) {
                    prop_assert!(before.contains(wants.as_str()));
                }
            }
            prop_assert!(roots.iter().all(|root| before.contains(root.as_str())));
        }
    }
}
