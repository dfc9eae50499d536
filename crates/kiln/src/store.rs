//! `kiln store`: what kiln keeps on the disk.

use anyhow::Result;
use judge::exit::BROKEN;
use kernel::{News, Store};
use ledger::Budget;
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

fn cache() -> Store {
    Store::new(Store::default_dir())
}

fn usage(as_json: bool, color: bool) -> Result<u8> {
    let root = ledger::default_root();
    let mut progress = Progress::new();
    progress.tell(News::Step("measuring"));
    let mut parts: Vec<Part> =
        Budget::ALL.into_iter().map(|budget| Part::of_results(&budget.usage())).collect();
    let evidence = opened(&root)?.evidence()?;
    parts.push(Part::of_evidence(&evidence, &ledger::evidence_folder(&root)));
    let folder = Store::default_dir();
    parts.extend(cache().usage().iter().map(|usage| Part::of_cache(usage, &folder)));
    drop(progress);
    standard_output(|out| if as_json { json(&parts, out) } else { table(&parts, color, out) })?;
    Ok(0)
}

/// Reads all evidence again. What is damaged is gone then, so that nobody trusts it.
fn verify() -> Result<u8> {
    let root = ledger::default_root();
    let mut ledger = opened(&root)?;
    let mut progress = Progress::new();
    let mut read = |done, total| progress.tell(News::Step(&format!("reading evidence: {done} of {total}")));
    let damaged = ledger.verify_evidence(&mut read)?;
    drop(progress);
    let evidence = ledger.evidence()?;
    ledger.notes.iter().try_for_each(|note| print(&format!("{}\n", report::safe(note))))?;
    for name in &damaged {
        print(&format!("damaged and removed: {}\n", ledger::evidence_folder(&root).join(name).display()))?;
    }
    print(&format!("{} files of {} sessions are as they were kept\n", evidence.files, evidence.sessions))?;
    Ok(if damaged.is_empty() && ledger.notes.is_empty() { 0 } else { BROKEN })
}

fn prune() -> Result<u8> {
    let mut freed: u64 = Budget::ALL.into_iter().map(Budget::enforce).sum();
    freed += opened(&ledger::default_root())?.prune_evidence()?;
    freed += cache().prune_aged();
    print(&format!("freed {}\n", report::store::size(freed)))?;
    Ok(0)
}
