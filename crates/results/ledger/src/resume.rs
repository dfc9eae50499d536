//! What an interrupted session has done already.

use std::path::Path;

use judge::{Outcome, Run};
use lab::event::Session;
use lab::{Repeats, Request};

use crate::past::{Past, sessions};

/// Runs that need not be made again.
#[derive(Debug)]
pub struct Resumed {
    /// The Runs.
    pub finished: Vec<Run>,
    /// A line about them.
    pub note: String,
}

/// Runs of the last session like `session` below `root` that need not be made again.
#[must_use]
pub fn resume(root: &Path, session: &Session, repeats: Repeats) -> Resumed {
    let nothing = |note: String| Resumed { finished: Vec::new(), note };
    let like = |past: Past| {
        let earlier = past.session().ok().filter(|earlier| earlier.origin.is_none())?;
        let is_like = (&earlier.identity, &earlier.machine, &earlier.suite, &earlier.cases, needs(&earlier))
            == (&session.identity, &session.machine, &session.suite, &session.cases, needs(session));
        is_like.then_some((past, earlier.content))
    };
    let Some((past, content)) = sessions(root).into_iter().find_map(like) else {
        return nothing(
            "nothing to resume: no earlier session has this kernel, machine, cases and needs".to_string(),
        );
    };
    if content != session.content {
        let name = past.name();
        let changed = match session.request.as_ref() {
            Some(request) if request.machine().shows_host_files() => {
                "had a root of this host's files, which may have changed"
            }
            _ => "ran another program, suite, root or agent",
        };
        return nothing(format!("nothing to resume: session {name} {changed}"));
    }
    let is_case = |run: &Run| !run.is_boot && session.cases.contains(&run.case);
    let is_done = |run: &Run| is_case(run) && run.is_final() && is_often_enough(run, repeats);
    let finished: Vec<Run> = past.runs().into_iter().filter(is_done).collect();
    let note =
        format!("{} of {} cases are taken from session {}", finished.len(), session.cases.len(), past.name());
    Resumed { finished, note }
}

/// What the cases of a session needed besides what they need themselves; nothing is known of sessions without a request.
fn needs(session: &Session) -> Option<Vec<String>> {
    match session.request.as_ref()? {
        Request::Run(request) => Some(request.all_needs().iter().map(ToString::to_string).collect()),
        Request::Kunit(_) | Request::Experiment(_) => None,
    }
}

/// Whether the case was run as often as is asked for now; the earlier session may have been interrupted.
fn is_often_enough(run: &Run, repeats: Repeats) -> bool {
    let made = u32::try_from(run.repeats.len()).unwrap_or(u32::MAX).max(1);
    match repeats {
        Repeats::OnFailure(_) => true,
        _ if run.outcome == Outcome::Skip => true,
        Repeats::Times(times) => made >= times,
        Repeats::UntilFailure(most) => run.outcome != Outcome::Pass || most.is_some_and(|most| made >= most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::tests::{keep_session, session};
    use judge::run::Repeat;
    use protocol::Need;
    use std::time::Duration;

    #[test]
    fn only_a_session_with_the_same_needs_is_resumed() {
        let with = |locator: &str, needs: &[Need]| {
            let request = r#"{"version": 1, "kernel": {"locator": "host"},
                              "cases": {"suite": {"suite": "smoke", "patterns": []}}}"#;
            let mut request: lab::RunRequest = serde_json::from_str(request).expect("a request");
            request.needs = needs.iter().map(Need::owned).collect();
            let cases = vec!["a".to_string()];
            Session { cases, request: Some(Request::Run(Box::new(request))), ..session(locator) }
        };
        let root = tempfile::tempdir().expect("a directory");
        let needs = [Need::Module("loop")];
        keep_session(root.path(), with("2026", &needs), &[("a", Outcome::Pass)], Some(true));
        let resumed = |needs| resume(root.path(), &with("2027", needs), Repeats::Times(1)).finished.len();
        assert_eq!(resumed(&needs), 1);
        assert_eq!(resumed(&[]), 0);
        assert_eq!(resumed(&[Need::Module("loop"), Need::Cpus(2)]), 0);
    }

    #[test]
    fn a_case_that_was_interrupted_on_its_way_is_missing() {
        let run = |outcome, count| {
            let repeat = Repeat {
                outcome,
                reason: String::new(),
                duration: Duration::ZERO,
                boot: 1,
                clone: 1,
                seed: 1,
            };
            Run { outcome, repeats: vec![repeat; count], ..Run::unstarted() }
        };
        let (pass, fail) = (|count| run(Outcome::Pass, count), |count| run(Outcome::Fail, count));
        assert!(
            is_often_enough(&pass(0), Repeats::OnFailure(3))
                && is_often_enough(&fail(1), Repeats::OnFailure(3))
        );
        assert!(
            !is_often_enough(&pass(7), Repeats::Times(20)) && is_often_enough(&pass(20), Repeats::Times(20))
        );
        assert!(is_often_enough(&pass(0), Repeats::Times(1)));
        assert!(!is_often_enough(&pass(7), Repeats::UntilFailure(None)));
        assert!(is_often_enough(&pass(7), Repeats::UntilFailure(Some(7))));
        assert!(is_often_enough(&fail(7), Repeats::UntilFailure(None)));
        assert!(is_often_enough(&run(Outcome::Skip, 0), Repeats::Times(20)));
    }
}
