//! `kiln findings`: how the findings of static analysis in a tree came and went.

use std::sync::atomic::AtomicBool;

use ::check::trend::trend;
use anyhow::Result;
use ledger::CHECK;

use crate::cli::Findings;
use crate::failure::complain;
use crate::find::in_context;
use crate::listeners::standard_output;

/// Prints what earlier checks of a tree found and gives the exit code.
pub(crate) fn findings(args: &Findings) -> Result<u8> {
    let root = args.results.clone().unwrap_or_else(ledger::checks_root);
    // An interrupt simply ends a list.
    let never = AtomicBool::new(false);
    let repository = in_context(&never, |context| history::Repository::open(&args.tree, context))?;
    let steps = trend(repository.origin().as_ref(), ledger::documents(&root, CHECK));
    if steps.is_empty() {
        complain(&format!("no check of {} with static analysis in {}", args.tree.display(), root.display()));
        return Ok(0);
    }
    standard_output(|out| {
        if args.json { report::findings_json(&steps, out) } else { report::findings_table(&steps, out) }
    })?;
    Ok(0)
}
