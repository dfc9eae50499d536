//! What is added to a script before it runs, so that its limits hold where the interpreter has no hook.
//!
//! The interpreter calls us before each statement, and a comprehension is one expression. So what it iterates over is
//! counted, and each of its elements is a chance to look at the memory. A multiplication can make a long text of a short
//! one at once, and a shift a long number, so their operands are looked at; `*` and `<<` are replaced in the tree.

use starlark_syntax::syntax::ast::{AssignOp, AstExpr, AstNoPayload, AstStmt, Clause, Expr, ForClause, Stmt};
use starlark_syntax::syntax::uniplate::Visit;

use crate::expectation::{Comparison, condition_of};
use crate::source::bytes;

/// The beginning of names that a script may not use.
pub(crate) const RESERVED: &str = "_kiln_";

/// Counts what a comprehension iterates over, and gives it.
pub(crate) const OVER: &str = "_kiln_over";

/// Looks at the memory after an element of a comprehension, and gives it.
pub(crate) const ELEMENT: &str = "_kiln_element";

/// Multiplies.
pub(crate) const TIMES: &str = "_kiln_times";

/// Looks at both factors, and gives the second.
pub(crate) const FACTOR: &str = "_kiln_factor";

/// Shifts to the left.
pub(crate) const SHIFT: &str = "_kiln_shift";

/// Looks at a number and by how much it is shifted, and gives the latter.
pub(crate) const SHIFT_BY: &str = "_kiln_shift_by";

/// Compares, and keeps both sides if the comparison does not hold.
pub(crate) const COMPARED: &str = "_kiln_compared";

/// Text that is put into a source.
#[derive(Debug, Clone)]
struct Insertion {
    at: usize,
    /// Bytes of the source in whose place it stands.
    replaces: usize,
    text: String,
}

/// A source with what was added to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    insertions: Vec<Insertion>,
}

impl Rewritten {
    /// `text`, whose tree is `tree`, with what counts.
    pub(crate) fn new(text: &str, tree: &AstStmt) -> Self {
        let mut insertions = Vec::new();
        in_statement(tree, text, &mut insertions);
        insertions.sort_by_key(|insertion| insertion.at);
        let mut out = String::with_capacity(text.len() + insertions.len() * 16);
        let mut done = 0;
        for insertion in &insertions {
            out.push_str(text.get(done..insertion.at).unwrap_or_default());
            out.push_str(&insertion.text);
            done = insertion.at + insertion.replaces;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Self { text: out, insertions }
    }

    /// The byte of the original that a byte stands for.
    pub(crate) fn original(&self, offset: usize) -> usize {
        let mut added = 0;
        for insertion in &self.insertions {
            let start = insertion.at + added;
            if offset < start {
                break;
            }
            if offset < start + insertion.text.len() {
                return insertion.at;
            }
            added += insertion.text.len() - insertion.replaces;
        }
        offset.saturating_sub(added)
    }
}

fn in_statement(statement: &AstStmt, text: &str, out: &mut Vec<Insertion>) {
    if let Stmt::AssignModify(target, operator, operand) = &statement.node {
        let look = match operator {
            AssignOp::Multiply => Some(FACTOR),
            AssignOp::LeftShift => Some(SHIFT_BY),
            _ => None,
        };
        let target = text.get(bytes(target.span)).unwrap_or_default();
        look.into_iter().for_each(|look| wrap(operand, &format!("{look}({target}, "), out));
    }
    statement.visit_children(|child| in_child(&child, text, out));
}

fn in_child(child: &Visit<'_, AstNoPayload>, text: &str, out: &mut Vec<Insertion>) {
    match child {
        Visit::Stmt(statement) => in_statement(statement, text, out),
        Visit::Expr(expression) => in_expression(expression, text, out),
    }
}

fn in_expression(expression: &AstExpr, text: &str, out: &mut Vec<Insertion>) {
    match &expression.node {
        Expr::ListComprehension(element, first, rest) => {
            wrap_element(element, out);
            count(first, rest, out);
        }
        Expr::DictComprehension(entry, first, rest) => {
            wrap_element(&entry.0, out);
            count(first, rest, out);
        }
        _ => {
            let comparisons = condition_of(expression).map(Comparison::all).unwrap_or_default();
            for (number, comparison) in comparisons.iter().enumerate() {
                compare(number, comparison, text, out);
            }
        }
    }
    expression.visit_expr(|child| in_expression(child, text, out));
}

fn count(first: &ForClause, rest: &[Clause], out: &mut Vec<Insertion>) {
    let more = rest.iter().filter_map(|clause| match clause {
        Clause::For(clause) => Some(clause),
        Clause::If(_) => None,
    });
    for clause in std::iter::once(first).chain(more) {
        wrap(&clause.over, &format!("{OVER}("), out);
    }
}

/// A comma of the same length takes the place of the operator.
fn compare(number: usize, comparison: &Comparison<'_>, text: &str, out: &mut Vec<Insertion>) {
    let Some(at) = comparison.operator_at(text) else { return };
    let Comparison { whole, operator, .. } = comparison;
    wrap(whole, &format!("{COMPARED}({number}, \"{operator}\", "), out);
    let replaces = operator.len();
    out.push(Insertion { at, replaces, text: format!("{:<replaces$}", ",") });
}

/// The brackets of a tuple are not in its span, so its first element is wrapped.
fn wrap_element(element: &AstExpr, out: &mut Vec<Insertion>) {
    match &element.node {
        Expr::Tuple(elements) => elements.iter().take(1).for_each(|first| wrap_element(first, out)),
        _ => wrap(element, &format!("{ELEMENT}("), out),
    }
}

/// A tuple is not wrapped: it is as short as the source.
fn wrap(expression: &AstExpr, before: &str, out: &mut Vec<Insertion>) {
    if matches!(expression.node, Expr::Tuple(_)) {
        return;
    }
    let bytes = bytes(expression.span);
    out.push(Insertion { at: bytes.start, replaces: 0, text: before.to_owned() });
    out.push(Insertion { at: bytes.end, replaces: 0, text: ")".to_owned() });
}
