//! What an experiment says about itself, read without running it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use starlark_syntax::syntax::ast::{AstArgument, AstExpr, AstStmt, Expr, Stmt};

use crate::data::Data;
use crate::declaration::{Declaration, is_named};
use crate::kind::Kind;
use crate::literal::literal;
use crate::problem::Problem;
use crate::signature::{Gives, Signature, optional, required};
use crate::source::Source;
use crate::syntax::Parsed;

/// What an experiment says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The question that it answers.
    pub question: String,
    /// What it needs, in the words of a case.
    #[serde(default)]
    pub needs: Vec<String>,
    /// How many kernels a run takes.
    #[serde(default = "one")]
    pub kernels: u32,
    /// How long it may take.
    #[serde(default = "usual_time", with = "judge::json::seconds")]
    pub time: Duration,
    /// What it measures.
    #[serde(default)]
    pub measures: Vec<MetricInfo>,
    /// The paper whose experiment it is.
    #[serde(default)]
    pub paper: Option<String>,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricInfo {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    #[serde(default)]
    pub better: Better,
    /// How it is found.
    #[serde(default)]
    pub kind: MetricKind,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less, as a cost.
    #[default]
    Less,
    /// More, as a throughput.
    More,
}

/// How a metric is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Counted: the same again each time.
    #[default]
    Exact,
    /// Sampled.
    Timed,
}

fn one() -> u32 {
    1
}

fn usual_time() -> Duration {
    Duration::from_secs(60)
}

/// The function with which a script begins.
pub(crate) const EXPERIMENT: Signature = Signature {
    name: "experiment",
    parameters: &[
        required("question", Kind::Text),
        optional("needs", Kind::List(&Kind::Text)),
        optional("kernels", Kind::Count),
        optional("time", Kind::Time),
        optional("measures", Kind::List(&Kind::Described(&["metric_info"]))),
        optional("paper", Kind::Text),
    ],
    rest: None,
    gives: Gives::Nothing,
    about: "what the experiment says about itself; its arguments are literals",
};

/// The function that describes a metric.
pub(crate) const METRIC_INFO: Signature = Signature {
    name: "metric_info",
    parameters: &[
        required("name", Kind::Text),
        required("unit", Kind::Text),
        optional("better", Kind::OneOf(&["less", "more"])),
        optional("kind", Kind::OneOf(&["exact", "timed"])),
    ],
    rest: None,
    gives: Gives::Nothing,
    about: "describes a metric",
};

const DECLARATION: Declaration = Declaration { function: &EXPERIMENT, descriptions: &[&METRIC_INFO] };

/// How to begin a script.
const BEGIN: &str = "begin the script with experiment(question = \"...\")";

impl Metadata {
    /// What the source of a script says about its experiment. Nothing of it is run.
    ///
    /// # Errors
    ///
    /// When it does not begin with `experiment(...)`, or this has other arguments than literals.
    pub fn read(source: Source) -> Result<Self, Problem> {
        Self::of(&Parsed::new(source)?)
    }

    /// The same of a script that was parsed.
    pub(crate) fn of(file: &Parsed) -> Result<Self, Problem> {
        let (call, arguments) = beginning(file)?;
        let metadata: Self = DECLARATION.read(file, call, arguments)?;
        metadata.check().map_err(|text| file.problem(call.span, text))?;
        Ok(metadata)
    }

    /// A metric that is declared.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&MetricInfo> {
        self.measures.iter().find(|metric| metric.name == name)
    }

    fn check(&self) -> Result<(), String> {
        if self.question.trim().is_empty() {
            return Err("the question of the experiment is empty".to_owned());
        }
        if self.kernels == 0 {
            return Err("an experiment takes at least one kernel".to_owned());
        }
        let twice =
            self.measures.iter().enumerate().find(|(index, metric)| {
                self.measures.iter().take(*index).any(|other| other.name == metric.name)
            });
        match twice {
            Some((_, metric)) => Err(format!("the metric {:?} is declared twice", metric.name)),
            None => Ok(()),
        }
    }
}

/// The call with which a script begins: after its description in words and its loads.
fn beginning(file: &Parsed) -> Result<(&AstExpr, &[AstArgument]), Problem> {
    let first = statements(file.statement())
        .into_iter()
        .find(|statement| !matches!(&statement.node, Stmt::Load(_)) && !is_docstring(statement));
    let Some(first) = first else {
        return Err(Problem::at(&file.source, 0, "the script is empty").help(BEGIN));
    };
    let Stmt::Expression(call) = &first.node else {
        return Err(file.problem(first.span, "this comes before experiment(...)").help(BEGIN));
    };
    match &call.node {
        Expr::Call(function, arguments) if is_named(function, EXPERIMENT.name) => Ok((call, &arguments.args)),
        _ => Err(file.problem(first.span, "this comes before experiment(...)").help(BEGIN)),
    }
}

/// The statements of a file.
pub(crate) fn statements(tree: &AstStmt) -> Vec<&AstStmt> {
    match &tree.node {
        Stmt::Statements(statements) => statements.iter().flat_map(statements_of).collect(),
        _ => vec![tree],
    }
}

fn statements_of(statement: &AstStmt) -> Vec<&AstStmt> {
    statements(statement)
}

/// Whether a statement only describes a file in words.
pub(crate) fn is_docstring(statement: &AstStmt) -> bool {
    let Stmt::Expression(expression) = &statement.node else { return false };
    matches!(literal(expression, &|_, _| None), Some(Data::Text(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Metadata, Problem> {
        Metadata::read(Source::new("experiment.star", text))
    }

    #[test]
    fn metadata_is_json_without_running_anything() {
        let text = r#"
"""What a lost packet costs."""
load("helper.star", "f")
experiment(
    question = "Does TCP survive?",
    needs = ["config=VIRTIO_NET"],
    kernels = 2,
    time = "2m",
    measures = [metric_info("throughput", unit = "Mbit/s", better = "more", kind = "timed")],
)
fail("never run")
"#;
        let json = serde_json::to_string(&read(text).unwrap()).unwrap();
        insta::assert_snapshot!("metadata", json);
        let again: Metadata = serde_json::from_str(&json).unwrap();
        assert_eq!(again, read(text).unwrap());
        let least = read("experiment(question = \"why?\")").unwrap();
        assert_eq!((least.kernels, least.time), (1, Duration::from_secs(60)));
    }

    #[test]
    fn errors_name_the_place_and_what_is_allowed() {
        let wrong = [
            "",
            "x = 1\nexperiment(question = \"a\")",
            "experiment(question = \"a\" + \"b\")",
            "experiment(\n    question = \"a\",\n    measure = [],\n)",
            "experiment(needs = [])",
            "experiment(question = \"a\", time = \"2x\")",
            "experiment(question = \"a\", measures = [metric_info(\"x\", unit = \"s\", better = \"mor\")])",
            "experiment(question = \"a\", measures = [metric_info(\"x\", \"s\"), metric_info(\"x\", \"s\")])",
            "experiment(question = \"a\", **x)",
            "experiment(question = \"\")",
            "experiment(question = \"a\", kernels = 0)",
        ];
        let said = wrong.map(|text| read(text).unwrap_err().to_string());
        insta::assert_snapshot!("metadata-errors", said.join("\n"));
    }
}
