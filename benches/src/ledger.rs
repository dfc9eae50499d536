//! What questions about 100,000 Runs take, beside SQLite that only counts them, and what it costs to have the Runs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::kiln::PROGRAM;
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// The sessions, the cases of each, and the kernels on which they ran in turns.
const SESSIONS: usize = 1000;
const CASES: usize = 100;
const KERNELS: usize = 20;

/// Of so many Runs one fails, in one of so many ways.
const FAILING: usize = 50;
const WAYS: usize = 200;

/// Times and promises, in so many rounds.
pub(crate) fn measure(locator: &str, rounds: usize) -> Result<(String, Vec<Promise>)> {
    let place = Place::filled(locator)?;
    let kernels: Vec<String> = (0..KERNELS).map(kernel).collect();
    let shown: Vec<&str> = kernels.iter().map(String::as_str).chain(["--suite", "full", "--show"]).collect();
    let mut racers = [
        Racer::new("SQLite: SELECT count(*), 100,000 Runs", || place.count()),
        Racer::new("kiln results, the newest 100", || place.kiln("results", &["--limit", "100"])),
        Racer::new("kiln results, what failed on a kernel", || {
            place.kiln("results", &["--kernel", &kernel(7), "--outcome", "fail"])
        }),
        Racer::new("kiln problems", || place.kiln("problems", &[])),
        Racer::new("kiln matrix --show, 20 kernels", || place.kiln("matrix", &shown)),
    ];
    race(&mut racers, rounds)?;
    let [count, newest, failed, problems, matrix] = &racers;
    let promises = [newest, failed, problems, matrix]
        .into_iter()
        .flat_map(|racer| [Promise::seconds(racer, 0.2), Promise::ratio(racer, count, None)])
        .collect();
    Ok((table(&racers), promises))
}

/// Kernel parameters that change nothing: with each of them a kernel has a session of its own.
const PARAMETERS: [&str; 6] = ["", "nokaslr", "nosmt", "nopti", "norandmaps", "noirqdebug"];

/// What the sessions of a matrix take, beside the same one by one, and what it costs to take one in.
pub(crate) fn sessions(locator: &str, rounds: usize) -> Result<(String, Vec<Promise>)> {
    let (alone, matrix) = (Place { state: tempfile::tempdir()? }, Place { state: tempfile::tempdir()? });
    let all: Vec<&str> = [locator, "--params"].into_iter().chain(PARAMETERS).collect();
    let mut racers = [
        Racer::new("kiln run: six smoke sessions one by one", || {
            PARAMETERS.iter().try_for_each(|set| alone.kiln("run", &[locator, "--append", set]))
        })
        .after(|| alone.empty()),
        Racer::new("kiln matrix, the same sessions", || matrix.kiln("matrix", &all)).after(|| matrix.empty()),
        Racer::new("kiln results, which takes them in", || matrix.kiln("results", &[]))
            .after(|| matrix.forget()),
        Racer::new("kiln results, which knows them", || matrix.kiln("results", &[])),
    ];
    race(&mut racers, rounds)?;
    let [one_by_one, together, new, known] = &racers;
    let recording = (new.best() - known.best()) / one_by_one.best();
    let promises = vec![
        Promise::ratio(together, one_by_one, Some(1.1)),
        Promise::plain("taking sessions into the ledger / the sessions", recording, Some(0.02)),
    ];
    Ok((table(&racers), promises))
}

/// A kernel of the generator.
fn kernel(number: usize) -> String {
    format!("deb:6.1.0-{number}-amd64")
}

/// A folder of sessions with one in it, and what the generator adds.
pub(crate) struct Place {
    state: TempDir,
}

impl Place {
    fn new(locator: &str) -> Result<Self> {
        let place = Self { state: tempfile::tempdir()? };
        place.kiln("run", &[locator, "--suite", "full", "--case", "process/no-child"])?;
        place.kiln("results", &[])?;
        Ok(place)
    }

    /// With 100,000 Runs.
    pub(crate) fn filled(locator: &str) -> Result<Self> {
        let place = Self::new(locator)?;
        place.fill()?;
        Ok(place)
    }

    /// The folder of the sessions.
    pub(crate) fn folder(&self) -> &Path {
        self.state.path()
    }

    fn kiln(&self, verb: &str, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(PROGRAM);
        command.arg(verb).args(arguments).arg("--results").arg(self.state.path());
        let output = command.output().context(PROGRAM)?;
        // Of a matrix in which something fails kiln says so.
        let is_well = matches!(output.status.code(), Some(0 | 1)) && !output.stdout.is_empty();
        ensure!(is_well, "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Forgets all sessions.
    fn empty(&self) -> Result<()> {
        std::fs::remove_dir_all(self.state.path())?;
        Ok(std::fs::create_dir(self.state.path())?)
    }

    /// Forgets what the ledger knows. A matrix that began in an empty folder has left no ledger.
    fn forget(&self) -> Result<()> {
        match std::fs::remove_file(self.database()) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => Ok(done?),
        }
    }

    fn database(&self) -> PathBuf {
        self.state.path().join("ledger.sqlite")
    }

    fn count(&self) -> Result<()> {
        let connection = Connection::open(self.database())?;
        let count: usize =
            connection.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, u32>(0))? as usize;
        ensure!(count > SESSIONS * CASES, "{count} Runs");
        Ok(())
    }

    /// Adds sessions whose folders are gone.
    fn fill(&self) -> Result<()> {
        let mut connection = Connection::open(self.database())?;
        let transaction = connection.transaction()?;
        for session in 0..SESSIONS {
            let (name, release) =
                (format!("generated-{session}"), format!("6.1.0-{}-amd64", session % KERNELS));
            transaction.execute(
                "INSERT INTO session (name, started, version, locator, kernel, release, identity, machine, suite, content,
                    has_ended, changed, parameters, setup)
                 SELECT ?1, started - ?2, version, ?3, ?3, ?4, ?3, machine, 'full', content, 1, 0, parameters, setup FROM session
                 WHERE name NOT LIKE 'generated-%' LIMIT 1",
                params![name, i64::try_from(session)? * 60_000, kernel(session % KERNELS), release],
            )?;
            for case in 0..CASES {
                let number = session * CASES + case;
                let way = number
                    .is_multiple_of(FAILING)
                    .then(|| format!("WARNING in function_{}", number / FAILING % WAYS));
                transaction.prepare_cached(
                    "INSERT INTO run (session, case_name, is_boot, outcome, accused, reason, signature, duration, runs, failures)
                     VALUES (?1, ?2, 0, ?3, ?4, ?5, ?5, 1000, 1, ?6)",
                )?
                .execute(params![
                    name,
                    format!("area/case-{case}"),
                    if way.is_some() { "fail" } else { "pass" },
                    way.as_ref().map(|_| "kernel"),
                    way.as_deref().unwrap_or_default(),
                    u32::from(way.is_some()),
                ])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}
