//! The text of a condition.

use starlark::codemap::FileSpan;
use starlark_syntax::syntax::ast::{AstExpr, AstNoPayload};
use starlark_syntax::syntax::uniplate::Visit;

use crate::expectation::{Comparison, first_argument};
use crate::show::shown;
use crate::source::bytes;
use crate::syntax::Files;

/// Characters of a condition that are shown.
const WIDTH: usize = 200;

/// A condition as the user wrote it.
pub(crate) struct Condition {
    pub(crate) text: String,
    /// Both sides of each comparison.
    pub(crate) sides: Vec<[String; 2]>,
}

/// The condition of the call that is evaluated here.
pub(crate) fn condition(files: &Files, call: &FileSpan) -> Option<Condition> {
    let file = files.get(call.filename())?;
    let start = file.original(call.span).start;
    let argument = search(&Visit::Stmt(file.statement()), start)?;
    let written = |expression: &AstExpr| {
        let text = file.source.text.get(bytes(expression.span)).unwrap_or_default();
        shown(&text.split_whitespace().collect::<Vec<_>>().join(" "), WIDTH)
    };
    let sides = Comparison::all(argument).iter().map(|it| [it.left, it.right].map(written)).collect();
    Some(Condition { text: written(argument), sides })
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
