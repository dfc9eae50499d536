//! Points that one process of a case reaches and others wait for: in children, after exec, and in shell scripts.
//!
//! They are counted in the results page, so that nobody has to be there first and nobody has to sleep.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};

use crate::check::{Checked, broken};
use crate::page;

/// For words that processes share.
const SHARED: Flags = Flags::empty();

/// Wakes all that wait.
const EVERYBODY: u32 = i32::MAX.unsigned_abs();

/// Says that this process is at the checkpoint.
///
/// # Errors
///
/// When there is no results page, when all checkpoints have other names, and as futex(2) says.
pub fn reach(name: &str) -> Checked {
    let reached = found(name)?;
    reached.fetch_add(1, Ordering::AcqRel);
    futex::wake(reached, SHARED, EVERYBODY)?;
    Ok(())
}

/// Waits until the checkpoint has been reached `times` times; the time limit of the case ends a wait in vain.
///
/// # Errors
///
/// As [`reach`].
pub fn wait(name: &str, times: u32) -> Checked {
    let reached = found(name)?;
    loop {
        let now = reached.load(Ordering::Acquire);
        if now >= times {
            return Ok(());
        }
        match futex::wait(reached, SHARED, now, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => Err(error)?,
        }
    }
}

/// `kiln-checkpoint reach NAME` and `kiln-checkpoint wait NAME [TIMES]`: for scripts and programs in any language.
///
/// # Errors
///
/// What was wrong with the arguments, the page or the kernel.
pub fn command(arguments: &[String]) -> Result<(), String> {
    const USAGE: &str = "usage: kiln-checkpoint reach NAME | wait NAME [TIMES]";
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    page::adopt_from_environment()?;
    let done = match words[..] {
        ["reach", name] => reach(name),
        ["wait", name] => wait(name, 1),
        ["wait", name, times] => wait(name, times.parse().map_err(|_| USAGE)?),
        _ => return Err(USAGE.to_owned()),
    };
    done.map_err(|stop| stop.0.text)
}

fn found(name: &str) -> Checked<&'static AtomicU32> {
    let Some(page) = page::adopted() else { return broken("there is no results page to hold checkpoints") };
    match page.checkpoints().named(name) {
        Some(reached) => Ok(reached),
        None => broken(&format!("no room for the checkpoint {name}: use fewer names")),
    }
}
