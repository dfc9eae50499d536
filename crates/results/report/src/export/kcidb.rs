//! Sessions as KernelCI's database takes them: KCIDB I/O schema 5.3, <https://github.com/kernelci/kcidb-io>.
//!
//! A kernel is a checkout and a build, a Run is a test, and failures that are alike are one issue, of which each is an incident.
//! The same session gives the same identifiers wherever and whenever it is exported.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use judge::run::{BOOT, Run};
use judge::{Accused, Blame, Outcome};
use lab::Request;
use lab::event::{Origin, Session};
use lab::request::Selection;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::evidence;
use crate::json::document;
use crate::safe::safe_line;
use crate::words::why;

/// Most characters of `log_excerpt`.
const EXCERPT_MAX: usize = 16_384;

/// Lines of evidence; what is too long loses its beginning.
const LINES: usize = 200;

/// Digits of a commit.
const COMMIT: usize = 40;

/// A submission.
#[derive(Debug)]
pub struct Kcidb {
    /// Who submits it.
    origin: String,
    checkouts: BTreeMap<String, Checkout>,
    builds: BTreeMap<String, Build>,
    tests: Vec<Test>,
    issues: BTreeMap<String, Issue>,
    incidents: Vec<Incident>,
}

#[derive(Debug, Serialize)]
struct Checkout {
    id: String,
    origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit_hash: Option<String>,
    patchset_hash: &'static str,
    comment: String,
    valid: bool,
}

#[derive(Debug, Serialize)]
struct Build {
    id: String,
    origin: String,
    checkout_id: String,
    status: Status,
    comment: String,
    misc: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct Test {
    id: String,
    origin: String,
    build_id: String,
    path: String,
    status: Status,
    start_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<f64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    log_excerpt: String,
    environment: Environment,
    misc: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct Environment {
    comment: String,
}

#[derive(Debug, Serialize)]
struct Issue {
    id: String,
    version: u32,
    origin: String,
    report_subject: String,
    culprit: Culprit,
    comment: String,
}

#[derive(Debug, Serialize)]
struct Culprit {
    code: bool,
    tool: bool,
    harness: bool,
}

#[derive(Debug, Serialize)]
struct Incident {
    id: String,
    origin: String,
    issue_id: String,
    issue_version: u32,
    test_id: String,
    present: bool,
}

/// Of whom a test speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Pass,
    /// The kernel is at fault.
    Fail,
    Skip,
    /// The test is.
    Error,
    /// What runs it is.
    Miss,
}

/// Whether KCIDB takes this for the name of whoever submits.
#[must_use]
pub fn is_origin(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

impl Kcidb {
    /// A submission of this origin, a name that [`is_origin`].
    #[must_use]
    pub fn new(origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            checkouts: BTreeMap::new(),
            builds: BTreeMap::new(),
            tests: Vec::new(),
            issues: BTreeMap::new(),
            incidents: Vec::new(),
        }
    }

    /// Adds a session and its Runs.
    pub fn add(&mut self, from: &Origin, session: &Session, runs: &[Run]) {
        let build = self.build(session);
        let has_booted = runs.iter().any(|run| run.boot > 0 && !run.is_boot);
        if has_booted && !runs.iter().any(|run| run.is_boot) {
            // Only a boot that went badly leaves a Run.
            let boot = Run { case: BOOT.into(), is_boot: true, outcome: Outcome::Pass, ..Run::unstarted() };
            self.test((from, session, &build), &boot, None);
        }
        for run in runs {
            self.test((from, session, &build), run, Some(run.duration.as_secs_f64()));
        }
    }

    /// The build of a session's kernel, with its checkout.
    fn build(&mut self, session: &Session) -> String {
        let kernel = if session.kernel.is_empty() { &session.locator } else { &session.kernel };
        let checkout = self.id("ck", &[&session.provenance]);
        let id = self.id("b", &[&session.provenance, kernel]);
        let comment = safe_line(&session.provenance);
        self.checkouts.entry(checkout.clone()).or_insert_with(|| Checkout {
            id: checkout.clone(),
            origin: self.origin.clone(),
            git_commit_hash: commit(session),
            patchset_hash: "",
            comment: comment.clone(),
            valid: true,
        });
        let misc = [("locator", kernel), ("release", session.release.as_ref().unwrap_or(&session.locator))];
        self.builds.entry(id.clone()).or_insert_with(|| Build {
            id: id.clone(),
            origin: self.origin.clone(),
            checkout_id: checkout,
            status: Status::Pass,
            comment,
            misc: misc.into_iter().map(|(name, value)| (name.to_owned(), safe_line(value).into())).collect(),
        });
        id
    }

    /// Adds a Run of a session on this build.
    fn test(&mut self, (from, session, build): (&Origin, &Session, &str), run: &Run, duration: Option<f64>) {
        let kind = if run.is_boot { "boot" } else { "case" };
        let id = self.id("t", &[&from.host, &from.session, kind, &run.case]);
        self.tests.push(Test {
            id: id.clone(),
            origin: self.origin.clone(),
            build_id: build.to_owned(),
            path: path(session, run),
            status: status(run),
            start_time: session.started.to_string(),
            duration,
            log_excerpt: excerpt(run),
            environment: Environment { comment: safe_line(&session.machine) },
            misc: misc(from, run),
        });
        if let Some(signature) = run.signature() {
            self.incident(&signature, run, id);
        }
    }

    fn incident(&mut self, signature: &str, run: &Run, test_id: String) {
        let issue = self.id("i", &[signature]);
        let is_program = run.accused == Some(Accused::Program);
        self.issues.entry(issue.clone()).or_insert_with(|| Issue {
            id: issue.clone(),
            version: 0,
            origin: self.origin.clone(),
            report_subject: why(run),
            culprit: Culprit { code: !is_program, tool: is_program, harness: false },
            comment: safe_line(signature),
        });
        self.incidents.push(Incident {
            id: self.id("in", &[&test_id, &issue]),
            origin: self.origin.clone(),
            issue_id: issue,
            issue_version: 0,
            test_id,
            present: true,
        });
    }

    /// An identifier that depends on nothing but these texts.
    fn id(&self, kind: &str, parts: &[&str]) -> String {
        let text: String = parts.iter().map(|part| format!("{part}\0")).collect();
        let hash = kernel::files::hash(text.as_bytes());
        format!("{}:{kind}-{hash}", self.origin)
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let all = json!({
            "version": { "major": 5, "minor": 3 },
            "checkouts": self.checkouts.values().collect::<Vec<_>>(),
            "builds": self.builds.values().collect::<Vec<_>>(),
            "tests": self.tests,
            "issues": self.issues.values().collect::<Vec<_>>(),
            "incidents": self.incidents,
        });
        document(&all, out)
    }
}

/// The commit that a kernel was built from, where the session or its locator says so.
fn commit(session: &Session) -> Option<String> {
    let is_commit = |text: &&str| {
        text.len() == COMMIT && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let known = session.commit.as_ref().map(|commit| commit.hash.as_str());
    let revisions = [&session.kernel, &session.locator].map(|locator| locator.rsplit_once('@'));
    let revisions = revisions.into_iter().flatten().map(|(_, revision)| revision);
    known.into_iter().chain(revisions).find(is_commit).map(str::to_owned)
}

/// The place of a test in KCIDB's catalogue.
fn path(session: &Session, run: &Run) -> String {
    if run.is_boot {
        return BOOT.to_owned();
    }
    let parts = run.case.split('/').filter(|part| !part.is_empty()).map(|part| {
        part.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
    });
    [top(session).to_owned()].into_iter().chain(parts).collect::<Vec<String>>().join(".")
}

fn top(session: &Session) -> &'static str {
    match &session.request {
        Some(Request::Kunit(_)) => "kunit",
        Some(Request::Run(request)) => match &request.cases {
            Selection::Selftests { .. } => "kselftest",
            Selection::Suite { suite, .. } if is_ltp(suite) => "ltp",
            Selection::Suite { .. } | Selection::Program(_) => "kiln",
        },
        Some(Request::Experiment(_)) | None => "kiln",
    }
}

/// Whether a suite is the Linux Test Project: its folder begins so.
fn is_ltp(suite: &str) -> bool {
    Path::new(suite).file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ltp"))
}

fn status(run: &Run) -> Status {
    match (run.outcome, run.blame) {
        (Outcome::Pass, _) => Status::Pass,
        (Outcome::Skip, _) => Status::Skip,
        (Outcome::Fail | Outcome::Crash | Outcome::Hang, _) => Status::Fail,
        (Outcome::Broken, Some(Blame::Case) | None) => Status::Error,
        (Outcome::Broken, Some(Blame::Machine | Blame::Host | Blame::Kiln)) => Status::Miss,
    }
}

/// The end of what shows why a Run did not pass.
fn excerpt(run: &Run) -> String {
    let lines = evidence::of_failure(run, LINES).lines.into_iter().map(|(_, line)| line);
    let text = lines.collect::<Vec<_>>().join("\n");
    let first = text.char_indices().rev().nth(EXCERPT_MAX - 1).map_or(0, |(at, _)| at);
    text[first..].to_owned()
}

fn misc(from: &Origin, run: &Run) -> Map<String, Value> {
    let texts = [
        ("session", from.session.as_str()),
        ("host", &from.host),
        ("case", &run.case),
        ("outcome", run.outcome.name()),
        ("blame", run.blame.map_or("", Blame::name)),
        ("reason", &run.reason),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let mut misc: Map<String, Value> =
        texts.map(|(name, text)| (name.to_owned(), safe_line(text).into())).collect();
    if !run.repeats.is_empty() {
        let failures = run.repeats.iter().filter(|repeat| repeat.outcome.is_failure()).count();
        misc.insert("runs".to_owned(), run.repeats.len().into());
        misc.insert("failures".to_owned(), failures.into());
    }
    misc
}
