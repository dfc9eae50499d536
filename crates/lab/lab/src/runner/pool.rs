//! Cases side by side, each in a machine of its own.
//!
//! Workers take tasks from a queue and send what happens to the one thread that tells it, decides what is to be
//! run again, and closes the queue.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::GivenUp;
use super::defects::Defects;
use super::machine_provider::{MachineProvider, Missing};
use super::news::{Emitter, News};
use super::repetition::Repetition;
use super::spread::Spread;
use super::work::Context;
use crate::event::Event;
use crate::options::{Options, Repeats};
use crate::plan::Item;
use crate::source::Source;
use judge::run::Run;

/// Messages that may wait. While they are not taken the workers stop, and so do their machines.
const WAITING: usize = 1024;

/// What a case is taken to need of which nothing is known: longer than most.
const UNKNOWN: Duration = Duration::from_secs(10);

/// What a worker has to say.
enum Message {
    News(News),
    /// A Run of the repetition of this number.
    Ran(usize, Box<Run>),
    GivenUp(GivenUp),
}

/// Takes a Run that stands for its case.
pub(super) type Finish<'f> = &'f mut dyn FnMut(&mut Emitter<'_>, Run);

/// What is to be run, and how often.
pub(super) struct Order<'p> {
    pub(super) items: Vec<&'p Item>,
    pub(super) repeats: Repeats,
    /// They are run on a golden kernel: only what `finish` gets counts.
    pub(super) is_golden: bool,
}

/// Runs what is ordered, the longest first, and gives each to `finish` when it is done.
pub(super) fn run<'a>(
    source: &'a dyn Source,
    Order { mut items, repeats, is_golden }: Order<'_>,
    context: &Context<'a>,
    emitter: &mut Emitter<'_>,
    finish: Finish<'_>,
) -> Result<(), GivenUp> {
    let spread = Spread::new(repeats, context.options.boots, context.options.jobs.max(1));
    let provider = MachineProvider::prepare(source, (items.len(), spread.boot(0)), context, &mut |news| {
        emit(emitter, news, is_golden);
    })?;
    sort(&mut items, context.options);
    let jobs = context.options.jobs.max(1);
    let mut repetitions: Vec<_> = items.iter().map(|_| Some(Repetition::new(repeats))).collect();
    let queue = Queue::new(spread, jobs);
    let (sender, messages) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        // While a kernel settles another machine works in its place.
        for _ in 0..jobs.saturating_mul(2) {
            let sender = sender.clone();
            let (queue, provider, items) = (&queue, &provider, &items);
            scope.spawn(move || work(queue, provider, items, context, &sender));
        }
        drop(sender);
        for (index, repetition) in repetitions.iter_mut().enumerate() {
            let runs = repetition.as_mut().map_or(0..0, |repetition| repetition.order(jobs));
            queue.push(index, runs);
        }
        let result =
            direct(&messages, &mut repetitions, &queue, (jobs, is_golden), (&mut *emitter, &mut *finish));
        queue.close();
        // Workers that wait to be heard must not wait for ever.
        drop(messages);
        if !is_golden {
            // What was seen of a case is not lost with the Runs that it still should have had.
            let cut_short = repetitions.into_iter().flatten().filter_map(Repetition::conclude);
            cut_short.for_each(|run| finish(emitter, run));
        }
        result
    })
}

/// The longest first, so that none of them is left alone at the end; one of which nothing is known may be long.
fn sort(items: &mut [&Item], options: &Options) {
    items.sort_by_key(|item| std::cmp::Reverse(options.expected(item).unwrap_or(UNKNOWN)));
}

/// Tells what the workers say, orders what is to be run again, and ends when all repetitions have.
fn direct(
    messages: &Receiver<Message>,
    repetitions: &mut [Option<Repetition>],
    queue: &Queue,
    (jobs, is_golden): (usize, bool),
    (emitter, finish): (&mut Emitter<'_>, Finish<'_>),
) -> Result<(), GivenUp> {
    let (mut open, mut defects) = (repetitions.len(), Defects::default());
    // The error when one of them panicked, which the scope reports.
    let mut given_up = GivenUp::Told;
    while open > 0 {
        // When one has given up, the others finish what they are at, and go.
        let Ok(message) = messages.recv() else { return Err(given_up) };
        let (index, mut run) = match message {
            Message::News(news) => {
                emit(emitter, news, is_golden);
                continue;
            }
            Message::GivenUp(why) => {
                given_up = why;
                continue;
            }
            Message::Ran(index, run) => (index, run),
        };
        let Some(repetition) = repetitions[index].as_mut() else { continue };
        // What comes up in repeats only is not repeated for others.
        let undecided = repetition.is_undecided().then_some(&run);
        if let Some(other) = undecided.and_then(|run| defects.met_by_other(run)).map(str::to_string) {
            repetition.do_not_repeat();
            run.notes.push(format!("not repeated: {other} met the same defect"));
        }
        let repeats = repetition.take(*run).iter().filter(|_| !is_golden);
        repeats.for_each(|run| emitter.on_event(&Event::Repeated(Box::new(run.clone()))));
        let more = repetition.order(jobs);
        queue.push(index, more);
        if repetition.is_complete() {
            open -= 1;
            repetitions[index]
                .take()
                .and_then(Repetition::conclude)
                .into_iter()
                .for_each(|run| finish(emitter, run));
        }
    }
    Ok(())
}

/// A golden kernel that does not boot accuses nobody, and what cases do on it is not what they do on the tested one.
fn emit(emitter: &mut Emitter<'_>, news: News, is_golden: bool) {
    match news {
        News::Boot(run) if is_golden => emitter.note(format!("the golden kernel: {}", run.reason)),
        News::Event(Event::Started { .. } | Event::Output { .. } | Event::Console { clone: 1.., .. })
            if is_golden => {}
        news => emitter.emit(news),
    }
}

/// The life of a worker.
fn work<'a>(
    queue: &Queue,
    provider: &MachineProvider<'a>,
    items: &[&Item],
    context: &Context<'a>,
    sender: &SyncSender<Message>,
) {
    let _last = Last(queue);
    // Whoever does not listen any more has given up.
    let say = |message| sender.send(message).is_ok();
    while let Some((Task { boot, index, .. }, mut place)) = queue.take() {
        let item = items[index];
        let mut emit = |news| match news {
            News::Settling => place.leave(),
            news => drop(sender.send(Message::News(news))),
        };
        let run = match provider.machine(item, boot, context, &mut emit) {
            Ok(mut fresh) => context.run(&mut fresh, item, true, &mut emit).map(|(run, _)| Box::new(run)),
            Err(Missing::Run(run)) => Some(run),
            Err(Missing::GivenUp(why)) => {
                say(Message::GivenUp(why));
                return;
            }
        };
        let Some(run) = run else {
            say(Message::GivenUp(GivenUp::Told));
            return;
        };
        if !say(Message::Ran(index, run)) {
            return;
        }
    }
}

/// A worker that goes before the others, however it does, lets none of them wait for ever.
struct Last<'q>(&'q Queue);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A Run that is to be made. Those of earlier boots come first, so that few boots are needed at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Task {
    boot: u32,
    /// The order of those of one boot: what is run again waits until all others had their turn.
    turn: usize,
    run: u32,
    /// The number of its repetition.
    index: usize,
}

/// Runs that are to be made.
struct Queue {
    spread: Spread,
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    tasks: BTreeSet<Task>,
    turn: usize,
    /// How many machines may begin to work.
    places: usize,
    closed: bool,
}

/// The right of one machine to work.
struct Place<'q>(Option<&'q Queue>);

impl Place<'_> {
    /// Lets another machine work.
    fn leave(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.lock().places += 1;
            queue.changed.notify_all();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Queue {
    fn new(spread: Spread, places: usize) -> Self {
        let state = Mutex::new(Waiting { places, ..Waiting::default() });
        Self { spread, state, changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, index: usize, runs: Range<u32>) {
        let mut waiting = self.lock();
        waiting.turn += 1;
        let turn = waiting.turn;
        waiting.tasks.extend(runs.map(|run| Task { boot: self.spread.boot(run), turn, run, index }));
        drop(waiting);
        self.changed.notify_all();
    }

    /// The next one, once there is a place for its machine; nothing when the queue has been closed.
    fn take(&self) -> Option<(Task, Place<'_>)> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            if waiting.places > 0
                && let Some(task) = waiting.tasks.pop_first()
            {
                waiting.places -= 1;
                return Some((task, Place(Some(self))));
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Boots;

    #[test]
    fn the_place_of_a_kernel_that_settles_is_free() {
        let queue = Queue::new(Spread::new(Repeats::Times(1), Boots::default(), 1), 1);
        queue.push(0, 0..1);
        queue.push(1, 0..1);
        let places = || queue.lock().places;
        let (first, mut place) = queue.take().expect("open");
        assert_eq!((first.index, places()), (0, 0));
        place.leave();
        place.leave();
        assert_eq!(places(), 1, "a machine that lies frees no more than its own");
        let (second, place) = queue.take().expect("open");
        assert_eq!((second.index, places()), (1, 0));
        drop(place);
        assert_eq!(places(), 1);
        queue.close();
        assert!(queue.take().is_none());
    }
}
