//! The instruments that kiln carries: static programs that run on this host and in machines alike.
//!
//! * [`here`]: one on this host; [`recorder`]: one that records beside what kiln runs

mod here;
pub mod recorder;

use std::path::{Path, PathBuf};

use protocol::instrument::{SCHEME, scheme};

pub use recorder::Recorder;

/// A program that loads or measures a kernel: [`protocol::instrument`].
#[derive(Debug, Clone, Copy)]
pub struct Instrument {
    /// Its name.
    pub name: &'static str,
    /// Its bytes.
    pub content: &'static [u8],
}

/// How often events happen: [`protocol::count`].
pub static COUNT: Instrument = Instrument { name: "count", content: include_bytes!(env!("KILN_COUNT")) };

/// How late the kernel wakes a thread: [`protocol::latency`].
pub static LATENCY: Instrument =
    Instrument { name: "latency", content: include_bytes!(env!("KILN_LATENCY")) };

/// What looks into the kernel: [`protocol::probe`].
pub static PROBE: Instrument = Instrument { name: "probe", content: include_bytes!(env!("KILN_PROBE")) };

/// Collisions of two threads: [`protocol::race`].
pub static RACE: Instrument = Instrument { name: "race", content: include_bytes!(env!("KILN_RACE")) };

/// Where programs and the kernel are: [`protocol::sample`].
pub static SAMPLE: Instrument = Instrument { name: "sample", content: include_bytes!(env!("KILN_SAMPLE")) };

/// How much of a CPU a workload really gets: [`protocol::steal`].
pub static STEAL: Instrument = Instrument { name: "steal", content: include_bytes!(env!("KILN_STEAL")) };

/// Loads that verify what the kernel does: [`protocol::stress`].
pub static STRESS: Instrument = Instrument { name: "stress", content: include_bytes!(env!("KILN_STRESS")) };

/// Latencies under many settings: [`protocol::sweep`].
pub static SWEEP: Instrument = Instrument { name: "sweep", content: include_bytes!(env!("KILN_SWEEP")) };

/// What the kernel does: [`protocol::trace`].
pub static TRACE: Instrument = Instrument { name: "trace", content: include_bytes!(env!("KILN_TRACE")) };

/// All of them.
pub static ALL: [&Instrument; 9] =
    [&COUNT, &LATENCY, &PROBE, &RACE, &SAMPLE, &STEAL, &STRESS, &SWEEP, &TRACE];

impl Instrument {
    /// The path that names it where a program of the host is asked for.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(scheme(self.name))
    }
}

/// Whether a path names an instrument and no file.
#[must_use]
pub fn is_named(path: &Path) -> bool {
    name(path).is_some()
}

/// The instrument that a path names; nothing if it names a file.
///
/// # Errors
///
/// When there is no instrument of that name.
pub(crate) fn named(path: &Path) -> Result<Option<&'static Instrument>, String> {
    let Some(name) = name(path) else { return Ok(None) };
    let found = ALL.into_iter().find(|instrument| instrument.name == name);
    found.map(Some).ok_or_else(|| {
        format!("kiln has no such instrument: it has {}", ALL.map(|instrument| instrument.name).join(", "))
    })
}

fn name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix(SCHEME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;

    #[test]
    fn each_is_a_program_that_needs_nothing_of_the_host() {
        for instrument in ALL {
            let program = Program::load(&instrument.path()).expect("it is carried");
            assert_eq!(program.content, instrument.content);
            assert!(program.libraries.is_empty(), "{}", instrument.name);
        }
        let wrong = Program::load(Path::new("kiln:latenzy")).unwrap_err().to_string();
        assert_eq!(
            wrong,
            "kiln:latenzy: kiln has no such instrument: it has count, latency, probe, race, sample, steal, stress, sweep, trace"
        );
    }
}
