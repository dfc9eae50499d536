//! What a part of a script that is being evaluated belongs to.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use starlark::any::ProvidesStaticType;
use starlark::eval::Evaluator;
use starlark::values::Value;

use crate::barrier::Group;
use crate::bench::Bench;
use crate::data::{Data, Object};
use crate::event::Event;
use crate::folder::Folder;
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::random::Random;
use crate::signature::Signature;
use crate::source::Position;
use crate::stop::Stop;
use crate::syntax::Files;

/// What a function was called with.
#[derive(Debug)]
pub(crate) struct Passed<'v> {
    pub(crate) positional: Vec<Value<'v>>,
    pub(crate) named: Vec<(String, Value<'v>)>,
}

/// What does a method.
pub(crate) type Method = for<'v, 'a, 'e> fn(
    &Object,
    &'static Signature,
    &Passed<'v>,
    &mut Evaluator<'v, 'a, 'e>,
) -> Result<Value<'v>, Stop>;

/// What all parts of one run have in common.
pub(crate) struct Session<'s> {
    pub(crate) bench: &'s dyn Bench,
    pub(crate) metadata: &'s Metadata,
    pub(crate) files: &'s Files,
    pub(crate) folder: &'s Folder,
    pub(crate) limits: &'s Limits,
    pub(crate) seed: u64,
    /// The object `lab`.
    pub(crate) lab: Data,
    pub(crate) method: Method,
}

/// What the branches of a step share.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) machines: AtomicU32,
    pub(crate) segments: AtomicU32,
    pub(crate) records: AtomicUsize,
    pub(crate) branches: AtomicUsize,
}

/// Somebody who keeps what a step records.
pub(crate) trait Record {
    fn record(&self, event: Event) -> Result<(), Stop>;
}

/// What a step or a branch of it works with.
pub(crate) struct Scene<'c> {
    pub(crate) step: u32,
    pub(crate) name: &'c str,
    /// The way to this branch.
    pub(crate) branch: Vec<u32>,
    pub(crate) record: &'c dyn Record,
    pub(crate) random: RefCell<Random>,
    pub(crate) counts: &'c Counts,
    /// The branches beside this one.
    pub(crate) group: Option<&'c Group>,
}

/// A step that is registered; its function is in the module.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Data>,
    /// Where.
    pub(crate) at: Position,
}

/// What is being evaluated.
pub(crate) enum Phase<'c> {
    /// The script: it registers steps.
    Script(RefCell<Vec<Registered>>),
    /// A file that it loads.
    Helper,
    /// A step or branch.
    Scene(Scene<'c>),
}

/// What is being evaluated, and within which limits.
#[derive(ProvidesStaticType)]
pub(crate) struct Context<'c> {
    pub(crate) session: &'c Session<'c>,
    pub(crate) phase: Phase<'c>,
    statements: Cell<u64>,
}

/// Statements between two looks at whether somebody wants the script to stop.
const LOOK: u64 = 256;

impl<'c> Context<'c> {
    pub(crate) fn new(session: &'c Session<'c>, phase: Phase<'c>) -> Self {
        Self { session, phase, statements: Cell::new(0) }
    }

    /// The context of an evaluation.
    pub(crate) fn of<'a, 'e>(eval: &Evaluator<'_, 'a, 'e>) -> Result<&'a Context<'e>, Stop> {
        let context = eval.extra.and_then(|extra| extra.downcast_ref::<Context<'e>>());
        context.ok_or_else(|| Stop::broken(judge::Blame::Kiln, "a script runs without its context"))
    }

    /// The step.
    pub(crate) fn scene(&self, what: &str) -> Result<&Scene<'c>, Stop> {
        match &self.phase {
            Phase::Scene(scene) => Ok(scene),
            _ => Err(Stop::usage(format!("{what} works only in a step"))
                .help("put it into a function, and call step(function) at the end of the script")),
        }
    }

    /// Where the script is.
    pub(crate) fn here(&self, eval: &Evaluator<'_, '_, '_>) -> Result<Position, Stop> {
        let span = eval.call_stack_top_location();
        let at = span.and_then(|span| self.session.files.position(&span));
        at.ok_or_else(|| Stop::usage("a function of kiln is called by no line of the script"))
    }

    /// Counts what the script does, and looks at its limits.
    pub(crate) fn spend(&self, statements: u64, heap_bytes: usize) -> Result<(), Stop> {
        let limits = self.session.limits;
        let before = self.statements.get();
        let now = before.saturating_add(statements);
        self.statements.set(now);
        if now > limits.statements {
            return Err(Stop::limit(format!(
                "the script has done {} statements: is there a loop without end?",
                limits.statements
            )));
        }
        // What is at the top of a file is copied when the file is complete, which takes much stack for what is nested.
        let is_file = !matches!(self.phase, Phase::Scene(_));
        let heap_limit = if is_file { limits.heap_bytes / 16 } else { limits.heap_bytes };
        if heap_bytes > heap_limit {
            let mib = heap_limit / (1024 * 1024);
            return Err(Stop::limit(format!("the values of the script take more than {mib} MiB")));
        }
        if before / LOOK != now / LOOK || before == 0 {
            self.look()?;
        }
        Ok(())
    }

    /// Whether somebody wants the script to stop.
    fn look(&self) -> Result<(), Stop> {
        if self.session.bench.is_cancelled() {
            return Err(Stop::broken(judge::Blame::Host, "the script was interrupted"));
        }
        Ok(())
    }
}

impl Scene<'_> {
    /// Keeps something, within the limits of a step.
    pub(crate) fn keep(&self, event: Event, limits: &Limits) -> Result<(), Stop> {
        if self.counts.records.fetch_add(1, Ordering::Relaxed) >= limits.records {
            return Err(Stop::limit(format!("a step records at most {} things", limits.records)));
        }
        let bytes = serde_json::to_vec(&event).map_or(usize::MAX, |json| json.len());
        if bytes > limits.text_bytes {
            let kib = limits.text_bytes / 1024;
            return Err(Stop::limit(format!(
                "a step records at most {kib} KiB at once, this has {} KiB",
                bytes / 1024
            )));
        }
        self.record.record(event)
    }
}
