//! `kiln race`: two sections of code that shall collide.

use anyhow::Result;
use lab::suites::select::{RACES, select};
use machine::instruments;

use crate::cases::list;
use crate::cli::Race;
use crate::failure::WrongUsage;
use crate::instruments::{Call, Json, run};
use crate::order::Order;

/// Runs a race, or lists all, and gives the exit code.
pub(crate) fn race(args: &Race) -> Result<u8> {
    let Some(title) = args.name.clone() else { return list(&select(RACES, &[])?, args.json) };
    run(
        Call {
            order: order(args)?,
            // Texts are cut as they are read, and all numbers are possible.
            validate: |_| Ok(()),
            complete: |_, _| Ok(()),
            progress: report::race::progress,
            text: Box::new(move |report| report::race::text(&title, report)),
            files: Vec::new(),
            json: args.json.then_some(report::json_line as Json<_>),
            live: false,
        },
        &args.place,
    )
}

/// What is asked.
pub(crate) fn order(args: &Race) -> Result<Order> {
    let name =
        args.name.as_ref().ok_or_else(|| WrongUsage("name a race; `kiln race` lists them".to_owned()))?;
    let chosen = select(RACES, std::slice::from_ref(name)).map_err(|error| WrongUsage(error.to_string()))?;
    let needs = chosen.iter().flat_map(|case| &case.needs).cloned();
    let limit = chosen.iter().map(|case| case.limit).max().unwrap_or_default();
    Ok(Order {
        instrument: &instruments::RACE,
        request: serde_json::to_string(&args.request(name))?,
        duration: args.limit.unwrap_or(limit),
        others: Vec::new(),
        needs: needs.collect(),
    })
}
