//! `kiln top`: what is known, on the terminal.
//!
//! * [`screen`]: the terminal, which is as before in the end; [`keys`](mod@keys): what comes from it
//! * [`looker`]: reads the ledger meanwhile; [`offer`](mod@offer): what can be started
//! * [`children`]: what was started

mod children;
mod keys;
mod looker;
mod offer;
mod screen;

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use judge::exit::INTERRUPTED;
use top::{Effect, Input, Options, State};

use crate::cli::Top;
use crate::failure::{WrongUsage, complain};
use crate::signals;
use children::Children;
use looker::Looker;
use screen::Screen;

/// How often the clock, the children and the user's wish to stop are looked at.
const TICK: Duration = Duration::from_millis(250);

/// What may wait to be taken notice of; whoever sends more of it waits.
const WAITING_MAX: usize = 64;

/// What threads tell: what happened, or why they cannot go on.
type Told = Result<Input>;

/// Shows what is known until the user leaves, and gives the exit code.
pub(crate) fn top(args: &Top, colour: bool) -> Result<u8> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let text =
            "kiln top needs a terminal: `kiln results` lists Runs, `kiln serve` shows them to browsers";
        return Err(WrongUsage(text.to_owned()).into());
    }
    let stop = signals::interrupt_flag().context("signals")?;
    let (sender, told) = sync_channel(WAITING_MAX);
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let results = args.results.as_ref().map(|folder| folder.display().to_string());
    let looker = Looker::start(root, sender.clone())?;
    let screen = Screen::enter().context("the terminal")?;
    keys::read(sender.clone())?;
    let options = Options { colour, mascot: args.mascot, results };
    let state = State::new(options, screen.size(), Timestamp::now());
    let mut shown = Shown { state, screen, looker, children: Children::default(), sender };
    let left = shown.until_left(&told, &stop);
    let Shown { screen, mut children, .. } = shown;
    drop(screen);
    let left = left?;
    if left == Left::Alone {
        children.release();
    } else if children.living() > 0 {
        complain(&format!("stopping what was started: {}", children.living()));
    }
    drop(children);
    Ok(if left == Left::Signalled { INTERRUPTED } else { 0 })
}

/// How the user left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// What was started goes on.
    Alone,
    /// It is stopped.
    Stopping,
    /// By a signal, or with the terminal.
    Signalled,
}

/// What is shown, and all that it takes.
struct Shown {
    state: State,
    screen: Screen,
    looker: Looker,
    children: Children,
    sender: SyncSender<Told>,
}

impl Shown {
    fn until_left(&mut self, told: &Receiver<Told>, stop: &AtomicBool) -> Result<Left> {
        while !stop.load(Ordering::Relaxed) {
            self.screen.draw(&self.state)?;
            let first = match told.recv_timeout(TICK) {
                Ok(told) => told?,
                Err(RecvTimeoutError::Timeout) => Input::Now(Timestamp::now()),
                Err(RecvTimeoutError::Disconnected) => bail!("nobody reads the terminal"),
            };
            let size = self.screen.new_size()?.map(Input::Size);
            // What came meanwhile is drawn once.
            let others = told.try_iter().take(WAITING_MAX).collect::<Result<Vec<_>>>()?;
            for input in size.into_iter().chain([first]).chain(others).chain(self.children.news()) {
                if let Some(left) = self.on(input)? {
                    return Ok(left);
                }
            }
            screen::check()?;
        }
        Ok(Left::Signalled)
    }

    fn on(&mut self, input: Input) -> Result<Option<Left>> {
        for effect in self.state.on(input) {
            match effect {
                Effect::ReadSession(_) | Effect::ReadRun { .. } => self.looker.ask(effect),
                Effect::ReadOffer => offer::read(self.sender.clone())?,
                Effect::Start(calls) => self.start(calls),
                Effect::Redraw => self.screen.redraw()?,
                Effect::Leave { stop } => return Ok(Some(if stop { Left::Stopping } else { Left::Alone })),
            }
        }
        Ok(None)
    }

    fn start(&mut self, calls: Vec<Vec<String>>) {
        for arguments in calls {
            if let Err(error) = self.children.start(arguments) {
                self.state.on(Input::Note(format!("kiln cannot be started: {error}")));
            }
        }
    }
}
