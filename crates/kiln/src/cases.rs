//! `kiln cases`: what there is and what it needs.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use lab::Suite;
use lab::suites::external::ExternalCase;
use lab::suites::select::{MICRO, operations};
use protocol::catalogue::{Case, Operation};
use report::CaseInfo;

use crate::cli::{Cases, Choice};
use crate::find::waiting;
use crate::listeners::standard_output;

/// Lists cases and gives the exit code.
pub(crate) fn cases(args: &Cases) -> Result<u8> {
    let infos = match args.choice.suite.as_str() {
        MICRO => operations(&args.choice.case)?.into_iter().map(operation).collect(),
        _ => of_suite(&args.choice)?,
    };
    print(&infos, args.json)
}

/// Lists these cases of kiln's own and gives the exit code.
pub(crate) fn list(cases: &[&Case], json: bool) -> Result<u8> {
    print(&cases.iter().map(|case| own(case)).collect::<Vec<_>>(), json)
}

fn print(infos: &[CaseInfo], json: bool) -> Result<u8> {
    standard_output(
        |out| if json { report::cases_json(infos, out) } else { report::cases_table(infos, out) },
    )?;
    Ok(0)
}

fn of_suite(choice: &Choice) -> Result<Vec<CaseInfo>> {
    // An interrupt simply ends a list, and what is being built for it.
    let selection = choice.selection();
    let Some(chosen) = selection.check()? else { return Ok(Vec::new()) };
    let suite = waiting(&AtomicBool::new(false), |waiting| selection.suite(chosen, None, waiting))?;
    Ok(match &suite {
        Suite::Own { cases, .. } => cases.iter().map(|case| own(case)).collect(),
        Suite::External(suite) => suite.cases.iter().map(external).collect(),
    })
}

fn operation(operation: &Operation) -> CaseInfo {
    CaseInfo {
        name: operation.name.clone(),
        about: operation.about.clone(),
        needs: operation.needs.iter().map(ToString::to_string).collect(),
        limit: operation.limit,
    }
}

fn own(case: &Case) -> CaseInfo {
    CaseInfo {
        name: case.name.clone(),
        about: case.about.clone(),
        needs: case.needs.iter().map(ToString::to_string).collect(),
        limit: case.limit,
    }
}

fn external(case: &ExternalCase) -> CaseInfo {
    let (name, about) = (case.name.clone(), case.about.clone());
    CaseInfo { name, about, needs: Vec::new(), limit: case.limit }
}
