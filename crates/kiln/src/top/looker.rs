//! Reads the ledger while the terminal is drawn.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};

use jiff::Timestamp;
use ledger::Looks;
use top::{Effect, Input, Reader};

use super::Told;

/// A thread that reads.
#[derive(Debug)]
pub(super) struct Looker {
    wanted: Sender<Effect>,
}

impl Looker {
    /// Looks at the sessions below `root` as often as they may have changed.
    pub(super) fn start(root: PathBuf, sender: SyncSender<Told>) -> io::Result<Self> {
        let (wanted, receiver) = channel();
        std::thread::Builder::new().name("ledger".to_owned()).spawn(move || {
            if let Err(error) = look(root, &sender, &receiver) {
                let _ = sender.send(Err(error.into()));
            }
        })?;
        Ok(Self { wanted })
    }

    /// Has it read what is opened.
    pub(super) fn ask(&self, wanted: Effect) {
        // A thread that has ended has said why.
        let _ = self.wanted.send(wanted);
    }
}

/// Looks until nobody listens.
fn look(root: PathBuf, sender: &SyncSender<Told>, wanted: &Receiver<Effect>) -> Result<(), top::Error> {
    let mut progress = |done, total| {
        let _ = sender.send(Ok(Input::Note(format!("reading sessions: {done} of {total}"))));
    };
    let mut reader = Reader::open(&root, ledger::bisections_root(), &mut progress)?;
    let mut looks = Looks::new(root, ledger::bisections_root());
    let mut before = None;
    loop {
        let now = looks.look();
        let is_news = before.replace(now) != Some(now);
        if let Some(look) = reader.look(is_news, Timestamp::now())?
            && sender.send(Ok(Input::Look(Box::new(look)))).is_err()
        {
            return Ok(());
        }
        let first = match wanted.recv_timeout(Looks::INTERVAL) {
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            first => first.ok(),
        };
        for effect in first.into_iter().chain(wanted.try_iter()) {
            if let Some(answer) = answer(&mut reader, effect)
                && sender.send(Ok(answer)).is_err()
            {
                return Ok(());
            }
        }
    }
}

/// What was asked for.
fn answer(reader: &mut Reader, wanted: Effect) -> Option<Input> {
    match wanted {
        Effect::ReadSession(session) => {
            let runs = reader.runs(&session).map_err(|error| error.to_string());
            Some(Input::Runs { session, runs })
        }
        Effect::ReadRun { session, case } => {
            let lines = reader.run(&session, &case).map_err(|error| error.to_string());
            Some(Input::Run { session, case, lines })
        }
        _ => None,
    }
}
