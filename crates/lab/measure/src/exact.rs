//! Counts instructions on one boot of a Kernel.

use std::time::Duration;

use judge::parameters;
use kernel::{Kernel, Store};
use machine::template::TemplateEntry;
use machine::{Built, Measuring, Programs, SHIFT, Spec, Template, Timing, Watch};
use protocol::measure::{Clock, Order, Samples};
use transcode::Summary;

use crate::context::Context;
use crate::event::Progress;
use crate::recording::Recording;
use crate::table::SymbolTable;
use crate::take::{Interrupted, Take};
use crate::{Failure, Job, NotMeasured, Profiling};

/// Boots that may be of the rarer kind, one after the other.
const ATTEMPTS: u32 = 12;

/// A stop during which the guest's clock did not jump takes the time of some instructions, in nanoseconds.
const JUMP: u64 = 1000;

/// Machines that may die over the jobs of one boot.
const DEATHS_MAX: usize = 8;

/// A Kernel whose instructions are counted.
#[derive(Debug)]
pub(super) struct Counted<'a> {
    pub(super) label: &'a str,
    pub(super) kernel: &'a Kernel,
    pub(super) spec: &'a Spec,
    pub(super) jobs: &'a [Job],
    pub(super) store: &'a Store,
    pub(super) table: &'a SymbolTable,
    /// Boots that it is going to have.
    pub(super) boots: u32,
    /// The seed of the first of them.
    pub(super) first_seed: u64,
    /// What is recorded instead.
    pub(super) recording: Option<Recording<'a>>,
}

/// A boot of a Kernel that is ready to be measured.
#[derive(Clone, Copy)]
struct Ready<'t> {
    template: &'t Template,
    entry: &'t TemplateEntry,
    /// Which boot, from 0.
    number: u32,
}

/// What one boot said.
#[derive(Debug)]
pub(super) struct BootTake {
    pub(super) release: String,
    pub(super) took: Duration,
    pub(super) booted: Option<u64>,
    /// By how much the guest's clock went on while its machine was stopped.
    resumed: Option<u64>,
    pub(super) jobs: Vec<Option<Result<Samples, NotMeasured>>>,
    pub(super) notes: Vec<String>,
    /// What the plugin wrote of each machine, if it was there.
    pub(super) watched: Vec<Watched>,
    /// What the kernel recorded, if it was asked to.
    pub(super) recorded: Option<Box<Summary>>,
}

/// What the plugin wrote about the jobs of one machine.
#[derive(Debug)]
pub(super) struct Watched {
    /// The jobs that it was asked for, by their indexes.
    pub(super) jobs: Vec<usize>,
    pub(super) output: Vec<u8>,
}

impl Counted<'_> {
    /// Measures all jobs on the boot with this number, from 0. What the plugin counts beside changes nothing that the
    /// guest can see and so no figure.
    pub(super) fn boot(
        &self,
        number: u32,
        profiling: Profiling,
        context: &Context<'_>,
    ) -> Result<BootTake, Failure> {
        let timing = Timing::Instructions { seed: self.first_seed.saturating_add(u64::from(number)) };
        let spec = Spec { timing: Some(timing), ..self.spec.clone() };
        let built = Built::new(&spec, self.kernel)?;
        let entry = built.template_entry(self.store.clone(), Programs::Inside);
        if let Some(template) = built.kept_template(&entry, Programs::Inside) {
            self.emit_booted(&template, true, context);
            match self.take(Ready { template: &template, entry: &entry, number }, profiling, context) {
                // What another kiln kept may be of no use; then there is a boot to be made.
                Err(Failure::Boot { .. } | Failure::Silent { .. }) => {}
                other => {
                    self.table.keep(&entry);
                    return other;
                }
            }
        }
        self.boot_anew((&built, &entry), number, profiling, context)
    }

    /// Measures all jobs on a new boot that stops as all do, and keeps its machine.
    ///
    /// QEMU takes a processor that has stopped for an idle one, and its clock jumps to the next timer, unless another
    /// thread of it has noticed the stop before. The machine sees to it that none has; where one has all the same,
    /// there would be two kinds of boots, whose figures differ by what the kernel draws at random. That is rare enough
    /// for the clone that measures to find out.
    fn boot_anew(
        &self,
        (built, entry): (&Built<'_>, &TemplateEntry),
        number: u32,
        profiling: Profiling,
        context: &Context<'_>,
    ) -> Result<BootTake, Failure> {
        for _ in 0..ATTEMPTS {
            let (kernel, of) = (self.label.to_string(), Some(self.boots));
            (context.emit)(Progress::Boot { kernel, number: number + 1, of });
            let booted =
                built.start_template(Programs::Inside)?.wait_for_template(context.interrupt, &mut |_| ());
            let template = booted.map_err(|failure| Failure::of_boot(self.label, failure))?;
            self.emit_booted(&template, false, context);
            let take = self.take(Ready { template: &template, entry, number }, profiling, context)?;
            if take.resumed.is_none_or(|gap| gap >= JUMP) {
                // What cannot be kept costs the next comparison a boot, and nothing else.
                let _ = entry.keep(&template, context.interrupt);
                self.table.keep(entry);
                return Ok(take);
            }
        }
        let why = format!("its clock did not jump when it stopped, in {ATTEMPTS} boots");
        Err(Failure::Silent { kernel: self.label.to_string(), why })
    }

    fn emit_booted(&self, template: &Template, kept: bool, context: &Context<'_>) {
        let (took, unknown) = (template.about().took, self.unknown(template));
        (context.emit)(Progress::Booted { kernel: self.label.to_string(), took, kept, unknown });
    }

    /// Parameters that the kernel of a template does not know.
    fn unknown(&self, template: &Template) -> Vec<String> {
        let console = template.about().console.iter().map(String::as_str);
        parameters::unknown(console, &self.spec.append)
    }

    /// What clones of a template say.
    fn take(
        &self,
        ready: Ready<'_>,
        profiling: Profiling,
        context: &Context<'_>,
    ) -> Result<BootTake, Failure> {
        let mut take = BootTake {
            release: ready.template.about().release.clone(),
            took: ready.template.about().took,
            booted: None,
            resumed: None,
            jobs: self.jobs.iter().map(|job| job.skip.clone().map(Err)).collect(),
            notes: parameters::note(&self.unknown(ready.template)).into_iter().collect(),
            watched: Vec::new(),
            recorded: None,
        };
        if self.recording.is_some() {
            self.measure(ready, Watch::No, context, &mut take)?;
            return Ok(take);
        }
        let symbols = || self.table.get(self.label, (ready.template, ready.entry), context);
        match profiling {
            Profiling::Events => {
                let entries = symbols()?.event_entries();
                self.measure(ready, Watch::Events(&entries), context, &mut take)?;
            }
            // What is counted does not depend on them, so another boot may read them meanwhile.
            Profiling::Functions => {
                self.measure(ready, Watch::Functions, context, &mut take)?;
                symbols()?;
            }
            Profiling::Stacks => {
                self.measure(ready, Watch::Stacks, context, &mut take)?;
                symbols()?;
            }
        }
        Ok(take)
    }

    /// Asks clones until each job has an answer: one that kills its machine leaves the others to the next.
    fn measure(
        &self,
        ready: Ready<'_>,
        mut watch: Watch<'_>,
        context: &Context<'_>,
        take: &mut BootTake,
    ) -> Result<(), Failure> {
        for _ in 0..DEATHS_MAX {
            let todo: Vec<usize> = (0..self.jobs.len()).filter(|&job| take.jobs[job].is_none()).collect();
            let mut machine = match self.clone_for(ready, &todo, watch) {
                // A QEMU can be built without plugins.
                Err(failure @ Failure::Boot { .. }) if watch != Watch::No => {
                    take.notes.push(format!(
                        "no functions, since kiln's plugin for QEMU did not see it: {failure}"
                    ));
                    watch = Watch::No;
                    continue;
                }
                other => other?,
            };
            let begun =
                |job: usize| (context.emit)(measuring(self.label, self.jobs, ready.number, todo[job]));
            let new = Take::from(&mut machine, todo.len(), context.timeouts, context.interrupt, begun)?;
            take.booted = take.booted.or(new.booted);
            take.resumed = take.resumed.or(new.resumed);
            take.notes.extend(new.notes);
            let answered = new.jobs.iter().flatten().count();
            for (&job, result) in todo.iter().zip(new.jobs) {
                take.jobs[job] = result;
            }
            if watch != Watch::No {
                take.watched.push(Watched { jobs: todo, output: machine.plugin_output()? });
            }
            if let Some(recording) = &self.recording {
                take.recorded = Some(Box::new(recording.of(&machine)?));
                return Ok(());
            }
            if new.is_whole || answered == 0 {
                break;
            }
        }
        if take.jobs.iter().all(Option::is_none) && !take.jobs.is_empty() {
            let why = take.notes.last().cloned().unwrap_or_else(|| "the machine said nothing".to_string());
            return Err(Failure::Silent { kernel: self.label.to_string(), why });
        }
        Ok(())
    }

    fn clone_for(&self, ready: Ready<'_>, jobs: &[usize], watch: Watch<'_>) -> Result<Measuring, Failure> {
        let order = Order {
            clock: Clock::Instructions { shift: SHIFT },
            jobs: jobs.iter().map(|&job| self.jobs[job].work.clone()).collect(),
            symbols: false,
            trace: self.recording.as_ref().map(|recording| recording.request.clone()),
        };
        ready.template.measure(&order, watch)?.map_err(|failure| Failure::of_boot(self.label, failure))
    }
}

/// Says that a job of a boot begins.
pub(super) fn measuring(label: &str, jobs: &[Job], boot: u32, job: usize) -> Progress {
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    Progress::Measuring {
        kernel: label.to_string(),
        boot: boot + 1,
        job: count(job + 1),
        of: count(jobs.len()),
        name: jobs[job].name.clone(),
    }
}

impl From<Interrupted> for Failure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
