//! Modules of one crate do not use each other in a circle: what is read together is one module, and what is not has
//! an order.
//!
//! Only siblings count. A module and the modules below it are one thing, seen from outside. Tests may use anything.
//!
//! * [`names`]: which module a path leads to

mod names;

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::{Repository, Source};
use names::{Crate, Module};

/// Siblings, each with the siblings that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The circles of all crates.
pub(super) fn look(repository: &Repository) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in &repository.sources {
        let is_code = source.rust.as_ref().is_some_and(|rust| !rust.is_test);
        if let Some((top, _)) = source.path.split_once("/src/").filter(|_| is_code) {
            crates.entry(top).or_default().push(source);
        }
    }
    crates.iter().flat_map(|(top, sources)| circles(top, &Crate::new(sources))).collect()
}

fn circles(top: &str, all: &Crate) -> Vec<Finding> {
    let mut families: BTreeMap<Module, Uses> = BTreeMap::new();
    for (from, to) in all.uses() {
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        if let (Some(user), Some(used)) = (from.get(shared), to.get(shared)) {
            let family = families.entry(from[..shared].to_vec()).or_default();
            family.entry(user.clone()).or_default().insert(used.clone());
        }
    }
    let mut found = Vec::new();
    for (parent, uses) in &families {
        for circle in circles_of(uses) {
            let place: Vec<&str> = parent.iter().map(String::as_str).chain([circle[0].as_str()]).collect();
            let path = format!("{top}/src/{}.rs", place.join("/"));
            let key = format!("circle {}", circle.join(" "));
            found.push(Finding::new(
                &path,
                1,
                key,
                format!("give these modules an order: {}", edges(uses, &circle)),
            ));
        }
    }
    found
}

/// What each member of a circle uses of it.
fn edges(uses: &Uses, circle: &[String]) -> String {
    let line = |user: &String| {
        let used = uses.get(user).into_iter().flatten().filter(|used| circle.contains(used));
        format!("{user} uses {}", used.cloned().collect::<Vec<_>>().join(" and "))
    };
    circle.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// Groups of which each member uses, in the end, each other one.
fn circles_of(uses: &Uses) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        uses.keys().map(|name| (name, reachable(uses, name))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (name, others) in &reached {
        let is_with = |other: &&&String| reached.get(**other).is_some_and(|back| back.contains(name));
        if others.contains(name) && !seen.contains(name) {
            let circle: Vec<&String> = others.iter().filter(is_with).copied().collect();
            seen.extend(circle.iter().copied());
            found.push(circle.into_iter().cloned().collect());
        }
    }
    found
}

/// What a module uses, and what that uses.
fn reachable<'a>(uses: &'a Uses, start: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut queue: Vec<&String> = uses.get(start).into_iter().flatten().collect();
    while let Some(name) = queue.pop() {
        if reached.insert(name) {
            queue.extend(uses.get(name).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), (*text).to_string()).unwrap())
            .collect();
        let found = circles("crates/x", &Crate::new(&sources.iter().collect::<Vec<_>>()));
        found.into_iter().map(|finding| format!("{}: {}", finding.path, finding.key)).collect()
    }

    #[test]
    fn siblings_that_use_each_other_are_found() {
        let lib = ("lib.rs", "mod a; mod b; mod c;");
        let a = ("a.rs", "use crate::b::B; pub struct A;");
        assert_eq!(
            keys(&[lib, a, ("b.rs", "pub struct B; fn f() -> crate::c::C {}"), ("c.rs", "pub struct C;")]),
            [""; 0]
        );
        let c = ("c.rs", "fn f() { println!(\"{}\", super::a::A); }");
        let circle = ["crates/x/src/a.rs: circle a b c"];
        assert_eq!(keys(&[lib, a, ("b.rs", "use super::{c::{self, C}};"), c]), circle);
    }

    #[test]
    fn a_name_that_is_passed_on_is_that_of_its_module() {
        let lib = ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;");
        let a = ("a.rs", "use crate::B; pub struct A;");
        assert_eq!(
            keys(&[lib, a, ("b.rs", "use super::A; pub struct B;")]),
            ["crates/x/src/a.rs: circle a b"]
        );
        assert_eq!(keys(&[lib, a, ("b.rs", "use super::Else; pub struct B;")]), [""; 0]);
    }

    #[test]
    fn parents_children_and_tests_are_no_circle() {
        let lib = ("lib.rs", "mod a; pub struct X;");
        let a = ("a.rs", "mod b; use b::B; pub struct A; #[cfg(test)] mod tests { use crate::c::C; }");
        assert_eq!(keys(&[lib, a, ("a/b.rs", "use super::A; use crate::X; pub struct B;")]), [""; 0]);
        let c = ("c.rs", "use crate::a::A; pub struct C;");
        assert_eq!(keys(&[("lib.rs", "mod a; mod c;"), a, ("a/b.rs", "struct B;"), c]), [""; 0]);
    }

    #[test]
    fn a_circle_through_the_parts_of_a_module_is_one() {
        let files = [
            ("lib.rs", "mod a; mod c;"),
            ("a.rs", "mod b;"),
            ("a/b.rs", "fn f() { crate::c::g() }"),
            ("c.rs", "pub fn g() { crate::a::h() }"),
        ];
        assert_eq!(keys(&files), ["crates/x/src/a.rs: circle a c"]);
    }
}
