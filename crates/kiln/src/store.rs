//! `kiln store`: what kiln keeps on the disk.

use anyhow::{Context, Result};
use judge::exit::BROKEN;
use kernel::{News, Store};
use ledger::{Budget, Evidence};
use report::store::{Part, json, table};

use crate::cli::{StoreArgs, StoreVerb};
use crate::listeners::{print, standard_output};
use crate::results::opened;
use crate::terminal::Progress;

/// Does what was asked and gives the exit code.
pub(crate) fn store(args: &StoreArgs, color: bool) -> Result<u8> {
    match &args.verb {
        None => usage(args.json, color),
        Some(StoreVerb::Usage { json }) => usage(*json, color),
        Some(StoreVerb::Verify) => verify(),
        Some(StoreVerb::Prune) => prune(),
    }
}

fn usage(as_json: bool, color: bool) -> Result<u8> {
    let root = ledger::default_root();
    let mut progress = Progress::new();
    progress.tell(News::Step("measuring"));
    let mut parts: Vec<Part> =
        Budget::ALL.into_iter().map(|budget| Part::of_results(&budget.usage())).collect();
    let evidence = Evidence::of(&root);
    parts.push(Part::of_evidence(&evidence.usage(), evidence.folder()));
    let folder = Store::default_dir();
    parts.extend(lab::backend::store().usage().iter().map(|usage| Part::of_cache(usage, &folder)));
    drop(progress);
    standard_output(|out| if as_json { json(&parts, out) } else { table(&parts, color, out) })?;
    Ok(0)
}

/// Looks at the database and reads all evidence again. What is damaged is gone then, so that nobody trusts it.
fn verify() -> Result<u8> {
    let root = ledger::default_root();
    let mut ledger = opened(&root)?;
    ledger.verify()?;
    let evidence = Evidence::of(&root);
    let mut progress = Progress::new();
    let mut read = |done, total| progress.tell(News::Step(&format!("reading evidence: {done} of {total}")));
    let faults = evidence.verify(&mut read).with_context(|| evidence.folder().display().to_string())?;
    drop(progress);
    for fault in ledger.notes.iter().chain(&faults) {
        print(&format!("{}\n", report::safe::safe_line(fault)))?;
    }
    let is_well = ledger.notes.is_empty() && faults.is_empty();
    let ledger::EvidenceUsage { files, sessions, .. } = evidence.usage();
    let well = if is_well { "all is as it was kept" } else { "what is damaged was removed or set aside" };
    print(&format!("{files} files of {sessions} sessions: {well}\n"))?;
    Ok(if is_well { 0 } else { BROKEN })
}

fn prune() -> Result<u8> {
    let evidence = Evidence::of(&ledger::default_root());
    let mut freed: u64 = Budget::ALL.into_iter().map(Budget::enforce).sum();
    freed += lab::backend::store().prune_aged();
    freed += evidence.prune().with_context(|| evidence.folder().display().to_string())?;
    print(&format!("freed {}\n", report::store::size(freed)))?;
    Ok(0)
}
