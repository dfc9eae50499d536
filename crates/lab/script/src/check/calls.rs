//! Arguments of functions and methods that cannot fit.

use std::collections::HashSet;

use starlark_syntax::syntax::ast::{AstArgument, AstExpr, AstNoPayload, Expr};
use starlark_syntax::syntax::uniplate::Visit;

use super::names::defined;
use crate::call;
use crate::data::{Described, ObjectKind};
use crate::declaration::place;
use crate::globals::signatures;
use crate::literal::arguments_of;
use crate::local;
use crate::nearest::nearest;
use crate::problem::Problem;
use crate::signature::{Arguments, Signature};
use crate::syntax::Parsed;

/// Methods of Starlark's own values.
const OWN: &str = "\
    add append capitalize clear count decode difference discard elems encode endswith extend find format \
    get index insert intersection isalnum isalpha isdigit islower isspace issubset issuperset istitle \
    isupper items join keys lower lstrip partition pop popitem remove removeprefix removesuffix replace \
    rfind rindex rpartition rsplit rstrip setdefault split splitlines startswith strip \
    symmetric_difference title union update upper values codepoints";

const OBJECTS: [ObjectKind; 4] = [ObjectKind::Lab, ObjectKind::Machine, ObjectKind::Job, ObjectKind::Segment];

/// Adds problems with calls.
pub(super) fn check(file: &Parsed, problems: &mut Vec<Problem>) {
    let calls = Calls { file, own: defined(file) };
    calls.search(&Visit::Stmt(file.statement()), problems);
}

/// The calls of a file.
struct Calls<'f> {
    file: &'f Parsed,
    /// What has the name of one of kiln's functions may be the script's own.
    own: HashSet<String>,
}

impl Calls<'_> {
    fn search(&self, tree: &Visit<'_, AstNoPayload>, problems: &mut Vec<Problem>) {
        if let Visit::Expr(expression) = tree
            && let Expr::Call(function, arguments) = &expression.node
        {
            problems.extend(self.call(expression, function, &arguments.args));
        }
        tree.visit_children(|child| self.search(&child, problems));
    }

    fn call(&self, call: &AstExpr, function: &AstExpr, arguments: &[AstArgument]) -> Option<Problem> {
        match &function.node {
            Expr::Identifier(name) if self.own.contains(&name.node.ident) => None,
            Expr::Identifier(name) => {
                let signature = signatures().find(|signature| signature.name == name.node.ident)?;
                self.fits(call, arguments, &[signature])
            }
            Expr::Dot(_, method) => {
                let found = named(&method.node);
                if found.is_empty() {
                    return unknown(self.file, &method.node, method.span);
                }
                // The object is not known: it may be one of several, or one of Starlark's own.
                let is_own = is_own(&method.node);
                self.fits(call, arguments, &found).filter(|_| !is_own)
            }
            _ => None,
        }
    }

    /// No problem if the arguments fit one of the signatures.
    fn fits(&self, call: &AstExpr, arguments: &[AstArgument], signatures: &[&Signature]) -> Option<Problem> {
        let describe = |name: &str, arguments: &Arguments| {
            if self.own.contains(name) { None } else { describe(name, arguments) }
        };
        let known = arguments_of(arguments, &describe);
        let mut misfits = Vec::new();
        for signature in signatures {
            misfits.push(signature.bind(&known).err()?);
        }
        Some(place(self.file, call, arguments, misfits.into_iter().next()?))
    }
}

/// The methods with a name.
fn named(name: &str) -> Vec<&'static Signature> {
    methods().filter(|signature| signature.name == name).collect()
}

fn methods() -> impl Iterator<Item = &'static Signature> {
    OBJECTS.into_iter().flat_map(|kind| {
        let local: Vec<&'static Signature> = local::methods(kind).iter().collect();
        call::methods(kind).into_iter().chain(local)
    })
}

fn is_own(name: &str) -> bool {
    OWN.split(' ').any(|own| own == name)
}

/// What has a name that is nearly that of a method: anything else may be a function in a struct.
fn unknown(file: &Parsed, name: &str, span: starlark_syntax::codemap::Span) -> Option<Problem> {
    if is_own(name) {
        return None;
    }
    let near = nearest(name, methods().map(|signature| signature.name).chain(OWN.split(' ')))?;
    Some(file.problem(span, format!("nothing has a method {name}")).help(format!("did you mean {near}?")))
}

/// A description whose arguments are literals.
fn describe(name: &str, arguments: &Arguments) -> Option<Described> {
    let signature = signatures().find(|signature| signature.name == name)?;
    let is_known = arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value));
    if arguments.open || !is_known.clone().all(Option::is_some) {
        return None;
    }
    let fields = signature.bind(arguments).ok()?;
    Some(Described { kind: signature.name, fields, step: None })
}
