//! The text of a condition that did not hold.

use starlark::codemap::FileSpan;
use starlark_syntax::syntax::ast::{ArgumentP, AstExpr, AstNoPayload, Expr};
use starlark_syntax::syntax::uniplate::Visit;

use crate::rewrite::bytes;
use crate::show::shown;
use crate::syntax::Files;

/// Characters of a condition that are shown.
const WIDTH: usize = 200;

/// The first argument of the call that is evaluated here, as the user wrote it.
pub(crate) fn condition(files: &Files, call: &FileSpan) -> Option<String> {
    let file = files.get(call.filename())?;
    let start = file.original(call.span).start;
    let argument = search(&Visit::Stmt(file.statement()), start)?;
    let text = file.source.text.get(bytes(argument.span))?;
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(shown(&words.join(" "), WIDTH))
}

fn search<'a>(tree: &Visit<'a, AstNoPayload>, start: usize) -> Option<&'a AstExpr> {
    if let Visit::Expr(expression) = tree
        && let Some(argument) = first_argument(expression, start)
    {
        return Some(argument);
    }
    let mut found = None;
    tree.visit_children(|child| {
        if found.is_none() {
            found = search(&child, start);
        }
    });
    found
}

fn first_argument(expression: &AstExpr, start: usize) -> Option<&AstExpr> {
    let Expr::Call(function, arguments) = &expression.node else { return None };
    let is_name = matches!(function.node, Expr::Identifier(_));
    if bytes(expression.span).start != start || !is_name {
        return None;
    }
    match &arguments.args.first()?.node {
        ArgumentP::Positional(value) | ArgumentP::Named(_, value) => Some(value),
        _ => None,
    }
}
