//! What browsers had started, and what they can start.

use lab::request::words::call;
use maud::{Markup, html};
use report::html::{Page, section, text};
use report::safe;
use serde::Deserialize;

use super::{Failure, PATTERN_MAX, table};
use crate::jobs::{Job, State};

/// What a form of the page says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    verb: String,
    /// The kernel, the range of a bisection, or where kernels to watch come from.
    subject: String,
    suite: String,
    case: String,
}

/// What can be started: its verb, and what its subject is.
const VERBS: [(&str, &str, &str); 3] = [
    ("run", "kernel", "deb:latest-cloud"),
    ("bisect", "range", "deb:6.1.0-47-amd64..deb:6.1.0-56-amd64"),
    ("watch", "source", "deb:6.1.*"),
];

impl Wanted {
    /// The words of the call. None of them is an option but those that stand here.
    pub(crate) fn words(&self) -> Result<Vec<String>, Failure> {
        let known = VERBS.iter().find(|(verb, ..)| *verb == self.verb);
        let (verb, what, _) =
            known.ok_or_else(|| Failure::Wrong(format!("{:?} cannot be started", self.verb)))?;
        let mut words = vec![(*verb).to_owned(), word(what, &self.subject)?];
        if words[1].is_empty() {
            return Err(Failure::Wrong(format!("name a {what}")));
        }
        for (option, value) in [("suite", &self.suite), ("case", &self.case)] {
            let value = word(option, value)?;
            if !value.is_empty() {
                words.extend([format!("--{option}"), value]);
            }
        }
        Ok(words)
    }
}

fn word(what: &str, value: &str) -> Result<String, Failure> {
    let value = value.trim();
    let is_wrong = value.starts_with('-') || value.chars().any(char::is_control);
    if is_wrong || value.chars().count() > PATTERN_MAX {
        return Err(Failure::Wrong(format!("{value:?} is no {what}")));
    }
    Ok(value.to_owned())
}

/// The forms, and all calls, the newest first.
pub(crate) fn jobs(jobs: &[Job]) -> Page {
    let body = html! {
        header { h1 { "Started from here" } p.legend { "What runs ends with the server." } }
        main {
            (section("Start", &html! { @for (verb, what, example) in VERBS { (form(verb, what, example)) } }))
            (section("Started", &list(jobs)))
        }
    };
    Page { title: "Jobs".to_owned(), body }
}

fn form(verb: &str, what: &str, example: &str) -> Markup {
    html! {
        form.filter action="/jobs/start" method="post" {
            input type="hidden" name="verb" value=(verb);
            label { (what) input name="subject" required placeholder=(example); }
            label { "suite" input name="suite" placeholder="smoke"; }
            label { "case" input name="case" placeholder="pipe/*"; }
            button { "Start kiln " (verb) }
        }
    }
}

fn list(jobs: &[Job]) -> Markup {
    let rows = html! {
        @for job in jobs {
            tr {
                th scope="row" { code { (text(call(&job.words))) } }
                td { (state(job)) }
                td data-v=(job.started.as_second()) { (job.started.strftime("%Y-%m-%d %H:%M:%S")) }
                td { details { summary { "Output" } pre { (safe(&job.output())) } } }
            }
            "\n"
        }
    };
    html! { @if jobs.is_empty() { p { "Nothing." } } @else { (table(&["call", "state", "began", "output"], &rows)) } }
}

fn state(job: &Job) -> Markup {
    match job.state {
        State::Running => html! {
            "runs "
            form.stop action="/jobs/stop" method="post" {
                input type="hidden" name="id" value=(job.id);
                button { "Stop" }
            }
        },
        State::Stopping => html! { "stops" },
        State::Ended(Some(code)) => html! { "exit code " (code) },
        State::Ended(None) => html! { "killed" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_a_call_of_kiln_and_nothing_else() {
        let words = |verb: &str, subject: &str, suite: &str, case: &str| {
            let [verb, subject, suite, case] = [verb, subject, suite, case].map(str::to_owned);
            Wanted { verb, subject, suite, case }.words().map(|words| words.join(" "))
        };
        assert_eq!(words("run", " deb:latest ", "", "").as_deref(), Ok("run deb:latest"));
        assert_eq!(
            words("bisect", "a..b", "smoke", "p/*").as_deref(),
            Ok("bisect a..b --suite smoke --case p/*")
        );
        for (verb, subject, suite) in [
            ("shell", "deb:latest", ""),
            ("", "deb:latest", ""),
            ("run", "", ""),
            ("run", "--exec=/bin/sh", ""),
            ("run", "deb:latest", "--exec"),
            ("run", "a\nb", ""),
            ("run", &"x".repeat(PATTERN_MAX + 1), ""),
        ] {
            assert!(words(verb, subject, suite, "").is_err(), "{verb} {subject} {suite}");
        }
    }
}
