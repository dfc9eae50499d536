//! The condition of an `expect`, as it is in the tree.
//!
//! A condition is evaluated before `expect` is called. So that both sides of a comparison are known when it does not hold, each
//! comparison in it becomes the call of a function that keeps them: `and` and `or` then give what that function gave for the one
//! that decides.

use starlark_syntax::syntax::ast::{ArgumentP, AstExpr, BinOp, Expr};

use crate::source::bytes;

/// The function.
pub(crate) const EXPECT: &str = "expect";

/// A comparison, and its words.
pub(crate) struct Comparison<'a> {
    pub(crate) whole: &'a AstExpr,
    pub(crate) left: &'a AstExpr,
    pub(crate) operator: &'static str,
    pub(crate) right: &'a AstExpr,
}

impl<'a> Comparison<'a> {
    /// The comparisons of a condition, from left to right.
    pub(crate) fn all(condition: &'a AstExpr) -> Vec<Self> {
        match &condition.node {
            Expr::Op(left, BinOp::And | BinOp::Or, right) => {
                [left, right].into_iter().flat_map(|side| Self::all(side)).collect()
            }
            _ => Self::of(condition).into_iter().collect(),
        }
    }

    fn of(whole: &'a AstExpr) -> Option<Self> {
        let Expr::Op(left, operator, right) = &whole.node else { return None };
        let operator = match operator {
            BinOp::Equal => "==",
            BinOp::NotEqual => "!=",
            BinOp::Less => "<",
            BinOp::LessOrEqual => "<=",
            BinOp::Greater => ">",
            BinOp::GreaterOrEqual => ">=",
            BinOp::In => "in",
            BinOp::NotIn => "not in",
            _ => return None,
        };
        Some(Self { whole, left, operator, right })
    }

    /// Where its operator begins; nothing if a comment stands beside it.
    pub(crate) fn operator_at(&self, text: &str) -> Option<usize> {
        let start = bytes(self.left.span).end;
        let between = text.get(start..bytes(self.right.span).start).filter(|text| !text.contains('#'))?;
        Some(start + between.find(self.operator)?)
    }
}

/// The condition, if this is a call of `expect`.
pub(crate) fn condition_of(expression: &AstExpr) -> Option<&AstExpr> {
    let Expr::Call(function, _) = &expression.node else { return None };
    let is_expect = matches!(&function.node, Expr::Identifier(name) if name.node.ident == EXPECT);
    is_expect.then(|| first_argument(expression, bytes(expression.span).start)).flatten()
}

/// The first argument of a call that begins here.
pub(crate) fn first_argument(expression: &AstExpr, start: usize) -> Option<&AstExpr> {
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
