//! The command line of an instrument as the question of a bisection.

use anyhow::{Error, Result};
use clap::Parser;

use crate::cli::{Cli, Verb};
use crate::failure::WrongUsage;
use crate::order::Order;
use crate::{latency, race, steal, stress};

/// The instruments that end with a verdict: the others only record, and a bisection asks for good or bad.
const WITH_VERDICT: [&str; 4] = ["latency", "race", "steal", "stress"];

/// Reads the command line of an instrument: `latency --interval 100us p99 > 200us`.
pub(super) fn read(text: &str) -> Result<Order> {
    let wrong = |why: String| Error::from(WrongUsage(format!("--instrument {text:?}: {why}")));
    let words = shlex::split(text).ok_or_else(|| wrong("a quote is not closed".to_owned()))?;
    let unknown = || wrong(format!("it begins with none of {}", WITH_VERDICT.join(", ")));
    if !words.first().is_some_and(|first| WITH_VERDICT.contains(&first.as_str())) {
        return Err(unknown());
    }
    let line = std::iter::once("kiln".to_owned()).chain(words);
    let verb = Cli::try_parse_from(line).map_err(|error| wrong(first_line(&error)))?.verb;
    let (order, place) = match &verb {
        Verb::Latency(args) => (latency::order(args), &args.place),
        Verb::Stress(args) => (stress::order(args), &args.place),
        Verb::Steal(args) => (steal::order(args), &args.place),
        Verb::Race(args) => (race::order(args), &args.place),
        _ => return Err(unknown()),
    };
    if !place.is_here() {
        return Err(wrong("the kernel and its machine are those of the bisection".to_owned()));
    }
    order.map_err(|error| wrong(error.to_string()))
}

/// The first line that clap prints of an error.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use protocol::Need;

    use super::*;

    #[test]
    fn the_command_line_of_an_instrument_is_a_program() {
        let order = read("latency --duration 2s --cpu 1 p99 > 200us").unwrap();
        let request = r#""fault":{"statistic":"p99","above-ns":200000}"#;
        assert_eq!(order.program().path.to_str(), Some("kiln:latency"));
        assert!(order.request.contains(request), "{}", order.request);
        assert_eq!((order.limit(), order.needs), (Duration::from_secs(32), vec![Need::Cpus(2)]));
        let race = read("race time/timerfd-settime --rounds 5").unwrap();
        assert!(race.request.contains("timerfd-settime"), "{}", race.request);
        let steal = read("steal --load timer:hz=100,busy=50us --max-steal 2% --no-trace").unwrap();
        assert_eq!(steal.instrument.name, "steal");
        let stress = read("stress vm=1,bytes=1m --verify -t 3s").unwrap();
        assert_eq!(stress.instrument.name, "stress");
    }

    #[test]
    fn what_is_no_instrument_is_wrong_usage() {
        for (text, why) in [
            ("", "begins with none of latency, "),
            ("'", "a quote is not closed"),
            ("run deb:latest", "begins with none of latency, "),
            ("count --events page-faults", "begins with none of latency, race, steal, stress"),
            ("latency p99", "\"p99\" is no condition"),
            ("latency --duratoin 2s", "unexpected argument '--duratoin' found"),
            ("latency --priority 100", "priority 100 of SCHED_FIFO: use 1 to 99"),
            ("latency --in deb:latest p99 > 1us", "are those of the bisection"),
            ("latency --memory 1G p99 > 1us", "are those of the bisection"),
            ("stress --list", "no stressor"),
            ("stress nothing", "nothing"),
            ("race", "`kiln race` lists them"),
            ("race fs/none", "fs/none"),
        ] {
            let error = read(text).unwrap_err().to_string();
            let begin = format!("--instrument {text:?}: ");
            assert!(error.starts_with(&begin) && error.contains(why) && !error.contains('\n'), "{error}");
        }
    }
}
