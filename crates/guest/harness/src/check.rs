//! How a case checks and reports.
//!
//! Every check that holds counts one `pass`. The first that does not hold ends the case, and so does
//! any error that the body passes on with `?`: what the author did not explicitly allow is a failure.

use std::fmt::Debug;
use std::panic::Location;

use protocol::{Report, ReportKind};
use rustix::io::Errno;

pub use crate::errno::{describe, name};
use crate::page;
use crate::plain::plain;

/// What a body, a set-up or a clean-up returns.
pub type Checked<T = ()> = Result<T, Stop>;

/// Why a body ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop(pub Report);

impl Stop {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn fail(text: &str) -> Self {
        let at = Location::caller();
        // The crate and its module are enough to find it.
        let file = at.file().rsplit("guest/").next().unwrap_or_default().replacen("/src/", "/", 1);
        Self(Report { kind: ReportKind::Fail, text: format!("{text} ({file}:{})", at.line()) })
    }
}

/// The kernel refused something that the author did not expect it to refuse.
impl From<Errno> for Stop {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn from(error: Errno) -> Self {
        Self::fail(&format!("unexpected {}", describe(error)))
    }
}

impl From<std::io::Error> for Stop {
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn from(error: std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(code) => Errno::from_raw_os_error(code).into(),
            None => Self::fail(&format!("unexpected error: {error}")),
        }
    }
}

/// `condition` must be true.
///
/// # Errors
///
/// When it is false.
#[track_caller]
pub fn holds(what: &str, condition: bool) -> Checked {
    if !condition {
        return Err(Stop::fail(&format!("{what}: does not hold")));
    }
    pass();
    Ok(())
}

/// `actual` must be `expected`.
///
/// # Errors
///
/// When it is not.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "checks read better without references")]
pub fn equal<A: Debug + PartialEq<B>, B: Debug>(what: &str, actual: A, expected: B) -> Checked {
    if actual != expected {
        return Err(Stop::fail(&format!("{what}: is {}, expected {}", plain(&actual), plain(&expected))));
    }
    pass();
    Ok(())
}

/// `actual` must be `minimum` or more.
///
/// # Errors
///
/// When it is less.
#[track_caller]
pub fn at_least<T: Debug + PartialOrd + Copy>(what: &str, actual: T, minimum: T) -> Checked {
    if actual < minimum {
        return Err(Stop::fail(&format!(
            "{what}: is {}, expected {} or more",
            plain(&actual),
            plain(&minimum)
        )));
    }
    pass();
    Ok(())
}

/// `result` must be the error `expected`.
///
/// # Errors
///
/// When it is a success or another error.
#[track_caller]
pub fn fails<T, E: Into<Refusal>>(what: &str, result: Result<T, E>, expected: Errno) -> Checked {
    let expected_name = name(expected);
    match result.map_err(Into::into) {
        Err(Refusal(Some(error))) if error == expected => {
            pass();
            Ok(())
        }
        Err(Refusal(Some(error))) => {
            Err(Stop::fail(&format!("{what}: {}, expected {expected_name}", describe(error))))
        }
        Err(Refusal(None)) => {
            Err(Stop::fail(&format!("{what}: failed without errno, expected {expected_name}")))
        }
        Ok(_) => Err(Stop::fail(&format!("{what}: succeeded, expected {expected_name}"))),
    }
}

/// An error as the kernel gave it.
#[derive(Debug)]
pub struct Refusal(Option<Errno>);

impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        Refusal(Some(error))
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Refusal(error.raw_os_error().map(Errno::from_raw_os_error))
    }
}

/// Ends the case as failed.
///
/// # Errors
///
/// Always.
#[track_caller]
pub fn fail<T>(text: &str) -> Checked<T> {
    Err(Stop::fail(text))
}

/// Ends the work as failed by a program that is not ours: a place in our own source would mislead.
///
/// # Errors
///
/// Always.
pub fn program_failed<T>(text: &str) -> Checked<T> {
    Err(Stop(Report { kind: ReportKind::Fail, text: text.to_string() }))
}

/// Ends the case as skipped: what it needs is not there.
///
/// # Errors
///
/// Always.
pub fn skip<T>(why: &str) -> Checked<T> {
    Err(Stop(Report { kind: ReportKind::Skip, text: why.to_string() }))
}

/// Ends the case as broken: its own set-up failed, which says nothing about the kernel.
///
/// # Errors
///
/// Always.
pub fn broken<T>(why: &str) -> Checked<T> {
    Err(Stop(Report { kind: ReportKind::Broken, text: why.to_string() }))
}

/// Counts a check that held.
pub fn pass() {
    page::report(ReportKind::Pass, "");
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::Pid;

    fn refused() -> Checked {
        Err(Errno::INVAL)?;
        Ok(())
    }

    #[test]
    fn an_error_passed_on_names_its_line() {
        let Stop(report) = refused().expect_err("it was refused");
        assert_eq!(report.kind, ReportKind::Fail);
        assert!(
            report.text.starts_with("unexpected EINVAL (Invalid argument) (harness/check.rs:"),
            "{}",
            report.text
        );
    }

    #[test]
    fn a_difference_shows_both_values() {
        let Stop(report) = equal("sum", 1 + 1, 3).expect_err("they differ");
        assert!(report.text.starts_with("sum: is 2, expected 3 (harness/check.rs:"), "{}", report.text);
        let Stop(report) = equal("parent", Some(Pid::INIT), None).expect_err("they differ");
        assert!(report.text.starts_with("parent: is 1, expected nothing ("), "{}", report.text);
    }

    #[test]
    fn another_error_than_the_expected_one_is_a_failure() {
        let Stop(report) = fails("call", Err::<(), _>(Errno::PERM), Errno::INVAL).expect_err("another error");
        assert!(
            report.text.starts_with("call: EPERM (Operation not permitted), expected EINVAL"),
            "{}",
            report.text
        );
        assert_eq!(fails("call", Err::<(), _>(Errno::INVAL), Errno::INVAL), Ok(()));
    }
}
