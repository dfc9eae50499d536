//! `kiln cases`: what there is and what it needs.

use anyhow::Result;
use lab::suite;
use report::CaseInfo;

use crate::cli::Cases;
use crate::listeners::standard_output;

/// Lists cases and gives the exit code.
pub(crate) fn cases(said: &Cases) -> Result<u8> {
    let cases = suite::select(&said.choice.suite, &said.choice.case)?;
    let infos: Vec<CaseInfo> = cases
        .into_iter()
        .map(|case| CaseInfo {
            name: case.name.to_string(),
            about: case.about.to_string(),
            needs: case.needs.iter().map(ToString::to_string).collect(),
            limit: case.limit,
        })
        .collect();
    standard_output(|out| {
        if said.json { report::cases_json(&infos, out) } else { report::cases_table(&infos, out) }
    })?;
    Ok(0)
}
