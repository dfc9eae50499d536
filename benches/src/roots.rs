//! What a root costs: the same program with kiln's own files, and in a user space of Debian's packages.

use anyhow::{Context, Result};
use tempfile::tempdir;

use crate::compiler::compile;
use crate::kiln::Kiln;
use crate::promise::Promise;
use crate::race::{Racer, race, table};

const SOURCE: &str = "int main(void) { return 0; }\n";

/// The root, which is made before anything is measured.
const ROOT: [&str; 2] = ["--root", "debian"];

/// Times and promises of both, in so many rounds.
pub(crate) fn measure(kiln: &Kiln, rounds: usize) -> Result<(String, Vec<Promise>)> {
    let directory = tempdir()?;
    let program = compile(directory.path(), "nothing", SOURCE, &["-static"])?;
    let bare = ["--exec", program.to_str().context("a path that is text")?];
    let rooted = [&bare[..], &ROOT].concat();
    kiln.run(&rooted)?;
    let mut racers = [
        Racer::new("a program, nothing kept", || kiln.run_afresh(&bare)),
        Racer::new("a program, its machine kept", || kiln.run(&bare)).times(5),
        Racer::new("a program in a root, no machine kept", || kiln.run_afresh(&rooted)),
        Racer::new("a program in a root, its machine kept", || kiln.run(&rooted)).times(5),
    ];
    race(&mut racers, rounds)?;
    let [fresh, kept, fresh_in_root, kept_in_root] = &racers;
    let promises =
        vec![Promise::ratio(kept_in_root, kept, Some(1.3)), Promise::ratio(fresh_in_root, fresh, Some(2.0))];
    Ok((table(&racers), promises))
}
