//! What a matrix tests, as a file says it: calls of `plan(...)`, which are read without running anything.

use serde::Deserialize;
use starlark_syntax::syntax::ast::{Expr, Stmt};

use crate::declaration::{Declaration, is_named};
use crate::kind::Kind;
use crate::metadata::{is_docstring, statements};
use crate::problem::Problem;
use crate::signature::{Gives, Signature, optional};
use crate::source::Source;
use crate::syntax::Parsed;

/// Kernels, and all that is tested on each of them: every list is a dimension.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct MatrixPlan {
    /// Locators of kernels, or patterns for them.
    pub kernels: Vec<String>,
    /// Of those that match a pattern only these flavours, if any are named.
    pub flavours: Vec<String>,
    /// Sets of configurations, each separated by commas, for kernels that are source.
    pub configurations: Vec<String>,
    /// Sets of kernel parameters.
    pub parameters: Vec<String>,
    /// Machines.
    pub machines: Vec<PlannedMachine>,
    /// Suites.
    pub suites: Vec<String>,
    /// Patterns for names of cases; all cases without one.
    pub cases: Vec<String>,
}

/// A machine of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PlannedMachine {
    /// CPUs.
    pub cpus: Option<u32>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Devices besides.
    pub devices: Vec<String>,
    /// Kernel parameters that belong to it.
    pub append: Vec<String>,
}

const MACHINE: Signature = Signature {
    name: "machine",
    parameters: &[
        optional("cpus", Kind::Count),
        optional("memory", Kind::Size),
        optional("devices", Kind::List(&Kind::Text)),
        optional("append", Kind::List(&Kind::Text)),
    ],
    rest: None,
    gives: Gives::Nothing,
    about: "describes a machine",
};

const PLAN: Signature = Signature {
    name: "plan",
    parameters: &[
        optional("kernels", Kind::List(&Kind::Text)),
        optional("flavours", Kind::List(&Kind::Text)),
        optional("configurations", Kind::List(&Kind::Text)),
        optional("parameters", Kind::List(&Kind::Text)),
        optional("machines", Kind::List(&Kind::Described(&["machine"]))),
        optional("suites", Kind::List(&Kind::Text)),
        optional("cases", Kind::List(&Kind::Text)),
    ],
    rest: None,
    gives: Gives::Nothing,
    about: "says what a matrix tests",
};

const DECLARATION: Declaration = Declaration { function: &PLAN, descriptions: &[&MACHINE] };

/// What stands in a file.
const EXPECTED: &str =
    "a plan has calls such as plan(kernels = [\"deb:6.1.*\"], suites = [\"smoke\"]) and nothing else";

/// The plans of a file, in their order.
///
/// # Errors
///
/// When there is none, and when something else stands there.
pub fn plans(source: Source) -> Result<Vec<MatrixPlan>, Problem> {
    let file = Parsed::new(source)?;
    let mut plans = Vec::new();
    for statement in statements(file.statement()).into_iter().filter(|statement| !is_docstring(statement)) {
        let other = || file.problem(statement.span, "this is no plan(...)").help(EXPECTED);
        let Stmt::Expression(call) = &statement.node else { return Err(other()) };
        match &call.node {
            Expr::Call(function, arguments) if is_named(function, PLAN.name) => {
                plans.push(DECLARATION.read(&file, call, &arguments.args)?);
            }
            _ => return Err(other()),
        }
    }
    if plans.is_empty() {
        Err(Problem::at(&file.source, 0, "there is no plan").help(EXPECTED))
    } else {
        Ok(plans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<MatrixPlan>, Problem> {
        plans(Source::new("plan.star", text))
    }

    #[test]
    fn every_list_is_a_dimension() {
        let text = r#"
"""The stable kernels, each night."""
plan(
    kernels = ["deb:6.1.*", "~/linux"],
    flavours = ["cloud"],
    configurations = ["tiny", "boot,debug"],
    parameters = ["", "slub_debug=FZP"],
    machines = [machine(), machine(cpus = 2, memory = "2G", devices = ["iommu,intel"])],
    suites = ["smoke", "full"],
    cases = ["fs/*"],
)
plan(kernels = ["deb:6.12.*"])
"#;
        let plans = read(text).expect("a plan");
        assert_eq!(plans.len(), 2);
        assert_eq!((plans[0].kernels.len(), plans[0].suites.join(" ")), (2, "smoke full".to_owned()));
        let machine = PlannedMachine {
            cpus: Some(2),
            memory: Some(2 << 30),
            devices: vec!["iommu,intel".to_owned()],
            append: Vec::new(),
        };
        assert_eq!(plans[0].machines, [PlannedMachine::default(), machine]);
        assert_eq!(plans[1], MatrixPlan { kernels: vec!["deb:6.12.*".to_owned()], ..MatrixPlan::default() });
    }

    #[test]
    fn what_is_no_plan_is_shown_with_its_place() {
        for (text, line, message) in [
            ("", 1, "there is no plan"),
            ("plan()\nx = 1\n", 2, "this is no plan(...)"),
            ("experiment(question = \"a\")", 1, "this is no plan(...)"),
            ("plan(\n  suite = [],\n)", 2, "plan has no argument suite"),
            ("plan(suites = \"smoke\")", 1, "suites of plan expects"),
            ("plan(machines = [machine(cpu = 2)])", 1, "machine has no argument cpu"),
            ("plan(machines = [machine(memory = \"much\")])", 1, "memory of machine expects"),
            (
                "plan(kernels = [k for k in []])",
                1,
                "this is no literal, and plan is read without running the script",
            ),
            ("plan(**x)", 1, "plan takes no * and **"),
            ("plan(", 1, ""),
        ] {
            let said = read(text).expect_err(text).to_string();
            assert!(
                said.starts_with(&format!("plan.star:{line}:")) && said.contains(message),
                "{text}: {said}"
            );
        }
    }
}
