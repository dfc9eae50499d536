//! `kiln export`: sessions and measurements for other programs.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use judge::Summary;
use lab::{Event, Listener};
use ledger::{MeasurementsQuery, Past, RunsQuery, origin};
use report::export::{Columns, Kcidb, runs, sample_columns, samples, session_json};
use report::{Junit, Ktap};

use crate::cli::{Export, ExportFormat};
use crate::failure::{WrongUsage, complain};
use crate::listeners::standard_output;
use crate::report_file;
use crate::results::opened;

/// Writes the sessions and gives the exit code.
pub(crate) fn export(args: &Export) -> Result<u8> {
    if args.format == ExportFormat::Parquet && args.output.is_none() && io::stdout().is_terminal() {
        return Err(
            WrongUsage("--format parquet is not for terminals: name a file with --output".into()).into()
        );
    }
    report_file::check([("--output", &args.output)])?;
    if args.samples {
        return args.samples().map(|()| 0);
    }
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let mut ledger = opened(&root)?;
    let query = args.query(&root)?;
    let names = ledger.sessions(&query)?;
    ledger.notes.iter().for_each(|note| complain(note));
    if names.is_empty() {
        complain(&format!("no session in {} matches", root.display()));
    }
    match args.format {
        ExportFormat::Csv | ExportFormat::Parquet => args.table(&runs(), &ledger.runs(&query)?.runs),
        ExportFormat::Json => args.json(&folders(&root, &names)),
        ExportFormat::Kcidb => args.kcidb(&folders(&root, &names)),
        ExportFormat::Junit | ExportFormat::Ktap => args.one(&folders(&root, &names)),
    }?;
    Ok(0)
}

/// The sessions of these names that still have their folders.
fn folders(root: &Path, names: &[String]) -> Vec<Past> {
    let all: Vec<Past> =
        names.iter().filter_map(|name| Past::open(&root.join(name)).filter(Past::has_events)).collect();
    if all.len() < names.len() {
        let (gone, total) = (names.len() - all.len(), names.len());
        complain(&format!(
            "{gone} of {total} sessions have no folders any more: only csv and parquet have their Runs"
        ));
    }
    all
}

impl Export {
    /// What is asked.
    fn query(&self, root: &Path) -> Result<RunsQuery> {
        let sessions = self.sessions.iter().map(|text| named(root, text)).collect::<Result<_>>()?;
        let (kernel, suite, since) = (self.kernel.clone(), self.suite.clone(), self.since);
        Ok(RunsQuery { sessions, kernel, suite, since, ..RunsQuery::default() })
    }

    fn write(&self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match &self.output {
            Some(path) => report_file::write(path, content),
            None => Ok(standard_output(content)?),
        }
    }

    /// Writes a row for each sample of what is kept.
    fn samples(&self) -> Result<()> {
        if !matches!(self.format, ExportFormat::Csv | ExportFormat::Parquet) {
            let text = "--samples are rows: give --format csv or --format parquet";
            return Err(WrongUsage(text.into()).into());
        }
        let root = self.results.clone().unwrap_or_else(ledger::figures_root);
        let (names, kernel, since) = (self.sessions.clone(), self.kernel.clone(), self.since);
        let kept = MeasurementsQuery { names, kernel, since }.find(&root)?;
        if kept.is_empty() {
            complain(&format!("no measurement in {} matches", root.display()));
        }
        self.table(&sample_columns(), &samples(&kept))
    }

    /// Writes rows.
    fn table<R>(&self, columns: &Columns<R>, rows: &[R]) -> Result<()> {
        if self.format == ExportFormat::Csv {
            return self.write(|out| columns.csv(rows, out));
        }
        let mut bytes = Vec::new();
        columns.parquet(rows, &mut bytes)?;
        self.write(|out| out.write_all(&bytes))
    }

    fn json(&self, sessions: &[Past]) -> Result<()> {
        self.write(|out| {
            for past in sessions {
                // It may have been removed meanwhile.
                let Ok(events) = past.exported() else { continue };
                session_json(events, &mut *out)?;
            }
            Ok(())
        })
    }

    fn kcidb(&self, sessions: &[Past]) -> Result<()> {
        let mut kcidb = Kcidb::new(self.origin.as_deref().unwrap_or_default());
        for past in sessions {
            // It may have been removed meanwhile.
            let Ok(session) = past.session() else { continue };
            kcidb.add(&origin(past, &session), &session, &past.runs());
        }
        self.write(|out| kcidb.write(out))
    }

    /// A document that has room for one session.
    fn one(&self, sessions: &[Past]) -> Result<()> {
        let [past] = sessions else {
            let text =
                format!("{} sessions match, and this format has room for one: name it", sessions.len());
            return Err(WrongUsage(text).into());
        };
        let events: Vec<Event> = past.events()?.collect();
        self.write(|out| match self.format {
            ExportFormat::Junit => {
                let mut junit = Junit::new(out);
                replay(&events, &mut junit);
                junit.finish()
            }
            _ => {
                let mut ktap = Ktap::new(out);
                replay(&events, &mut ktap);
                ktap.finish()
            }
        })
    }
}

/// The name of a session below `root`.
fn named(root: &Path, text: &str) -> Result<String> {
    let past = ledger::session(root, text)?;
    if std::path::absolute(past.directory())?.parent() != Some(&std::path::absolute(root)?) {
        let text = format!("{text}: is not below {}: name its folder with --results", root.display());
        return Err(WrongUsage(text).into());
    }
    Ok(past.name())
}

/// Reports what was reported then. A session that was cut off ends here.
fn replay(events: &[Event], listener: &mut impl Listener) {
    events.iter().for_each(|event| listener.on_event(event));
    if !events.iter().any(|event| matches!(event, Event::Ended { .. })) {
        let (summary, took) = (Summary::default(), Duration::ZERO);
        listener.on_event(&Event::Ended { summary, took, interrupted: true, exit: None });
    }
}
