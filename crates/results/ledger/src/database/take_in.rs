//! From the folder of a session to rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use judge::Run;
use lab::event::Session;
use lab::{Request, RunRequest};
use rusqlite::{Connection, TransactionBehavior, named_params, params};

use super::{Error, Ledger, sqlite};
use crate::looks::modified;
use crate::past::{EVENTS, Past, SESSION, sessions};

/// Most Runs that are known, some hundred bytes each; those that folders have are known all the same.
const RUNS_MAX: i64 = 1_000_000;

/// Longer than what two changes of a file may be apart and have the same time: a tick of the kernel's clock, at most
/// 10 ms, rounded to milliseconds.
const TICK: Duration = Duration::from_millis(11);

/// What is known of a session.
struct Known {
    has_ended: bool,
    changed: i64,
}

impl Ledger {
    /// Takes in what the folders have and the file has not.
    pub(super) fn take_in(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<(), Error> {
        let known = self.known().map_err(sqlite(&self.path()))?;
        let is_new = |past: &Past| {
            let known = known.get(&past.name());
            // One that was restored has no events any more.
            known.is_none_or(|known| !known.has_ended && known.changed < changed(past))
        };
        let new: Vec<Past> = sessions(&self.root).into_iter().filter(is_new).collect();
        for (done, past) in new.iter().enumerate() {
            progress(done, new.len());
            self.take_in_one(past)?;
        }
        if new.is_empty() { Ok(()) } else { self.keep_within(RUNS_MAX).map_err(sqlite(&self.path())) }
    }

    /// Takes in a session. One that cannot be read is passed over: it may be half written, or half removed.
    pub(super) fn take_in_one(&mut self, past: &Past) -> Result<(), Error> {
        // Before anything else is read: what is added meanwhile is read the next time.
        let changed = changed(past).min(before(TICK));
        let seen = Known { has_ended: past.ended(), changed };
        let Ok(session) = past.session() else { return Ok(()) };
        let runs = past.runs();
        if Past::open(past.directory()).is_none() {
            return Ok(());
        }
        insert(&mut self.connection, &past.name(), &session, &runs, &seen).map_err(sqlite(&self.path()))
    }

    /// Forgets the oldest sessions whose folders are gone, if there are more than so many Runs.
    pub(super) fn keep_within(&mut self, limit: i64) -> rusqlite::Result<()> {
        let runs = "SELECT count(*) FROM run";
        let mut left: i64 = self.connection.query_row(runs, [], |row| row.get(0))?;
        if left <= limit {
            return Ok(());
        }
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let oldest =
            "SELECT name, (SELECT count(*) FROM run WHERE session = name) FROM session ORDER BY started";
        let sessions: Vec<(String, i64)> = transaction
            .prepare(oldest)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (name, count) in sessions {
            if left <= limit {
                break;
            }
            if !self.root.join(&name).exists() {
                transaction.execute("DELETE FROM session WHERE name = ?1", [&name])?;
                left -= count;
            }
        }
        transaction.commit()
    }

    fn known(&self) -> rusqlite::Result<HashMap<String, Known>> {
        let mut statement = self.connection.prepare("SELECT name, has_ended, changed FROM session")?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok((row.get(0)?, Known { has_ended: row.get(1)?, changed: row.get(2)? }))
        };
        statement.query_map([], row)?.collect()
    }
}

/// When something was last added to a session, or its end was written, in milliseconds since 1970.
fn changed(past: &Past) -> i64 {
    let files = [EVENTS, SESSION].map(|name| modified(&past.directory().join(name)));
    millis(files.into_iter().flatten().max())
}

/// So long ago, in milliseconds since 1970.
fn before(age: Duration) -> i64 {
    millis(SystemTime::now().checked_sub(age))
}

fn millis(time: Option<SystemTime>) -> i64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Puts a session in the place of what was known of it, as a whole or not at all, unless another kiln has seen more of it.
fn insert(
    connection: &mut Connection,
    name: &str,
    session: &Session,
    runs: &[Run],
    seen: &Known,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let later = "SELECT count(*) FROM session WHERE name = ?1 AND (has_ended OR changed > ?2)";
    if transaction
        .prepare_cached(later)?
        .query_row(params![name, seen.changed], |row| row.get::<_, i64>(0))?
        > 0
    {
        return Ok(());
    }
    transaction.prepare_cached("DELETE FROM session WHERE name = ?1")?.execute([name])?;
    transaction
        .prepare_cached(
            "INSERT INTO session VALUES (:name, :started, :version, :locator, :kernel, :release, :identity, :machine,
                :suite, :content, :has_ended, :changed, :parameters, :setup, :origin, :policy, :commit_hash, :tree,
                :build)",
        )?
        .execute(named_params! {
            ":name": name,
            ":started": session.started.as_millisecond(),
            ":version": session.kiln,
            ":locator": session.locator,
            ":kernel": session.kernel,
            ":release": session.release,
            ":identity": session.identity,
            ":machine": session.machine,
            ":suite": session.suite,
            ":content": session.content,
            ":has_ended": seen.has_ended,
            ":changed": seen.changed,
            ":parameters": session.request.as_ref().map(Request::parameters),
            ":setup": setup(session),
            ":origin": session.origin.as_ref().map(|origin| &origin.host),
            ":policy": request(session).map(|request| request.policy.hash()),
            ":commit_hash": session.commit.as_ref().map(|commit| &commit.hash),
            ":tree": tree(session),
            ":build": request(session).map(|request| request.kernel.build.name()),
        })?;
    for run in runs {
        insert_run(&transaction, name, run)?;
    }
    transaction.commit()
}

/// What decides how the cases of a session run besides its kernel; nothing is known of sessions without a request.
pub(super) fn setup(session: &Session) -> Option<String> {
    request(session).map(RunRequest::setup)
}

/// The tree with the commit of a session: of what another host says about its trees, nothing is opened here.
fn tree(session: &Session) -> Option<Cow<'_, str>> {
    let commit = session.commit.as_ref().filter(|_| session.origin.is_none())?;
    Some(commit.tree.to_string_lossy())
}

/// What a session was asked, if it runs cases.
fn request(session: &Session) -> Option<&RunRequest> {
    match session.request.as_ref()? {
        Request::Run(request) => Some(request),
        Request::Kunit(_) | Request::Experiment(_) => None,
    }
}

fn insert_run(connection: &Connection, session: &str, run: &Run) -> rusqlite::Result<()> {
    let failures = run.repeats.iter().filter(|repeat| repeat.outcome.is_failure()).count();
    let (runs, failures) = match run.repeats.len() {
        0 => (1, usize::from(run.outcome.is_failure())),
        count => (count, failures),
    };
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let micros = i64::try_from(run.duration.as_micros()).unwrap_or(i64::MAX);
    let mut statement = connection
        .prepare_cached("INSERT OR REPLACE INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?;
    statement.execute(params![
        session,
        run.case,
        run.is_boot,
        run.outcome.name(),
        run.blame.map(judge::Blame::name),
        run.accused.map(judge::Accused::name),
        run.reason,
        run.signature().unwrap_or_default(),
        micros,
        count(runs),
        count(failures),
    ])?;
    Ok(())
}
