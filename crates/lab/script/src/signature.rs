//! The functions and methods of the language: their parameters, and how arguments meet them.

use serde_json::{Map, Value};

use crate::data::{Data, ObjectKind};
use crate::kind::Kind;
use crate::nearest::suggestion;

/// A function or method.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// The field that takes named arguments which are no parameters.
    pub(crate) rest: Option<&'static str>,
    pub(crate) gives: Gives,
    /// What it does, for the reference.
    pub(crate) about: &'static str,
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

/// What a call gives to the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// A result: of a command, or only of whether it went well.
    Outcome,
    /// A thing outside of the script.
    Object(ObjectKind),
    Text,
    Lines,
    /// Plain data: numbers by name, what QEMU answers.
    Plain,
    Nothing,
}

impl Gives {
    /// In words, for the reference.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Outcome => "result",
            Self::Object(kind) => kind.name(),
            Self::Text => "text",
            Self::Lines => "list of lines",
            Self::Plain => "data",
            Self::Nothing => "",
        }
    }
}

/// A parameter that must be given.
pub(crate) const fn required(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, required: true }
}

/// A parameter that may be left out.
pub(crate) const fn optional(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, required: false }
}

/// The errors that a call allows.
pub(crate) const ALLOW: Parameter =
    optional("allow", Kind::List(&Kind::OneOf(crate::trouble::ErrorName::ALLOWED)));

/// An argument: what it is, or nothing if only running the script can tell.
pub(crate) type Given = Option<Data>;

/// Arguments of one call.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) positional: Vec<Given>,
    pub(crate) named: Vec<(String, Given)>,
    /// Whether there may be more, as behind `*` and `**`.
    pub(crate) open: bool,
}

/// Arguments that do not fit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    /// The name of the argument it is about.
    pub(crate) argument: Option<String>,
    pub(crate) text: String,
    pub(crate) help: Option<String>,
}

impl Signature {
    /// The fields of a call; of what is not known yet there is no field.
    pub(crate) fn bind(&self, arguments: &Arguments) -> Result<Map<String, Value>, Misfit> {
        let mut fields = Map::new();
        let mut given: Vec<&str> = Vec::new();
        for (index, value) in arguments.positional.iter().enumerate() {
            let parameter = self.parameters.get(index).ok_or_else(|| self.too_many(arguments))?;
            given.push(parameter.name);
            self.put(parameter, value, &mut fields)?;
        }
        for (name, value) in &arguments.named {
            let Some(parameter) = self.parameters.iter().find(|parameter| parameter.name == name) else {
                self.put_rest(name, value, &mut fields)?;
                continue;
            };
            if given.contains(&parameter.name) {
                return Err(self.misfit(Some(name), "is given twice", None));
            }
            given.push(parameter.name);
            self.put(parameter, value, &mut fields)?;
        }
        let missing = self.parameters.iter().find(|it| it.required && !given.contains(&it.name));
        match missing.filter(|_| !arguments.open) {
            Some(it) => Err(self.misfit(
                None,
                &format!("needs {}: {}", it.name, it.kind.expects()),
                Some(self.usage()),
            )),
            None => Ok(fields),
        }
    }

    /// How it is called.
    pub(crate) fn usage(&self) -> String {
        let parameters = self.parameters.iter().map(|parameter| {
            if parameter.required { parameter.name.to_owned() } else { format!("{} =", parameter.name) }
        });
        let rest = self.rest.map(|rest| format!("**{rest}"));
        format!("{}({})", self.name, parameters.chain(rest).collect::<Vec<_>>().join(", "))
    }

    fn put(
        &self,
        parameter: &Parameter,
        value: &Given,
        fields: &mut Map<String, Value>,
    ) -> Result<(), Misfit> {
        match value {
            // None is as good as nothing where something may be left out.
            Some(Data::None) if !parameter.required => Ok(()),
            Some(data) => {
                let value = parameter.kind.accept(data);
                let value = value.map_err(|text| self.misfit(Some(parameter.name), &text, None))?;
                fields.insert(parameter.name.to_owned(), value);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn put_rest(&self, name: &str, value: &Given, fields: &mut Map<String, Value>) -> Result<(), Misfit> {
        let Some(rest) = self.rest else {
            let names = self.parameters.iter().map(|parameter| parameter.name);
            let text = format!("{} has no argument {name}", self.name);
            return Err(Misfit {
                argument: Some(name.to_owned()),
                text,
                help: Some(suggestion(name, names)),
            });
        };
        let Some(data) = value else { return Ok(()) };
        let value = Kind::Plain.accept(data).map_err(|text| self.misfit(Some(name), &text, None))?;
        let entry = fields.entry(rest).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(entries) = entry {
            entries.insert(name.to_owned(), value);
        }
        Ok(())
    }

    fn too_many(&self, arguments: &Arguments) -> Misfit {
        let (most, got) = (self.parameters.len(), arguments.positional.len());
        self.misfit(None, &format!("takes at most {most} arguments, not {got}"), Some(self.usage()))
    }

    fn misfit(&self, argument: Option<&str>, text: &str, help: Option<String>) -> Misfit {
        let text = match argument {
            Some(argument) => format!("{} of {} {text}", argument, self.name),
            None => format!("{} {text}", self.name),
        };
        Misfit { argument: argument.map(str::to_owned), text, help }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Signature = Signature {
        name: "run",
        parameters: &[required("command", Kind::Text), optional("timeout", Kind::Time), ALLOW],
        rest: None,
        gives: Gives::Outcome,
        about: "",
    };

    fn text(text: &str) -> Given {
        Some(Data::Text(text.to_owned()))
    }

    fn said(positional: Vec<Given>, named: Vec<(&str, Given)>) -> String {
        let named = named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let misfit = RUN.bind(&Arguments { positional, named, open: false }).unwrap_err();
        format!("{}; {}", misfit.text, misfit.help.unwrap_or_default())
    }

    #[test]
    fn arguments_become_fields() {
        let named = vec![("timeout".to_owned(), text("1m")), ("allow".to_owned(), Some(Data::None))];
        let fields = RUN.bind(&Arguments { positional: vec![text("true")], named, open: false }).unwrap();
        assert_eq!(Value::Object(fields).to_string(), r#"{"command":"true","timeout":60.0}"#);
        let open = Arguments { open: true, ..Arguments::default() };
        assert!(RUN.bind(&open).unwrap().is_empty());
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(said(vec![], vec![]), "run needs command: a text; run(command, timeout =, allow =)");
        assert_eq!(
            said(vec![text("a")], vec![("timeuot", None)]),
            "run has no argument timeuot; did you mean timeout?"
        );
        assert_eq!(said(vec![text("a")], vec![("command", text("b"))]), "command of run is given twice; ");
        let allow = Some(Data::List(vec![Data::Text("crahs".to_owned())]));
        assert_eq!(
            said(vec![text("a"), None, allow], vec![]),
            "allow of run does not know \"crahs\": did you mean crash?; "
        );
        assert_eq!(
            said(vec![None, None, None, None], vec![]),
            "run takes at most 3 arguments, not 4; run(command, timeout =, allow =)"
        );
    }
}
