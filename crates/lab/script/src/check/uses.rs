//! Whether what the experiment declares is what the script does.

use starlark_syntax::syntax::ast::{ArgumentP, AstExpr, AstNoPayload, Expr};
use starlark_syntax::syntax::uniplate::Visit;

use crate::data::Data;
use crate::literal::literal;
use crate::metadata::Metadata;
use crate::nearest::suggestion;
use crate::problem::Problem;
use crate::steps::STEP;
use crate::syntax::Parsed;

/// What the files of a script do.
#[derive(Default)]
struct Uses {
    metrics: Vec<String>,
    /// A metric whose name only running the script can tell.
    has_other: bool,
    has_step: bool,
}

/// Adds problems between the declarations and their uses; the last file is the script.
pub(super) fn check(metadata: &Metadata, order: &[&Parsed], problems: &mut Vec<Problem>) {
    let mut uses = Uses::default();
    for file in order {
        search(metadata, file, &Visit::Stmt(file.statement()), &mut uses, problems);
    }
    let Some(script) = order.last() else { return };
    let at = script.source.text.find("experiment(").unwrap_or(0);
    if !uses.has_step {
        let problem = Problem::at(&script.source, at, "the script has no step");
        problems.push(problem.help("end it with step(function)"));
    }
    for metric in metadata.measures.iter().filter(|_| !uses.has_other) {
        if !uses.metrics.contains(&metric.name) {
            let text = format!("the metric {:?} is declared and never recorded", metric.name);
            let help = format!("record it: metric({:?}, value)", metric.name);
            problems.push(Problem::at(&script.source, at, text).help(help));
        }
    }
}

fn search(
    metadata: &Metadata,
    file: &Parsed,
    tree: &Visit<'_, AstNoPayload>,
    uses: &mut Uses,
    problems: &mut Vec<Problem>,
) {
    if let Visit::Expr(expression) = tree {
        problems.extend(note(metadata, file, expression, uses));
    }
    tree.visit_children(|child| search(metadata, file, &child, uses, problems));
}

fn note(metadata: &Metadata, file: &Parsed, expression: &AstExpr, uses: &mut Uses) -> Option<Problem> {
    let Expr::Call(function, arguments) = &expression.node else { return None };
    let Expr::Identifier(name) = &function.node else { return None };
    match name.node.ident.as_str() {
        STEP => uses.has_step = true,
        "metric" => {
            let first = arguments.args.first().map(|argument| &argument.node);
            let Some(ArgumentP::Positional(value) | ArgumentP::Named(_, value)) = first else { return None };
            let Some(Data::Text(metric)) = literal(value, &|_, _| None) else {
                uses.has_other = true;
                return None;
            };
            let problem = metadata.metric(&metric).is_none().then(|| undeclared(metadata, &metric));
            uses.metrics.push(metric);
            return problem.map(|(text, help)| file.problem(value.span, text).help(help));
        }
        _ => {}
    }
    None
}

fn undeclared(metadata: &Metadata, name: &str) -> (String, String) {
    let names = metadata.measures.iter().map(|metric| metric.name.as_str());
    let help = format!("{}; metrics are declared in measures of experiment(...)", suggestion(name, names));
    (format!("the experiment declares no metric {name:?}"), help)
}
