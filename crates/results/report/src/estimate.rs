//! How long a session still takes.

use std::collections::BTreeMap;
use std::time::Duration;

use judge::Run;
use lab::event::Session;

use crate::safe::safe_line;
use crate::words::span;

/// Times below this are not worth telling.
const LEAST: Duration = Duration::from_secs(10);

/// A case that takes as long by itself is named.
const LONG: Duration = Duration::from_secs(60);

/// What is known about the time that cases take.
#[derive(Debug, Default)]
pub(crate) struct Estimate {
    /// Cases that have not finished, and how long each takes, where that is known.
    waiting: BTreeMap<String, Option<Duration>>,
    jobs: u32,
    ended: u32,
    /// What those that ended took.
    spent: Duration,
}

impl Estimate {
    pub(crate) fn plan(&mut self, session: &Session) {
        let expected = |case: &String| (case.clone(), session.expected.get(case).map(|time| time.0));
        self.waiting = session.cases.iter().map(expected).collect();
        self.jobs = u32::try_from(session.jobs).unwrap_or(u32::MAX);
    }

    pub(crate) fn finish(&mut self, run: &Run) {
        if self.waiting.remove(&run.case).is_some() && run.boot > 0 {
            self.ended += 1;
            self.spent += run.duration;
        }
    }

    /// What is left after `elapsed`, while cases have been running for so long; nothing where it is short or not known.
    pub(crate) fn left(&self, elapsed: Duration, running: &[(&str, Duration)]) -> Option<Duration> {
        let busy: Duration = running.iter().map(|(_, since)| *since).sum();
        let per_case = |time: Duration| time.checked_div(self.ended).unwrap_or_default();
        let mean = per_case(self.spent);
        // A clone, a boot, and what happens between two cases.
        let around = per_case((elapsed * self.jobs).saturating_sub(self.spent + busy));
        let is_known = self.ended > 0 || self.waiting.values().any(Option::is_some);
        let needs = |(case, expected): (&String, &Option<Duration>)| {
            let since =
                running.iter().find(|(name, _)| name == case).map_or(Duration::ZERO, |(_, since)| *since);
            (expected.unwrap_or(mean) + around).saturating_sub(since)
        };
        let total: Duration = self.waiting.iter().map(needs).sum();
        let longest = self.waiting.iter().map(needs).max()?;
        let left = total.checked_div(self.jobs)?.max(longest);
        (is_known && left >= LEAST).then_some(left)
    }

    /// What is said about the time before anything runs: `about 5 min 20 s, of which syscalls/bind06 takes 5 min 0 s`.
    pub(crate) fn planned(&self) -> Option<String> {
        let total = self.left(Duration::ZERO, &[])?;
        let longest = self.waiting.iter().filter_map(|(case, expected)| Some(((*expected)?, case))).max();
        let longest = longest.filter(|(time, _)| self.waiting.len() > 1 && *time >= LONG);
        let longest = longest.map(|(time, case)| format!(", {} alone takes {}", safe_line(case), span(time)));
        Some(format!("about {}{}", span(total), longest.unwrap_or_default()))
    }
}

#[cfg(test)]
impl Estimate {
    /// Of cases that take so many seconds.
    pub(crate) fn of(cases: &[(&str, u64)], jobs: u32) -> Self {
        let waiting =
            cases.iter().map(|(case, time)| ((*case).to_string(), Some(Duration::from_secs(*time))));
        Self { waiting: waiting.collect(), jobs, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn estimate(cases: &[(&str, Option<u64>)], jobs: u32) -> Estimate {
        let waiting = cases.iter().map(|(case, time)| ((*case).to_string(), time.map(seconds))).collect();
        Estimate { waiting, jobs, ..Estimate::default() }
    }

    #[test]
    fn no_session_is_shorter_than_its_longest_case() {
        let of = |jobs| estimate(&[("a", Some(300)), ("b", Some(20)), ("c", Some(40))], jobs);
        assert_eq!(of(1).left(Duration::ZERO, &[]), Some(seconds(360)));
        assert_eq!(of(2).left(Duration::ZERO, &[]), Some(seconds(300)));
        assert_eq!(of(2).left(seconds(50), &[("a", seconds(50)), ("b", seconds(5))]), Some(seconds(250)));
        assert_eq!(of(2).planned().unwrap(), "about 5 min 0 s, a alone takes 5 min 0 s");
        assert_eq!(estimate(&[("a", Some(40))], 2).planned().unwrap(), "about 40.0 s");
    }

    #[test]
    fn nothing_is_said_that_is_not_known_or_short() {
        assert_eq!(estimate(&[("a", None)], 2).planned(), None);
        assert_eq!(estimate(&[("a", Some(9))], 2).planned(), None);
        assert_eq!(estimate(&[("a", Some(90))], 0).planned(), None, "sessions of earlier versions");
        assert_eq!(estimate(&[], 2).planned(), None);
    }

    #[test]
    fn unknown_cases_take_what_others_took_with_what_is_around_them() {
        let mut estimate = estimate(&[("a", None), ("b", None), ("c", None)], 1);
        estimate.finish(&Run { case: "a".into(), boot: 1, duration: seconds(6), ..Run::unstarted() });
        assert_eq!(estimate.left(seconds(8), &[]), Some(seconds(16)));
        assert_eq!(estimate.left(seconds(9), &[("b", seconds(1))]), Some(seconds(15)));
    }
}
