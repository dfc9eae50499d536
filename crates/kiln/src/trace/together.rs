//! Several traces on one axis.

use std::collections::HashMap;

use ctf::Trace;
use report::safe;
use transcode::{CLOCK_ERROR, CLOCK_OF};

use crate::failure::complain;

/// Traces, with a name for each.
pub(super) struct Together<'a> {
    pub(super) traces: Vec<&'a Trace>,
    pub(super) names: Vec<String>,
}

impl<'a> Together<'a> {
    /// Names them by their kernels, and reports how well their clocks are known if there are several.
    pub(super) fn new(traces: Vec<&'a Trace>) -> Self {
        let mut times = HashMap::new();
        let names = traces.iter().map(|trace| {
            let release = trace.metadata.environment.get("release").map_or("a kernel", String::as_str);
            let time = times.entry(release).or_insert(0_u32);
            *time += 1;
            if *time > 1 { format!("{release} ({time})") } else { release.to_owned() }
        });
        let names = names.collect();
        let together = Self { traces, names };
        if together.traces.len() > 1 {
            together.clocks().iter().for_each(|note| complain(note));
        }
        together
    }

    /// What the lines of a trace begin with.
    pub(super) fn prefix(&self, at: usize) -> Option<&str> {
        (self.traces.len() > 1).then(|| self.names[at].as_str())
    }

    fn clocks(&self) -> Vec<String> {
        let note = |(trace, name): (&&Trace, &String)| {
            let known = |key: &str| trace.metadata.environment.get(key).map(String::as_str);
            let whose = if known(CLOCK_OF).is_some() { "the host's" } else { "its own time of day" };
            let error: Option<u64> = known(CLOCK_ERROR).and_then(|error| error.parse().ok());
            let aligned =
                error.map(|error| format!("aligned within {} us with {whose}", error.div_ceil(1000)));
            format!("{}: clock {}", safe(name), aligned.as_deref().unwrap_or("of unknown error"))
        };
        self.traces.iter().zip(&self.names).map(note).collect()
    }
}
