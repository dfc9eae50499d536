//! What an expression is without running it, if it is that plain.

use starlark_syntax::lexer::TokenInt;
use starlark_syntax::syntax::ast::{ArgumentP, AstArgument, AstExpr, AstLiteral, Expr};

use crate::data::{Data, Described};
use crate::signature::{Arguments, Given};

/// A description that only needs literals, from the name and the arguments of a call.
type Describe<'a> = &'a dyn Fn(&str, &Arguments) -> Option<Described>;

/// What an expression is, if it is literal.
pub(crate) fn literal(expression: &AstExpr, describe: Describe<'_>) -> Given {
    match &expression.node {
        Expr::Literal(AstLiteral::Int(int)) => match &int.node {
            TokenInt::I32(number) => Some(Data::Int(i64::from(*number))),
            TokenInt::BigInt(number) => number.to_string().parse().ok().map(Data::Int),
        },
        Expr::Literal(AstLiteral::Float(number)) => Some(Data::Float(number.node)),
        Expr::Literal(AstLiteral::String(text)) => Some(Data::Text(text.node.clone())),
        Expr::Identifier(name) => match name.node.ident.as_str() {
            "True" => Some(Data::Bool(true)),
            "False" => Some(Data::Bool(false)),
            "None" => Some(Data::None),
            _ => None,
        },
        Expr::Minus(inner) => match literal(inner, describe)? {
            Data::Int(number) => number.checked_neg().map(Data::Int),
            Data::Float(number) => Some(Data::Float(-number)),
            _ => None,
        },
        Expr::List(items) | Expr::Tuple(items) => {
            items.iter().map(|item| literal(item, describe)).collect::<Option<_>>().map(Data::List)
        }
        Expr::Dict(entries) => {
            let entries = entries.iter().map(|(key, value)| match literal(key, describe)? {
                Data::Text(key) => Some((key, literal(value, describe)?)),
                _ => None,
            });
            entries.collect::<Option<_>>().map(Data::Map)
        }
        Expr::Call(function, arguments) => match &function.node {
            Expr::Identifier(name) => {
                describe(&name.node.ident, &arguments_of(&arguments.args, describe)).map(Data::Described)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The arguments of a call, as far as they are literal.
pub(crate) fn arguments_of(arguments: &[AstArgument], describe: Describe<'_>) -> Arguments {
    let mut known = Arguments::default();
    for argument in arguments {
        match &argument.node {
            ArgumentP::Positional(value) => known.positional.push(literal(value, describe)),
            ArgumentP::Named(name, value) => {
                known.named.push((name.node.clone(), literal(value, describe)));
            }
            ArgumentP::Args(_) | ArgumentP::KwArgs(_) => known.open = true,
        }
    }
    known
}
