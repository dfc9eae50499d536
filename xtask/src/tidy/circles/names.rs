//! Which module a path leads to.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, UseTree};

use super::super::source::{Rust, Source, Token};

/// The names of a module and of those around it; none for the crate itself.
pub(super) type Module = Vec<String>;

/// Re-exports that lead to re-exports are followed so far.
const DEPTH_MAX: usize = 8;

/// The modules of a crate and the names in them.
pub(super) struct Crate<'a> {
    files: BTreeMap<Module, &'a Rust>,
    /// What each module defines.
    items: BTreeMap<Module, BTreeSet<String>>,
    /// What each module imports by name, and from where.
    imports: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
    /// Where each module takes all names from.
    globs: BTreeMap<Module, Vec<Vec<String>>>,
}

impl<'a> Crate<'a> {
    /// The crate of these files.
    pub(super) fn new(sources: &[&'a Source]) -> Self {
        let mut all = Self {
            files: BTreeMap::new(),
            items: BTreeMap::new(),
            imports: BTreeMap::new(),
            globs: BTreeMap::new(),
        };
        for source in sources {
            if let (Some(module), Some(rust)) = (module_of(&source.path), &source.rust) {
                all.files.insert(module.clone(), rust);
                rust.file.items.iter().for_each(|item| all.add(&module, item));
            }
        }
        all
    }

    fn add(&mut self, module: &Module, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Use(item) => return self.add_tree(module, &mut Vec::new(), &item.tree),
            _ => return,
        };
        self.items.entry(module.clone()).or_default().insert(name.to_string());
    }

    fn add_tree(&mut self, module: &Module, before: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add_tree(module, before, &path.tree);
                before.pop();
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_tree(module, before, tree));
            }
            UseTree::Glob(_) => self.globs.entry(module.clone()).or_default().push(before.clone()),
            UseTree::Name(name) => self.add_import(module, before, (&name.ident, &name.ident)),
            UseTree::Rename(name) => self.add_import(module, before, (&name.ident, &name.rename)),
        }
    }

    fn add_import(&mut self, module: &Module, before: &[String], (name, here): (&syn::Ident, &syn::Ident)) {
        let path = before.iter().cloned().chain([name.to_string()]).collect();
        self.imports.entry(module.clone()).or_default().insert(here.to_string(), path);
    }

    /// Each module with a module that it uses, also through names that others pass on.
    pub(super) fn uses(&self) -> BTreeSet<(Module, Module)> {
        let mut found = BTreeSet::new();
        for (module, rust) in &self.files {
            for path in paths(rust) {
                if let Some(target) = self.resolve(module, &path, DEPTH_MAX) {
                    found.insert((module.clone(), target));
                }
            }
        }
        found
    }

    /// The module of what a path names; None if it lies in another crate.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let mut rest = path.iter();
        let mut at = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" => from.clone(),
            "super" => from.split_last()?.1.to_vec(),
            // A name of the module itself, such as that of a child.
            name => return self.step(from, name, depth).map(|at| self.walk(at, &path[1..], depth)),
        };
        rest.next();
        for name in rest.clone().take_while(|name| *name == "super") {
            at.pop().filter(|_| name == "super")?;
            rest.next();
        }
        Some(self.walk(at, rest.as_slice(), depth))
    }

    fn walk(&self, mut at: Module, names: &[String], depth: usize) -> Module {
        for name in names {
            let Some(next) = self.step(&at, name, depth) else { break };
            at = next;
        }
        at
    }

    /// Where a name of a module leads: to a module below it, or to where it was imported from.
    fn step(&self, at: &Module, name: &str, depth: usize) -> Option<Module> {
        let child: Module = at.iter().cloned().chain([name.to_string()]).collect();
        if self.files.contains_key(&child) {
            return Some(child);
        }
        if depth == 0 || self.items.get(at).is_some_and(|items| items.contains(name)) {
            return None;
        }
        if let Some(path) = self.imports.get(at).and_then(|imports| imports.get(name)) {
            return self.resolve(at, path, depth - 1);
        }
        let globs = self.globs.get(at).into_iter().flatten();
        let mut sources = globs.filter_map(|path| self.resolve(at, path, depth - 1));
        sources.find(|module| self.items.get(module).is_some_and(|items| items.contains(name)))
    }
}

/// The module of a file: the file `b` in the folder `a` is `a::b`.
fn module_of(path: &str) -> Option<Module> {
    let inside = path.split_once("/src/")?.1.strip_suffix(".rs")?;
    let parts: Module = inside.split('/').map(String::from).collect();
    let is_top = matches!(&parts[..], [name] if name == "lib" || name == "main");
    Some(if is_top { Vec::new() } else { parts })
}

/// All paths from `crate`, `super` or `self` that are not for tests, also those in macros.
fn paths(rust: &Rust) -> Vec<Vec<String>> {
    let tokens = &rust.tokens;
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let is_inside = index >= 2 && tokens[index - 2..index].iter().all(|token| token.text == ":");
        if ["crate", "super", "self"].contains(&&*token.text) && !is_inside && !rust.is_test_line(token.line)
        {
            read(&tokens[index..], &mut Vec::new(), &mut found);
        }
    }
    found
}

/// Reads a path, or a tree of paths, and gives what follows.
fn read<'t>(mut tokens: &'t [Token], path: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'t [Token] {
    let length = path.len();
    while let [name, rest @ ..] = tokens {
        if name.text == "{" && path.len() >= length && !path.is_empty() {
            tokens = rest;
            while let [token, rest @ ..] = tokens {
                tokens = match &*token.text {
                    "}" => return rest_after(path, length, rest),
                    "," => rest,
                    _ => read(tokens, path, found),
                };
            }
            break;
        }
        path.push(name.text.clone());
        tokens = rest;
        match tokens {
            [a, b, more @ ..] if a.text == ":" && b.text == ":" => tokens = more,
            _ => {
                found.push(path.clone());
                break;
            }
        }
    }
    rest_after(path, length, tokens)
}

fn rest_after<'t>(path: &mut Vec<String>, length: usize, rest: &'t [Token]) -> &'t [Token] {
    path.truncate(length);
    rest
}
