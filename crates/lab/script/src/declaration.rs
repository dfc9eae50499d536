//! A call that is read without running anything: its arguments are literals, and descriptions made of literals.

use serde::de::DeserializeOwned;
use serde_json::Value;
use starlark_syntax::syntax::ast::{ArgumentP, AstArgument, AstExpr, Expr};

use crate::data::Described;
use crate::literal::{arguments_of, literal};
use crate::problem::Problem;
use crate::signature::{Arguments, Misfit, Signature};
use crate::syntax::Parsed;

/// A function that declares something, and the functions that describe parts of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declaration {
    pub(crate) function: &'static Signature,
    pub(crate) descriptions: &'static [&'static Signature],
}

impl Declaration {
    /// What a call of the function says.
    pub(crate) fn read<T: DeserializeOwned>(
        self,
        file: &Parsed,
        call: &AstExpr,
        arguments: &[AstArgument],
    ) -> Result<T, Problem> {
        self.check(file, arguments)?;
        let known = arguments_of(arguments, &|name, arguments| self.describe(name, arguments));
        let fields = self.function.bind(&known).map_err(|misfit| place(file, call, arguments, misfit))?;
        serde_json::from_value(Value::Object(fields))
            .map_err(|error| file.problem(call.span, format!("{}: {error}", self.function.name)))
    }

    fn check(self, file: &Parsed, arguments: &[AstArgument]) -> Result<(), Problem> {
        for argument in arguments {
            let (ArgumentP::Positional(value) | ArgumentP::Named(_, value)) = &argument.node else {
                let name = self.function.name;
                let text = format!("{name} takes no * and **: it is read without running the script");
                return Err(file.problem(argument.span, text));
            };
            self.check_value(file, value)?;
        }
        Ok(())
    }

    /// Finds the innermost part that is not literal.
    fn check_value(self, file: &Parsed, value: &AstExpr) -> Result<(), Problem> {
        match &value.node {
            Expr::List(items) | Expr::Tuple(items) => {
                return items.iter().try_for_each(|item| self.check_value(file, item));
            }
            Expr::Call(function, arguments) => {
                let described = self.descriptions.iter().find(|it| is_named(function, it.name));
                if let Some(described) = described {
                    self.check(file, &arguments.args)?;
                    let known = arguments_of(&arguments.args, &|name, more| self.describe(name, more));
                    let misfit = described.bind(&known).err();
                    return misfit.map_or(Ok(()), |misfit| Err(place(file, value, &arguments.args, misfit)));
                }
            }
            _ => {}
        }
        if literal(value, &|name, arguments| self.describe(name, arguments)).is_some() {
            return Ok(());
        }
        let name = self.function.name;
        let text = format!("this is no literal, and {name} is read without running the script");
        let descriptions: String =
            self.descriptions.iter().map(|description| format!(" and {}(...)", description.name)).collect();
        Err(file
            .problem(value.span, text)
            .help(format!("texts, numbers, lists{descriptions} are allowed here")))
    }

    fn describe(self, name: &str, arguments: &Arguments) -> Option<Described> {
        let described = self.descriptions.iter().find(|described| described.name == name)?;
        let fields = described.bind(arguments).ok()?;
        Some(Described { kind: described.name, fields, step: None })
    }
}

/// Whether a function has this name.
pub(crate) fn is_named(function: &AstExpr, name: &str) -> bool {
    matches!(&function.node, Expr::Identifier(identifier) if identifier.node.ident == name)
}

/// A misfit at its argument, or at the call.
pub(crate) fn place(file: &Parsed, call: &AstExpr, arguments: &[AstArgument], misfit: Misfit) -> Problem {
    let named = arguments.iter().find(|argument| match &argument.node {
        ArgumentP::Named(name, _) => misfit.argument.as_ref() == Some(&name.node),
        _ => false,
    });
    let problem = file.problem(named.map_or(call.span, |argument| argument.span), misfit.text);
    Problem { help: misfit.help, ..problem }
}
