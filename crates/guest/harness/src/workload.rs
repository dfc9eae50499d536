//! What an instrument looks at, while it runs.

use std::time::Duration;

use protocol::Report;
use protocol::workload::Workload;
use rustix::process::Pid;

use crate::clock::monotonic;
use crate::instrument::broken;
use crate::program::{End, Program};
use crate::signals::{Signals, Woken};

/// How often what is known so far is told.
const TOLD: Duration = Duration::from_secs(1);

/// How it ended.
#[derive(Debug)]
pub struct Over {
    /// How long it ran.
    pub elapsed: Duration,
    /// How the program ended, if there was one.
    pub end: Option<End>,
}

impl Over {
    /// The exit status of the program, if it had one.
    #[must_use]
    pub fn status(&self) -> Option<u8> {
        self.end.as_ref()?.code()
    }

    /// The signal that ended the program, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<u8> {
        self.end.as_ref()?.signal()
    }
}

/// Lets a workload run: `begin` is called when its program is there but has executed nothing yet; `look` at least once in each `period` and
/// once at the end, with the time since the start; `tell` after it once in each second.
///
/// # Errors
///
/// `skip` if there is no such program; what `begin` or `look` says.
pub fn run<T>(
    workload: &Workload,
    period: Duration,
    begin: impl FnOnce(Option<Pid>) -> Result<T, Report>,
    mut look: impl FnMut(&mut T, Duration) -> Result<(), Report>,
    mut tell: impl FnMut(&mut T, Duration),
) -> Result<(T, Over), Report> {
    let mut told = Duration::ZERO;
    let mut look = |begun: &mut T, now: Duration| {
        look(begun, now)?;
        if now.saturating_sub(told) >= TOLD {
            told = now;
            tell(begun, now);
        }
        Ok(())
    };
    let signals = Signals::block().map_err(|error| broken(format!("sigprocmask: {error}")))?;
    let limit = workload.duration_ms.map(Duration::from_millis);
    if workload.command.is_empty() {
        return wait(begin(None)?, limit.unwrap_or_default(), period, &signals, look);
    }
    let mut begun = None;
    let watch = |process| {
        begun = Some(begin(Some(process))?);
        Ok(())
    };
    let program = Program::start(&workload.command, || Ok(()), watch)?;
    let mut begun = begun.ok_or_else(|| broken("nothing was watched"))?;
    let end = program.wait(limit, period, &signals, &mut |now| look(&mut begun, now))?;
    let elapsed = Duration::from_nanos(end.elapsed_ns);
    look(&mut begun, elapsed)?;
    Ok((begun, Over { elapsed, end: Some(end) }))
}

/// Looks at everything for a time, or until a signal asks for the end.
fn wait<T>(
    mut begun: T,
    limit: Duration,
    period: Duration,
    signals: &Signals,
    mut look: impl FnMut(&mut T, Duration) -> Result<(), Report>,
) -> Result<(T, Over), Report> {
    let begin = monotonic();
    loop {
        let now = Duration::from_nanos(monotonic() - begin);
        look(&mut begun, now)?;
        if now >= limit || signals.wait(period.min(limit - now)) == Woken::Interrupted {
            let elapsed = Duration::from_nanos(monotonic() - begin);
            look(&mut begun, elapsed)?;
            return Ok((begun, Over { elapsed, end: None }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(workload: &Workload) -> (usize, Over) {
        let begin = |_| Ok(0);
        let look = |times: &mut usize, _| {
            *times += 1;
            Ok(())
        };
        run(workload, Duration::from_millis(5), begin, look, |_, _| {}).expect("it runs")
    }

    #[test]
    fn it_is_looked_at_until_its_program_or_its_time_ends() {
        let program =
            Workload { command: ["sh", "-c", "exit 3"].map(str::to_owned).to_vec(), ..Workload::default() };
        let (looked, over) = times(&program);
        assert!(looked > 0);
        assert_eq!((over.status(), over.signal()), (Some(3), None));
        let (looked, over) = times(&Workload { duration_ms: Some(20), ..Workload::default() });
        assert!(looked > 1 && over.end.is_none() && over.elapsed >= Duration::from_millis(20));
    }

    #[test]
    fn who_begins_may_refuse() {
        let program = Workload { command: vec!["true".to_owned()], ..Workload::default() };
        let refused =
            run(&program, Duration::ZERO, |_| Err::<(), _>(broken("no")), |(), _| Ok(()), |(), _| {});
        assert_eq!(refused.expect_err("it is refused").text, "no");
    }
}
