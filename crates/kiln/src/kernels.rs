//! `kiln kernels`: what there is to run, and room for more.

use std::io::IsTerminal;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use kernel::catalogue::{Catalogue, Entry, State};
use kernel::{Locator, Store};
use lab::suites::select::Pattern;

use crate::cli::{Kernels, KernelsVerb, Prune};
use crate::failure::{WrongUsage, complain};
use crate::find::in_context;
use crate::listeners::standard_output;
use crate::{signals, terminal};
use judge::exit::BROKEN;

/// Lists kernels, or makes room, and gives the exit code.
pub(crate) fn kernels(args: &Kernels, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    match &args.verb {
        Some(KernelsVerb::Prune(args)) => prune(args, &interrupt),
        None => list(args, color, &interrupt),
    }
}

fn list(args: &Kernels, color: bool, interrupt: &AtomicBool) -> Result<u8> {
    let Catalogue { mut entries, notes } = in_context(interrupt, Catalogue::list);
    let states: Vec<State> = args.state.iter().map(|&name| name.into()).collect();
    entries.retain(|entry| states.is_empty() || states.contains(&entry.state));
    for note in &notes {
        complain(note);
    }
    if let Some(pattern) = &args.pattern {
        let compiled = Pattern::new(pattern);
        entries.retain(|entry| compiled.matches(&entry.locator));
        if entries.is_empty() {
            let text = format!("no kernel matches {pattern:?}: `kiln kernels` without it lists all");
            return Err(WrongUsage(text).into());
        }
    }
    let width = std::io::stdout().is_terminal().then(|| usize::from(terminal::size().1));
    standard_output(|out| match args.json {
        true => report::kernels_json(&entries, out),
        false => report::kernels_table(&entries, width, color, out),
    })?;
    Ok(0)
}

/// All that can be run at once.
pub(crate) fn offered() -> Vec<Entry> {
    // An interrupt simply ends a list.
    let never = AtomicBool::new(false);
    let Catalogue { mut entries, notes } = in_context(&never, Catalogue::list);
    notes.iter().for_each(|note| complain(note));
    entries.retain(|entry| entry.state != State::Source);
    entries
}

/// Those that were found to match a pattern, which must be some.
pub(crate) fn locators<'e>(
    pattern: &str,
    found: impl IntoIterator<Item = &'e Entry>,
) -> Result<Vec<Locator>> {
    let found: Vec<Locator> =
        found.into_iter().map(|entry| entry.locator.parse()).collect::<Result<_, _>>()?;
    if found.is_empty() {
        let text = format!("no kernel matches {pattern:?}: `kiln kernels` lists all");
        return Err(WrongUsage(text).into());
    }
    Ok(found)
}

fn prune(args: &Prune, interrupt: &AtomicBool) -> Result<u8> {
    let pruned = in_context(interrupt, |context| Store::prune(args.keep << 20, args.dry_run, context))?;
    standard_output(|out| match args.json {
        true => report::pruned_json(&pruned, args.dry_run, out),
        false => report::pruned_text(&pruned, args.dry_run, out),
    })?;
    for error in &pruned.failed {
        complain(&error.to_string());
    }
    Ok(if pruned.failed.is_empty() { 0 } else { BROKEN })
}
