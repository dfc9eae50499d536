//! Names that nothing has, and what files load of each other.

use std::collections::HashSet;

use starlark::analysis::AstModuleLint;
use starlark_syntax::codemap::Span;
use starlark_syntax::syntax::ast::{AssignTarget, AstAssignIdent, AstAssignTarget, Stmt};

use crate::expectation::EXPECT;
use crate::globals::globals;
use crate::metadata::statements;
use crate::nearest::nearest;
use crate::problem::Problem;
use crate::source::bytes;
use crate::syntax::{Files, Parsed};

/// What the analysis of the interpreter calls a name that nothing has.
const UNDEFINED: &str = "using-undefined";

/// Adds problems with names.
pub(super) fn check(file: &Parsed, files: &Files, problems: &mut Vec<Problem>) {
    let mut known: HashSet<String> = globals().names().map(|name| name.as_str().to_owned()).collect();
    known.extend(["True", "False", "None"].map(str::to_owned));
    // Its conditions are rewritten, whatever function it is.
    for (_, span) in definitions(file).into_iter().filter(|(name, _)| name == EXPECT) {
        problems.push(file.problem(span, format!("{EXPECT} is kiln's: use another name")));
    }
    for lint in file.module().lint(Some(&known)) {
        if lint.short_name == UNDEFINED {
            problems.push(undefined(file, lint.location.span, &known));
        }
    }
    for load in file.module().loads() {
        let Some(other) = files.get(load.module_id) else { continue };
        let defined = defined(other);
        for (_, name) in load.symbols.iter().filter(|(_, name)| !defined.contains(**name)) {
            let text = format!("{} has no {name}", load.module_id);
            let problem = Problem::at(&file.source, bytes(load.span.span).start, text);
            problems.push(meant(problem, name, defined.iter().map(String::as_str)));
        }
    }
}

fn undefined(file: &Parsed, span: Span, known: &HashSet<String>) -> Problem {
    let name = file.source.text.get(bytes(span)).unwrap_or_default();
    if name == "print" {
        return file.problem(span, "there is no print").help("note(text) is for people");
    }
    let own = defined(file);
    let names = known.iter().chain(&own).map(String::as_str);
    meant(file.problem(span, format!("nothing has the name {name}")), name, names)
}

fn meant<'a>(problem: Problem, name: &str, known: impl Iterator<Item = &'a str>) -> Problem {
    // Sorted, so that of two that are equally near it is always the same.
    let mut known: Vec<&str> = known.filter(|name| !name.starts_with('_')).collect();
    known.sort_unstable();
    match nearest(name, known) {
        Some(near) => problem.help(format!("did you mean {near}?")),
        None => problem,
    }
}

/// The names that a file gives something at its top.
pub(super) fn defined(file: &Parsed) -> HashSet<String> {
    definitions(file).into_iter().map(|(name, _)| name).collect()
}

/// The same, and where.
fn definitions(file: &Parsed) -> Vec<(String, Span)> {
    let mut names = Vec::new();
    for statement in statements(file.statement()) {
        match &statement.node {
            Stmt::Def(def) => names.push(named(&def.name)),
            Stmt::Assign(assign) => targets(&assign.lhs, &mut names),
            Stmt::Load(load) => names.extend(load.args.iter().map(|it| named(&it.local))),
            _ => {}
        }
    }
    names
}

fn targets(target: &AstAssignTarget, names: &mut Vec<(String, Span)>) {
    match &target.node {
        AssignTarget::Identifier(name) => names.push(named(name)),
        AssignTarget::Tuple(targets_of) => targets_of.iter().for_each(|target| targets(target, names)),
        AssignTarget::Index(_) | AssignTarget::Dot(..) => {}
    }
}

fn named(name: &AstAssignIdent) -> (String, Span) {
    (name.node.ident.clone(), name.span)
}
