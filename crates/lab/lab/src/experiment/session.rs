//! An experiment as a session with one case.

use std::sync::atomic::Ordering;
use std::time::Instant;

use judge::{Exit, Summary};
use kernel::Kernel;

use super::carry_out::{Carried, PreparedExperiment, Watching};
use super::catalogue::AREA;
use crate::event::{Event, Listener, Session};
use crate::prepare::{Again, Context, Error};
use crate::request::Request;

/// Where a run of an experiment keeps what.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The journal of its steps.
    pub journal: &'a std::path::Path,
    /// The folder of the files that the script keeps.
    pub files: &'a std::path::Path,
}

impl PreparedExperiment {
    /// The session that begins now.
    ///
    /// # Errors
    ///
    /// When a Run is repeated, and a Kernel or the experiment is another one.
    pub fn session(&self, again: Option<&Again>) -> Result<Session, Error> {
        let request = Request::Experiment(Box::new(self.request.clone()));
        let engine = self.engine()?;
        let each = |text: &dyn Fn(&Kernel) -> String| self.kernels().map(text).collect::<Vec<_>>().join(", ");
        let typed = self.request.kernels.iter().map(|kernel| kernel.locator.to_string());
        let session = Session {
            started: jiff::Timestamp::now(),
            kiln: env!("CARGO_PKG_VERSION").to_string(),
            command: request.words(),
            request: Some(request),
            directory: std::env::current_dir().unwrap_or_default(),
            locator: typed.collect::<Vec<_>>().join(", "),
            kernel: each(&Kernel::exact_locator),
            kernels: self.setup.kernels.clone(),
            provenance: each(&|kernel| kernel.provenance.clone()),
            commit: None,
            release: Some(each(&|kernel| kernel.release.clone().unwrap_or_default())),
            identity: self.identity(),
            engine,
            machine: engine.map(|engine| engine.to_string()).unwrap_or_default(),
            suite: AREA.to_string(),
            content: self.content.clone(),
            cases: vec![self.case()],
            expected: [].into(),
            jobs: 1,
            origin: None,
        };
        match again {
            Some(again) => again.keep_experiment_to(session),
            None => Ok(session),
        }
    }

    /// Runs it and tells a listener, as a session that was planned; it goes on from where the journal ends. `on_call` gets what
    /// the script is about to do.
    ///
    /// # Errors
    ///
    /// When the journal cannot be opened.
    pub fn run_session(
        &self,
        session: Session,
        (context, places): (&Context<'_>, Places<'_>),
        listener: &mut (dyn Listener + Send),
        on_call: &(dyn Fn(&str) + Sync),
    ) -> Result<Carried, Error> {
        let (start, case) = (Instant::now(), self.case());
        listener.on_event(&Event::Planned(Box::new(session)));
        listener.on_event(&Event::Started { case: case.clone(), clone: 0 });
        let mut on_record = |record: &script::Event| {
            listener.on_event(&Event::Recorded { case: case.clone(), record: record.clone() });
        };
        let watching = Watching { on_record: &mut on_record, on_call };
        let carried = self.run(context, (places.journal, places.files), watching)?;
        let interrupted = context.waiting.interrupt.load(Ordering::Relaxed);
        let mut summary = Summary { not_run: u32::from(interrupted), ..Summary::default() };
        // The user ended it, not the kernel: it has concluded nothing.
        if !interrupted {
            summary.count(carried.run.outcome);
            listener.on_event(&Event::Finished(Box::new(carried.run.clone())));
        }
        let exit = Some(Exit::of_session(summary, interrupted));
        listener.on_event(&Event::Ended { summary, took: start.elapsed(), interrupted, exit });
        Ok(carried)
    }
}
