//! Where machines that play come from: boots, templates, clones.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lab::source::{BootEvent, Facts, Source, Template, Up};
use machine::payload::Wanted;
use machine::{BootFailure, BootTrouble, Error, Event};

use super::machine::{Diary, FakeMachine, Manner};

/// What the n-th boot does, also that of a template; a machine that is up is the default.
#[derive(Debug)]
pub(crate) enum Boot {
    Up,
    /// It comes up after this line on the console.
    Says(&'static str),
    Fails(BootTrouble),
    /// It prints this, comes up or not, and prints the rest when it is up.
    Prints(String, Result<String, BootTrouble>),
    /// An earlier run has kept a template, which said this when it booted.
    Kept(&'static str),
    /// The host cannot even start it.
    Impossible,
}

/// What the n-th clone does; one that is up is the default.
#[derive(Debug)]
pub(crate) enum Cloned {
    Up,
    Fails(BootTrouble),
    Impossible,
}

pub(crate) struct FakeSource {
    boots: Mutex<VecDeque<Boot>>,
    nature: Arc<Nature>,
}

/// What a source and its templates have in common.
struct Nature {
    manner: Manner,
    clones: Mutex<VecDeque<Cloned>>,
    diary: Arc<Diary>,
}

struct FakeTemplate {
    nature: Arc<Nature>,
    console: Vec<String>,
    kept: bool,
}

/// The next of a list, if one is left.
fn next<T>(list: &Mutex<VecDeque<T>>) -> Option<T> {
    list.lock().expect("no thread panicked").pop_front()
}

fn failure(trouble: BootTrouble) -> BootFailure {
    BootFailure { trouble, console: vec!["last words".into()], facts: Box::default(), dump: None }
}

fn impossible() -> Error {
    Error::NoQemu("fake".into())
}

impl FakeSource {
    pub(crate) fn new(manner: Manner, boots: Vec<Boot>, clones: Vec<Cloned>, diary: &Arc<Diary>) -> Self {
        let nature = Nature { manner, clones: Mutex::new(clones.into()), diary: Arc::clone(diary) };
        Self { boots: Mutex::new(boots.into()), nature: Arc::new(nature) }
    }

    /// Plays the next boot; gives what it prints when it is up.
    fn play(
        &self,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<VecDeque<Event>, BootFailure>, Error> {
        on_event(BootEvent::CommandLine("fake"));
        on_event(BootEvent::Console("Linux version 6.1.0"));
        let boot = next(&self.boots).unwrap_or(Boot::Up);
        let early = match &boot {
            Boot::Says(text) => text,
            Boot::Prints(text, _) => text.as_str(),
            _ => "",
        };
        early.lines().for_each(|line| on_event(BootEvent::Console(line)));
        match boot {
            Boot::Impossible => Err(impossible()),
            Boot::Fails(trouble) | Boot::Prints(_, Err(trouble)) => Ok(Err(failure(trouble))),
            Boot::Prints(_, Ok(late)) => {
                Ok(Ok(late.lines().map(|line| Event::Console(line.into())).collect()))
            }
            Boot::Up | Boot::Says(_) => Ok(Ok(VecDeque::new())),
            Boot::Kept(_) => panic!("what is kept is not booted"),
        }
    }

    /// What was kept, if that is what comes next.
    fn kept(&self) -> Option<&'static str> {
        let mut boots = self.boots.lock().expect("no thread panicked");
        match boots.front() {
            Some(&Boot::Kept(line)) => {
                boots.pop_front();
                Some(line)
            }
            _ => None,
        }
    }
}

impl Nature {
    fn up(&self, queue: VecDeque<Event>) -> Up {
        let machine = Box::new(FakeMachine::new(&self.manner, queue, &self.diary));
        Up { machine, release: "6.1.0".into(), took: Duration::from_millis(1) }
    }
}

impl Source for FakeSource {
    fn boot(
        &self,
        _interrupt: &AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Up, BootFailure>, Error> {
        self.nature.diary.seen().boots += 1;
        Ok(self.play(on_event)?.map(|queue| self.nature.up(queue)))
    }

    fn template<'s>(
        &'s self,
        _number: u32,
        _interrupt: &'s AtomicBool,
        on_event: &mut dyn FnMut(BootEvent<'_>),
    ) -> Result<Result<Box<dyn Template<'s> + 's>, BootFailure>, Error> {
        self.nature.diary.seen().templates += 1;
        let kept = self.kept();
        if kept.is_none()
            && let Err(failure) = self.play(on_event)?
        {
            return Ok(Err(failure));
        }
        let console = kept.into_iter().map(str::to_string).collect();
        let nature = Arc::clone(&self.nature);
        Ok(Ok(Box::new(FakeTemplate { nature, console, kept: kept.is_some() })))
    }
}

impl<'s> Template<'s> for FakeTemplate {
    fn facts(&self) -> Facts<'_> {
        let took = Duration::from_millis(1);
        Facts { release: "6.1.0", took, console: &self.console, kept: self.kept }
    }

    fn clone_machine(
        &self,
        wanted: &Wanted,
        _interrupt: &AtomicBool,
    ) -> Result<Result<Up, BootFailure>, Error> {
        self.nature.diary.seen().clones += 1;
        match next(&self.nature.clones).unwrap_or(Cloned::Up) {
            Cloned::Impossible => Err(impossible()),
            Cloned::Fails(trouble) => Ok(Err(failure(trouble))),
            Cloned::Up => {
                self.nature.diary.seen().unpacked += usize::from(!wanted.is_empty());
                Ok(Ok(self.nature.up(VecDeque::new())))
            }
        }
    }
}
