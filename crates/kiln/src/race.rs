//! `kiln race`: two sections of code that shall collide.

use anyhow::Result;
use lab::suites::select::{RACES, select};
use machine::instruments;

use crate::cases::list;
use crate::cli::Race;
use crate::failure::WrongUsage;
use crate::instruments::{Call, run};

/// Runs a race, or lists all, and gives the exit code.
pub(crate) fn race(args: &Race) -> Result<u8> {
    let Some(name) = &args.name else { return list(&select(RACES, &[])?, args.json) };
    let chosen = select(RACES, std::slice::from_ref(name)).map_err(|error| WrongUsage(error.to_string()))?;
    let needs = chosen.iter().flat_map(|case| &case.needs).cloned();
    let limit = chosen.iter().map(|case| case.limit).max().unwrap_or_default();
    let title = name.clone();
    run(
        Call {
            instrument: &instruments::RACE,
            request: serde_json::to_string(&args.request(name))?,
            duration: args.limit.unwrap_or(limit),
            needs: needs.collect(),
            // Texts are cut as they are read, and all numbers are possible.
            validate: |_| Ok(()),
            progress: report::race::progress,
            text: Box::new(move |report| report::race::text(&title, report)),
            json: args.json,
        },
        &args.place,
    )
}
