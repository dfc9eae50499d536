//! Boots, runs, judges.
//!
//! * [`machine_provider`]: where the machine for a case comes from: a clone, or a boot
//! * [`pool`]: cases side by side, each in a machine of its own
//! * [`suite`]: all cases in one machine, one after the other
//! * [`work`]: one Run; [`traced`]: what its kernel did becomes a trace
//! * [`repetition`]: all Runs of one case; [`spread`]: over which boots they are spread; [`defects`]: what needs no more
//! * [`golden`]: whether a kernel that is known to be good fails in the same way
//! * [`conclude`]: from what was seen to a Run
//! * [`news`]: what is told meanwhile

mod conclude;
mod defects;
mod golden;
mod machine_provider;
mod news;
mod pool;
mod repetition;
mod spread;
mod suite;
mod traced;
mod work;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::event::{Event, Listener, Session};
use crate::options::{Isolation, Options, Repeats};
use crate::plan::{Item, Plan};
use crate::request::Request;
use crate::source::Source;
use judge::json::Seconds;
use judge::run::Summary;

pub use golden::Golden;
use news::Emitter;
use pool::Order;
use work::Context;

/// Cases that run in machines of one shape, and where these come from.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The cases.
    pub plan: &'a Plan,
    /// The machines.
    pub source: &'a dyn Source,
}

impl std::fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").field("plan", &self.plan.suite).finish_non_exhaustive()
    }
}

/// Runs plans and tells a listener.
pub struct Runner<'a> {
    listener: &'a mut dyn Listener,
    interrupt: &'a AtomicBool,
    options: Options,
    golden: Option<Golden<'a>>,
}

/// A session cannot go on: the machine does not come up, the host cannot start one, or the user stopped it.
#[derive(Debug)]
pub(crate) enum GivenUp {
    /// What there is to report about it has been reported.
    Told,
    /// The host cannot start a machine at all.
    Impossible(machine::Error),
}

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'a> Runner<'a> {
    /// A runner that stops as soon as `interrupt` is set.
    pub fn new(listener: &'a mut dyn Listener, interrupt: &'a AtomicBool, options: Options) -> Self {
        Self { listener, interrupt, options, golden: None }
    }

    /// Cases that fail are run on a kernel that is known to be good as well.
    #[must_use]
    pub fn with_golden(self, golden: Option<Golden<'a>>) -> Self {
        Self { golden, ..self }
    }

    /// Runs everything in `parts`, one part after the other, and gives the counts.
    ///
    /// # Errors
    ///
    /// When the host cannot start a machine at all; what has been finished was told to the listener.
    pub fn run(self, session: Session, parts: &[Part<'_>]) -> Result<Summary, machine::Error> {
        let start = Instant::now();
        let options = self.options;
        let parameters = session.request.as_ref().map(Request::parameters).unwrap_or_default();
        let context = Context::new(self.interrupt, &options, parameters);
        let mut emitter = Emitter::new(self.listener);
        let is_users = runs_program(&session);
        emitter.on_event(&Event::Planned(Box::new(planned(session, parts, &options))));
        // All that needs no machine comes first, so that it is kept however the session ends.
        let open: Vec<_> = parts.iter().map(|part| open_items(part.plan, &options, &mut emitter)).collect();
        let run = |(part, items): (&Part<'_>, _)| {
            run_part(part.source, items, &context, self.golden.as_ref(), &mut emitter)
        };
        let finished = parts.iter().zip(open).try_for_each(run);
        let total: usize = parts.iter().map(|part| part.plan.items.len()).sum();
        let summary = emitter.end(total, start.elapsed(), context.is_interrupted(), is_users);
        match finished {
            Err(GivenUp::Impossible(error)) => Err(error),
            Ok(()) | Err(GivenUp::Told) => Ok(summary),
        }
    }
}

/// Whether it runs just the user's own program.
fn runs_program(session: &Session) -> bool {
    matches!(&session.request, Some(Request::Run(request)) if request.cases.program().is_some())
}

/// The session with what is known about the time that it takes.
fn planned(session: Session, parts: &[Part<'_>], options: &Options) -> Session {
    let items = parts.iter().flat_map(|part| &part.plan.items).filter(|item| item.skip.is_none());
    let times = if let Repeats::Times(times) = options.repeats { times } else { 1 };
    let expected = items
        .filter_map(|item| Some((item.name.clone(), Seconds(options.expected(item)? * times))))
        .collect();
    let jobs = if options.isolation == Isolation::Suite { 1 } else { options.jobs.max(1) };
    Session { expected, jobs, ..session }
}

/// Tells what needs no machine, and gives the rest.
fn open_items<'p>(plan: &'p Plan, options: &Options, emitter: &mut Emitter<'_>) -> Vec<&'p Item> {
    let mut open = Vec::new();
    for item in &plan.items {
        let earlier = options.finished.iter().find(|run| run.case == item.name);
        match (earlier, &item.skip) {
            (Some(run), _) => emitter.finish(run.clone()),
            (None, Some(why)) => emitter.finish(conclude::skipped(item, why)),
            (None, None) => open.push(item),
        }
    }
    open
}

fn run_part<'a>(
    source: &'a dyn Source,
    items: Vec<&Item>,
    context: &Context<'a>,
    golden: Option<&'a Golden<'_>>,
    emitter: &mut Emitter<'_>,
) -> Result<(), GivenUp> {
    let order = Order { items, repeats: context.options.repeats, is_golden: false };
    match (context.options.isolation, golden) {
        _ if order.items.is_empty() => Ok(()),
        (Isolation::Suite, _) => suite::run(source, &order.items, context, emitter),
        (Isolation::Case, None) => {
            pool::run(source, order, context, emitter, &mut |emitter, run| emitter.finish(run))
        }
        (Isolation::Case, Some(golden)) => golden::run(golden, source, order, context, emitter),
    }
}
