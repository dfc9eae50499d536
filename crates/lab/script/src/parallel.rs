//! Branches: functions that run at the same time, each in a thread of its own.

use std::cell::RefCell;
use std::thread;

use judge::Blame;

use crate::barrier::Group;
use crate::context::{Context, Phase, Record, Scene};
use crate::data::Data;
use crate::event::Event;
use crate::execute::{call, stack};
use crate::failure::Failure;
use crate::random::Random;
use crate::stop::Stop;
use crate::value::BranchValue;

/// How branches ended: all in the order in which the script names them, not in that in which they ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) values: Vec<Data>,
    pub(crate) events: Vec<Event>,
    /// With the names of the functions.
    pub(crate) failures: Vec<(String, Failure)>,
}

/// Keeps what one branch records until all have ended.
#[derive(Default)]
struct Buffer(RefCell<Vec<Event>>);

impl Record for Buffer {
    fn record(&self, event: Event) -> Result<(), Stop> {
        self.0.borrow_mut().push(event);
        Ok(())
    }
}

/// Runs branches to their ends, whatever happens to one of them.
pub(crate) fn parallel(
    context: &Context<'_>,
    scene: &Scene<'_>,
    plans: &[BranchValue],
) -> Result<Ended, Stop> {
    let group = Group::new(u32::try_from(plans.len()).unwrap_or(u32::MAX));
    let (session, step, name, counts) = (context.session, scene.step, scene.name, scene.counts);
    let way = &scene.branch;
    let results = thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, plan) in (0_u32..).zip(plans) {
            let group = &group;
            let run = move || {
                let _end = End(group);
                let branch: Vec<u32> = way.iter().copied().chain([index]).collect();
                let random = RefCell::new(Random::new(session.seed, step, &branch));
                let buffer = Buffer::default();
                let group = Some(group);
                let scene = Scene { step, name, branch, record: &buffer, random, counts, group };
                let context = Context::new(session, Phase::Scene(scene));
                let returned = call(&context, plan.function, &plan.arguments);
                drop(context);
                (returned, buffer.0.into_inner())
            };
            match thread::Builder::new().stack_size(stack(session.limits)).spawn_scoped(scope, run) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    // Those that run wait for this one in vain, and are told.
                    (threads.len()..plans.len()).for_each(|_| group.end());
                    return Err(Stop::broken(Blame::Host, format!("a branch cannot be started: {error}")));
                }
            }
        }
        Ok(threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>())
    })?;
    let mut ended = Ended::default();
    for (result, plan) in results.into_iter().zip(plans) {
        let Ok((returned, events)) = result else {
            return Err(Stop::broken(Blame::Kiln, format!("kiln failed in the branch {}", plan.name)));
        };
        ended.events.extend(events);
        match returned {
            Ok(value) => ended.values.push(value),
            Err(failure) => ended.failures.push((plan.name.clone(), failure.at(&plan.at, session.files))),
        }
    }
    Ok(ended)
}

/// However a branch ends, the others are told.
struct End<'g>(&'g Group);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
