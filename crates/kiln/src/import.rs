//! `kiln import`: sessions of other hosts.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use judge::exit::BROKEN;
use kernel::News;
use ledger::{Budget, Imported};

use crate::cli::Import;
use crate::failure::WrongUsage;
use crate::listeners::print;
use crate::terminal::Progress;

/// Takes them in and gives the exit code.
pub(crate) fn import(args: &Import) -> Result<u8> {
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let mut progress = Progress::new();
    let name = args.file.display().to_string();
    let input = input(&args.file)?;
    let done = ledger::import(input, &root, &mut |session| {
        progress.tell(News::Step(&format!("importing {session}")));
    });
    let Imported { new, known, refused } = done.with_context(|| name)?;
    refused.iter().for_each(|refused| progress.note(refused));
    Budget::Sessions.make_room(&root).iter().for_each(|note| progress.note(note));
    drop(progress);
    let count = |count: usize| if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") };
    print(&format!("imported {}; {known} were here already\n", count(new.len())))?;
    Ok(if refused.is_empty() { 0 } else { BROKEN })
}

fn input(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|error| WrongUsage(format!("{}: {error}", path.display())))?;
    Ok(Box::new(BufReader::new(file)))
}
