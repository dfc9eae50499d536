//! `kiln cases`: what there is and what it needs.

use std::sync::atomic::AtomicBool;

use agent::case::Case;
use anyhow::Result;
use lab::Suite;
use lab::suites::external::ExternalCase;
use report::CaseInfo;

use crate::cli::Cases;
use crate::listeners::standard_output;

/// Lists cases and gives the exit code.
pub(crate) fn cases(said: &Cases) -> Result<u8> {
    // An interrupt simply ends a list, and what is being built for it.
    let suite = said.choice.suite(said.choice.check()?, None, &AtomicBool::new(false))?;
    let infos: Vec<CaseInfo> = match &suite {
        Suite::Own { cases, .. } => cases.iter().map(|case| own(case)).collect(),
        Suite::External(suite) => suite.cases.iter().map(external).collect(),
    };
    standard_output(|out| {
        if said.json { report::cases_json(&infos, out) } else { report::cases_table(&infos, out) }
    })?;
    Ok(0)
}

fn own(case: &Case) -> CaseInfo {
    CaseInfo {
        name: case.name.to_string(),
        about: case.about.to_string(),
        needs: case.needs.iter().map(ToString::to_string).collect(),
        limit: case.limit,
    }
}

fn external(case: &ExternalCase) -> CaseInfo {
    let (name, about) = (case.name.clone(), case.about.clone());
    CaseInfo { name, about, needs: Vec::new(), limit: case.limit }
}
