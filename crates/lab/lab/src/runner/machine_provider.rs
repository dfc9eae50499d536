//! Where the machine for a case comes from: a clone, or a boot.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use machine::{BootFailure, BootTrouble};

use super::GivenUp;
use judge::boot::{booted_badly, by_host_clock, did_not_boot};
use judge::parameters::unknown_note;

use super::conclude::without_machine;
use super::news::News;
use super::work::{Context, Fresh};
use crate::event::Event;
use crate::plan::Item;
use crate::source::{BootEvent, Source, Template, Up};
use judge::outcome::Blame;
use judge::run::Run;

/// Lines of a boot in which reports are looked for.
const BOOT_LINES_MAX: usize = 10_000;

/// Boots or clones that may fail one after the other before it is given up.
const ATTEMPTS: u32 = 2;

/// What clones are made from.
type Base<'a> = Box<dyn Template<'a> + 'a>;

/// A booted machine that others are cloned from, and its number in the session.
type Slot<'a> = Arc<Mutex<Option<(u32, Arc<Base<'a>>)>>>;

/// Where the machines of a part come from.
pub(super) enum MachineProvider<'a> {
    /// Clones of booted machines.
    Clones(Templates<'a>),
    /// A boot for each case.
    Boots(&'a dyn Source),
}

/// Booted machines that others are cloned from, by the number of their boot. Each is booted when its first clone is
/// wanted; those of the highest numbers are kept, since no more is wanted of the others.
pub(super) struct Templates<'a> {
    source: &'a dyn Source,
    slots: Mutex<BTreeMap<u32, Slot<'a>>>,
    most: usize,
}

/// There is no machine for a case.
pub(super) enum Missing {
    /// Nor for any other.
    GivenUp(GivenUp),
    /// The Run that says why.
    Run(Box<Run>),
}

impl<'a> MachineProvider<'a> {
    /// Boots what the first machines for so many cases are going to be cloned from: the boot of this number.
    pub(super) fn prepare(
        source: &'a dyn Source,
        (cases, number): (usize, u32),
        context: &Context<'a>,
        emit: &mut dyn FnMut(News),
    ) -> Result<Self, GivenUp> {
        match boot_template(source, (cases, number), context, emit)? {
            Booted::Up(boot, template) => {
                let slot = Arc::new(Mutex::new(Some((boot, Arc::new(template)))));
                let slots = Mutex::new(BTreeMap::from([(number, slot)]));
                Ok(Self::Clones(Templates { source, slots, most: context.options.jobs.max(1) + 1 }))
            }
            Booted::Unclonable(why) => {
                emit(note(format!("{why}: every case gets a boot of its own")));
                Ok(Self::Boots(source))
            }
        }
    }

    /// A machine for `item`: of the boot of this number, where it is a clone.
    pub(super) fn machine(
        &self,
        item: &Item,
        number: u32,
        context: &Context<'a>,
        emit: &mut dyn FnMut(News),
    ) -> Result<Fresh, Missing> {
        match self {
            Self::Boots(source) => boot_one(*source, 1, context, emit).map_err(Missing::GivenUp),
            Self::Clones(templates) => templates.machine(item, number, context, emit),
        }
    }
}

impl<'a> Templates<'a> {
    fn machine(
        &self,
        item: &Item,
        number: u32,
        context: &Context<'a>,
        emit: &mut dyn FnMut(News),
    ) -> Result<Fresh, Missing> {
        let slot = self.slot(number);
        let mut found = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let (boot, template) = match &*found {
            Some((boot, template)) => (*boot, Arc::clone(template)),
            None => match boot_template(self.source, (1, number), context, emit).map_err(Missing::GivenUp)? {
                Booted::Up(boot, template) => {
                    let template = Arc::new(template);
                    *found = Some((boot, Arc::clone(&template)));
                    (boot, template)
                }
                Booted::Unclonable(_) => {
                    return boot_one(self.source, 1, context, emit).map_err(Missing::GivenUp);
                }
            },
        };
        // Others clone meanwhile.
        drop(found);
        clone(&**template, boot, item, context)
    }

    /// The place of the boot of this number.
    fn slot(&self, number: u32) -> Slot<'a> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(slots.entry(number).or_default());
        while slots.len() > self.most {
            slots.pop_first();
        }
        slot
    }
}

/// Boots what machines for so many cases are going to be cloned from: the boot of this number.
fn boot_template<'a>(
    source: &'a dyn Source,
    (cases, number): (usize, u32),
    context: &Context<'a>,
    emit: &mut dyn FnMut(News),
) -> Result<Booted<Base<'a>>, GivenUp> {
    let start =
        |on_event: &mut dyn FnMut(BootEvent<'_>)| source.template(number, context.interrupt, on_event);
    let about = |template: &Base<'a>| {
        let facts = template.facts();
        (facts.release.to_string(), facts.took, facts.kept.then(|| facts.console.to_vec()))
    };
    boot(context, cases, (&start, &about), emit)
}

/// Clones a machine; one that does not come up says nothing about the kernel, unless it died of a panic.
fn clone(
    template: &dyn Template<'_>,
    boot: u32,
    item: &Item,
    context: &Context<'_>,
) -> Result<Fresh, Missing> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match template.clone_machine(&item.files, context.interrupt) {
            Ok(Ok(up)) => return Ok(Fresh::new(up, boot, context.next_clone())),
            Ok(Err(BootFailure { trouble: BootTrouble::Interrupted, .. })) => {
                return Err(Missing::GivenUp(GivenUp::Told));
            }
            Ok(Err(failure)) => last = Some(failure),
            Err(error) => {
                let run = without_machine(item, Blame::Host, &error.to_string());
                return Err(Missing::Run(Box::new(run)));
            }
        }
    }
    let run = match last {
        Some(failure) => {
            Run { case: item.name.clone(), about: item.about.clone(), ..did_not_boot(boot, &failure) }
        }
        None => without_machine(item, Blame::Kiln, "no clone was made"),
    };
    Err(Missing::Run(Box::new(run)))
}

/// A machine of its own for `cases` cases.
pub(super) fn boot_one(
    source: &dyn Source,
    cases: usize,
    context: &Context<'_>,
    emit: &mut dyn FnMut(News),
) -> Result<Fresh, GivenUp> {
    let start = |on_event: &mut dyn FnMut(BootEvent<'_>)| source.boot(context.interrupt, on_event);
    let facts = |up: &Up| (up.release.clone(), up.took, None);
    match boot(context, cases, (&start, &facts), emit)? {
        Booted::Up(boot, up) => Ok(Fresh::new(up, boot, 0)),
        Booted::Unclonable(why) => {
            let error = std::io::Error::other(why);
            Err(GivenUp::Impossible(machine::Error::host("a boot that is not going to be cloned", error)))
        }
    }
}

/// A machine that booted.
enum Booted<T> {
    /// It is up, and its number.
    Up(u32, T),
    /// It cannot be cloned; why.
    Unclonable(String),
}

/// Starts something that boots.
type Start<'f, T> =
    &'f dyn Fn(&mut dyn FnMut(BootEvent<'_>)) -> Result<Result<T, BootFailure>, machine::Error>;

/// Release and time of a boot, and its console if it was an earlier run's.
type About<'f, T> = &'f dyn Fn(&T) -> (String, Duration, Option<Vec<String>>);

/// Boots with `start`, twice if the kernel has come up before, and tells what happens.
fn boot<T>(
    context: &Context<'_>,
    cases: usize,
    (start, about): (Start<'_, T>, About<'_, T>),
    emit: &mut dyn FnMut(News),
) -> Result<Booted<T>, GivenUp> {
    let mut attempt = 1;
    loop {
        let boot = context.next_boot();
        let mut lines = Vec::new();
        let result = start(&mut |event| {
            // What was kept by an earlier run is not booted.
            if matches!(event, BootEvent::CommandLine(_)) {
                emit(News::Event(Event::Booting { boot, cases: count(cases) }));
            }
            emit(News::Event(boot_event(event, boot, &mut lines)));
        });
        let failure = match result.map_err(GivenUp::Impossible)? {
            Ok(up) => {
                let (release, took, earlier) = about(&up);
                let kept = earlier.is_some();
                // How long an earlier run's boot took is not kept.
                let ran = if kept { Duration::MAX } else { took };
                for line in earlier.into_iter().flatten() {
                    emit(News::Event(boot_event(BootEvent::Console(&line), boot, &mut lines)));
                }
                emit(News::Event(Event::Booted { boot, release, took, kept }));
                // A later boot of the same kernel would only repeat it.
                if boot == 1 {
                    let unknown = unknown_note(lines.iter().map(String::as_str), &context.parameters);
                    unknown.into_iter().for_each(|text| emit(note(text)));
                    let badly = booted_badly(boot, &lines).map(|run| by_host_clock(run, ran));
                    badly.into_iter().for_each(|run| emit(News::Boot(Box::new(run))));
                }
                return Ok(Booted::Up(boot, up));
            }
            Err(failure) => failure,
        };
        match &failure.trouble {
            BootTrouble::Interrupted => return Err(GivenUp::Told),
            BootTrouble::Unclonable(_) => return Ok(Booted::Unclonable(failure.trouble.to_string())),
            // The first boot shows what the kernel does; a later one has booted before.
            _ if boot == 1 || attempt == ATTEMPTS => {
                emit(News::Boot(Box::new(did_not_boot(boot, &failure))));
                return Err(GivenUp::Told);
            }
            trouble => emit(note(format!("boot {boot} failed and is tried again: {trouble}"))),
        }
        attempt += 1;
    }
}

fn count(cases: usize) -> u32 {
    u32::try_from(cases).unwrap_or(u32::MAX)
}

/// The event of something that is heard on the way; lines of the console are also kept.
fn boot_event(event: BootEvent<'_>, boot: u32, lines: &mut Vec<String>) -> Event {
    match event {
        BootEvent::CommandLine(line) => Event::CommandLine { boot, line: line.to_string() },
        BootEvent::Console(line) => {
            if lines.len() < BOOT_LINES_MAX {
                lines.push(line.to_string());
            }
            Event::Console { boot, clone: 0, line: line.to_string() }
        }
    }
}

fn note(text: String) -> News {
    News::Event(Event::Note { text })
}
