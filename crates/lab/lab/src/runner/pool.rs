//! Cases side by side, each in a machine of its own.
//!
//! Workers take tasks from a queue and send what happens to the one thread that tells it, decides what is to be
//! run again, and closes the queue.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::GivenUp;
use super::machine_provider::{MachineProvider, Missing};
use super::news::{Emitter, News};
use super::repetition::Repetition;
use super::spread::Spread;
use super::work::Context;
use crate::event::Event;
use crate::options::Repeats;
use crate::plan::Item;
use crate::source::Source;
use judge::run::Run;

/// Messages that may wait. While they are not taken the workers stop, and so do their machines.
const WAITING: usize = 1024;

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
    sort(&mut items, &context.options.durations);
    let jobs = context.options.jobs.max(1);
    let mut repetitions: Vec<_> = items.iter().map(|_| Some(Repetition::new(repeats))).collect();
    let queue = Queue::new(spread);
    let (sender, messages) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
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

/// Those that took longest first, so that none of them is left alone at the end; unknown ones may be as long.
fn sort(items: &mut [&Item], durations: &HashMap<String, Duration>) {
    items.sort_by_key(|item| std::cmp::Reverse(durations.get(&item.name).copied().unwrap_or(Duration::MAX)));
}

/// Tells what the workers say, orders what is to be run again, and ends when all repetitions have.
fn direct(
    messages: &Receiver<Message>,
    repetitions: &mut [Option<Repetition>],
    queue: &Queue,
    (jobs, is_golden): (usize, bool),
    (emitter, finish): (&mut Emitter<'_>, Finish<'_>),
) -> Result<(), GivenUp> {
    let mut open = repetitions.len();
    // The error when one of them panicked, which the scope reports.
    let mut given_up = GivenUp::Told;
    while open > 0 {
        // When one has given up, the others finish what they are at, and go.
        let Ok(message) = messages.recv() else { return Err(given_up) };
        let (index, run) = match message {
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
        News::Event(Event::Started { .. } | Event::Console { clone: 1.., .. }) if is_golden => {}
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
    while let Some(Task { boot, index, .. }) = queue.take() {
        let item = items[index];
        let mut emit = |news| drop(sender.send(Message::News(news)));
        let run = match provider.machine(item, boot, context, &mut emit) {
            Ok(mut fresh) => context.run(&mut fresh, item, &mut emit).map(|(run, _)| Box::new(run)),
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
    closed: bool,
}

impl Queue {
    fn new(spread: Spread) -> Self {
        Self { spread, state: Mutex::default(), changed: Condvar::new() }
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

    /// The next one; nothing when the queue has been closed.
    fn take(&self) -> Option<Task> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            if let Some(task) = waiting.tasks.pop_first() {
                return Some(task);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}
