//! A queue on disk of what is sent: mails, and what else a server gets.
//!
//! ```text
//! $XDG_STATE_HOME/kiln/outbox/
//!     queued/4f1c9a0e6b7d2c35.eml     waits to be sent
//!     sending/...                     is being sent; if nobody does, it is not known whether it was
//!     refused/...                     a server does not want it
//!     sent/...                        was sent
//!     4f1c9a0e6b7d2c35.txt            why it was not sent the last time
//!     lock
//! ```
//!
//! An item moves from folder to folder by one system call: it is in one of them at any time, whenever kiln is killed. What is or may have
//! been sent is not sent again. A mail is named by its content; what replaces an older one has the name of that.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::SystemTime;

use kernel::files::{self, Limit};

use crate::Error;
use crate::item::Item;
use crate::transport::{Failure, Transport};

/// Largest reason that is kept, in bytes.
const REASON: Limit = Limit { what: "a reason", bytes: 64 << 10 };

/// Where an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It waits to be sent.
    Queued,
    /// It is being sent. If nobody does, it is not known whether it was sent.
    Sending,
    /// A server does not want it.
    Refused,
    /// It was sent.
    Sent,
}

/// An item of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<T> {
    /// Where it is.
    pub state: State,
    /// Itself.
    pub item: T,
    /// Why it was not sent the last time.
    pub reason: Option<String>,
}

/// What came of queuing an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queued {
    /// It waits to be sent.
    New,
    /// The same was there already.
    Before(State),
}

/// A queue on disk.
#[derive(Debug, Clone)]
pub struct Queue<T> {
    root: PathBuf,
    items: PhantomData<T>,
}

/// Nobody else sends as long as this lives.
#[derive(Debug)]
struct Lock(#[expect(dead_code, reason = "it is closed in the end")] File);

impl State {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Sending, Self::Refused, Self::Sent];

    /// Its name, which is that of its folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sending => "sending",
            Self::Refused => "refused",
            Self::Sent => "sent",
        }
    }
}

impl<T: Item> Queue<T> {
    /// One at this place.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        Self { root, items: PhantomData }
    }

    /// Puts an item into the queue, unless it is or was there.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn add(&self, item: &T) -> Result<Queued, Error> {
        let name = item.name();
        if let Some(state) = State::ALL.into_iter().find(|state| self.path(*state, name).exists()) {
            return Ok(Queued::Before(state));
        }
        self.write(item)
    }

    /// Puts an item into the queue in place of the one of its name that waits, was refused or was sent. One that may have been sent
    /// stays as it is, unless it does no harm that it is sent twice.
    ///
    /// # Errors
    ///
    /// When it cannot be written, and when another kiln sends.
    pub fn replace(&self, item: &T, is_harmless_twice: bool) -> Result<Queued, Error> {
        let _lock = self.lock()?;
        let name = item.name();
        if !is_harmless_twice && self.path(State::Sending, name).exists() {
            return Ok(Queued::Before(State::Sending));
        }
        for state in [State::Sending, State::Refused, State::Sent] {
            self.remove(state, name)?;
        }
        self.explain(name, None)?;
        self.write(item)
    }

    fn write(&self, item: &T) -> Result<Queued, Error> {
        let name = item.name();
        let bytes = item.bytes()?;
        let path = self.path(State::Queued, name);
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        let half = self.root.join(format!("{name}.half-{}", std::process::id()));
        let write = || {
            let mut file = File::create(&half)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&half, &path)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(Error::io(&path))?;
        Ok(Queued::New)
    }

    /// All items, by state, and then by age; why not, of those that cannot be read.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry<T>, Error>> + '_ {
        let all = State::ALL
            .into_iter()
            .flat_map(|state| self.names(state).into_iter().map(move |name| (state, name)));
        all.map(|(state, name)| {
            let item = self.read(state, &name)?;
            Ok(Entry { state, item, reason: self.reason(&name) })
        })
    }

    /// Sends what is queued, the oldest first, and stops where nothing can be sent now. `tell` gets what came of each.
    ///
    /// # Errors
    ///
    /// When another kiln sends, and when the outbox cannot be written. When a file of it cannot be read, once all others are sent.
    pub fn send(
        &self,
        transport: &mut dyn Transport<T>,
        tell: &mut dyn FnMut(&T, &Result<(), Failure>),
    ) -> Result<(), Error> {
        let _lock = self.lock()?;
        let mut unreadable = Ok(());
        for name in self.names(State::Queued) {
            // Another kiln that queued the same has sent it meanwhile.
            if State::ALL[1..].iter().any(|&state| self.path(state, &name).exists()) {
                self.remove(State::Queued, &name)?;
                continue;
            }
            let item = match self.read(State::Queued, &name) {
                Ok(item) => item,
                Err(error) => {
                    unreadable = Err(error);
                    continue;
                }
            };
            self.shift(&name, State::Queued, State::Sending)?;
            let done = transport.deliver(&item);
            let (state, reason) = match &done {
                Ok(()) => (State::Sent, None),
                Err(Failure::Refused(reason)) => (State::Refused, Some(reason)),
                Err(Failure::Later(reason)) => (State::Queued, Some(reason)),
                Err(Failure::Unknown(reason)) => (State::Sending, Some(reason)),
            };
            self.explain(&name, reason.map(String::as_str))?;
            if state != State::Sending {
                self.shift(&name, State::Sending, state)?;
            }
            tell(&item, &done);
            if matches!(done, Err(Failure::Later(_) | Failure::Unknown(_))) && !transport.goes_on() {
                break;
            }
        }
        unreadable
    }

    fn read(&self, state: State, name: &str) -> Result<T, Error> {
        let path = self.path(state, name);
        T::parse(name, files::read(&path, T::LIMIT)?, &path)
    }

    /// Puts an item back into the queue that was refused, or of which nobody knows whether it was sent; gives its name.
    ///
    /// # Errors
    ///
    /// When there is no such item, and when another kiln sends.
    pub fn retry(&self, name: &str) -> Result<String, Error> {
        let _lock = self.lock()?;
        let (state, name) = self.find(name, &[State::Sending, State::Refused])?;
        self.shift(&name, state, State::Queued)?;
        Ok(name)
    }

    /// Removes an item that was not sent; gives its name.
    ///
    /// # Errors
    ///
    /// When there is no such item, and when another kiln sends.
    pub fn drop(&self, name: &str) -> Result<String, Error> {
        let _lock = self.lock()?;
        let (state, name) = self.find(name, &[State::Queued, State::Sending, State::Refused])?;
        self.remove(state, &name)?;
        self.explain(&name, None)?;
        Ok(name)
    }

    fn find(&self, beginning: &str, states: &[State]) -> Result<(State, String), Error> {
        let all =
            states.iter().flat_map(|&state| self.names(state).into_iter().map(move |name| (state, name)));
        let mut found: Vec<(State, String)> = all.filter(|(_, name)| name.starts_with(beginning)).collect();
        match (found.pop(), found.len()) {
            (Some(one), 0) => Ok(one),
            (None, _) if State::ALL.iter().any(|&state| self.is_in(state, beginning)) => {
                Err(Error::NotWaiting { name: beginning.to_owned() })
            }
            (None, _) => Err(Error::NoSuchMail { name: beginning.to_owned() }),
            (Some(_), others) => Err(Error::Ambiguous { name: beginning.to_owned(), count: others + 1 }),
        }
    }

    /// Names of the items in a state, the oldest first. Other files that somebody has put there are left alone.
    fn names(&self, state: State) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(state.name())).into_iter().flatten().flatten();
        let mut all: Vec<(SystemTime, String)> = entries
            .filter_map(|entry| {
                let path = entry.path();
                let name = path.file_stem()?.to_str()?.to_owned();
                let facts = entry.metadata().ok()?;
                let is_named = name.bytes().all(|byte| byte.is_ascii_hexdigit());
                let is_item =
                    path.extension().is_some_and(|ending| ending == T::ENDING) && facts.is_file() && is_named;
                is_item.then_some((facts.modified().ok()?, name))
            })
            .collect();
        all.sort();
        all.into_iter().map(|(_, name)| name).collect()
    }

    fn is_in(&self, state: State, beginning: &str) -> bool {
        self.names(state).iter().any(|name| name.starts_with(beginning))
    }

    fn path(&self, state: State, name: &str) -> PathBuf {
        self.root.join(state.name()).join(name).with_extension(T::ENDING)
    }

    /// Removes the file of an item, if there is one.
    fn remove(&self, state: State, name: &str) -> Result<(), Error> {
        let path = self.path(state, name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(&path)(error)),
            _ => Ok(()),
        }
    }

    fn shift(&self, name: &str, from: State, to: State) -> Result<(), Error> {
        let (from, to) = (self.path(from, name), self.path(to, name));
        let folder = to.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
        fs::rename(&from, &to).and_then(|()| File::open(folder)?.sync_all()).map_err(Error::io(&to))
    }

    fn reason(&self, name: &str) -> Option<String> {
        let text = files::read(&self.explanation(name), REASON).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn explain(&self, name: &str, reason: Option<&str>) -> Result<(), Error> {
        let path = self.explanation(name);
        let done = match reason {
            Some(reason) => fs::write(&path, reason),
            None => fs::remove_file(&path),
        };
        match done {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(&path)(error)),
            _ => Ok(()),
        }
    }

    fn explanation(&self, name: &str) -> PathBuf {
        self.root.join(name).with_extension("txt")
    }

    fn lock(&self) -> Result<Lock, Error> {
        fs::create_dir_all(&self.root).map_err(Error::io(&self.root))?;
        let path = self.root.join("lock");
        let file = File::options().create(true).append(true).open(&path).map_err(Error::io(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { path: self.root.clone() }),
            Err(TryLockError::Error(error)) => Err(Error::io(&path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::{Message, Outbox};

    struct Place {
        _folder: tempfile::TempDir,
        path: PathBuf,
        outbox: Outbox,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("temporary");
            let outbox = Outbox::at(folder.path().join("outbox"));
            Self { path: folder.path().to_owned(), outbox, _folder: folder }
        }

        fn message(&self, text: &str) -> Message {
            let path = self.path.join("mail");
            fs::write(&path, format!("To: a@example.org\nSubject: {text}\n\n{text}\n")).expect("writable");
            Message::compose(&path, Some("m@example.net"), Timestamp::UNIX_EPOCH).expect("a mail")
        }

        fn entries(&self) -> Vec<Entry<Message>> {
            self.outbox.entries().collect::<Result<_, _>>().expect("readable")
        }

        fn states(&self) -> Vec<(State, String)> {
            self.entries().into_iter().map(|entry| (entry.state, entry.item.subject)).collect()
        }

        fn send(&self, answers: Vec<Result<(), Failure>>) -> Vec<String> {
            let mut server = Answers { answers, got: Vec::new() };
            self.outbox.send(&mut server, &mut |_, _| {}).expect("nobody else sends");
            server.got
        }
    }

    /// Gives one answer after the other, from the last on.
    struct Answers {
        answers: Vec<Result<(), Failure>>,
        got: Vec<String>,
    }

    impl Transport<Message> for Answers {
        fn deliver(&mut self, message: &Message) -> Result<(), Failure> {
            self.got.push(message.subject.clone());
            self.answers.pop().unwrap_or(Ok(()))
        }
    }

    #[test]
    fn the_same_mail_is_sent_once() {
        let place = Place::new();
        assert_eq!(place.outbox.add(&place.message("one")).expect("writable"), Queued::New);
        assert_eq!(place.outbox.add(&place.message("one")).expect("writable"), Queued::Before(State::Queued));
        assert_eq!(place.send(Vec::new()), ["one"]);
        assert_eq!(place.outbox.add(&place.message("one")).expect("writable"), Queued::Before(State::Sent));
        assert_eq!(place.send(Vec::new()), [""; 0]);
        assert_eq!(place.states(), [(State::Sent, "one".to_owned())]);
    }

    #[test]
    fn each_answer_has_its_folder() {
        let later = || Err(Failure::Later("offline".to_owned()));
        for (answer, state) in [
            (later(), State::Queued),
            (Err(Failure::Refused("no".to_owned())), State::Refused),
            (Err(Failure::Unknown("gone".to_owned())), State::Sending),
        ] {
            let place = Place::new();
            place.outbox.add(&place.message("one")).expect("writable");
            place.send(vec![answer]);
            assert_eq!(place.states(), [(state, "one".to_owned())]);
            assert!(place.entries()[0].reason.is_some());
            let again = place.send(Vec::new());
            assert_eq!(
                again.len(),
                usize::from(state == State::Queued),
                "only what was not sent is sent again"
            );
            if state != State::Queued {
                place.outbox.retry("").expect("one mail");
                assert_eq!(place.send(Vec::new()), ["one"]);
            }
            assert_eq!(place.states(), [(State::Sent, "one".to_owned())]);
            assert_eq!(place.entries()[0].reason, None);
        }
    }

    #[test]
    fn a_mail_of_a_kiln_that_was_killed_is_not_sent_again_by_itself() {
        let place = Place::new();
        let message = place.message("one");
        place.outbox.add(&message).expect("writable");
        place.outbox.shift(&message.name, State::Queued, State::Sending).expect("writable");
        assert_eq!(place.send(Vec::new()), [""; 0]);
        assert_eq!(place.outbox.add(&message).expect("writable"), Queued::Before(State::Sending));
        place.outbox.drop(&message.name[..4]).expect("it is there");
        assert_eq!(place.states(), []);
        assert!(place.outbox.drop(&message.name).is_err() && place.outbox.retry("x").is_err());
    }

    #[test]
    fn what_two_queue_at_once_is_sent_once() {
        let place = Place::new();
        let message = place.message("one");
        place.outbox.add(&message).expect("writable");
        assert_eq!(place.send(Vec::new()), ["one"]);
        // The other had looked before.
        fs::write(place.outbox.path(State::Queued, &message.name), &message.bytes).expect("writable");
        assert_eq!(place.send(Vec::new()), [""; 0]);
        assert_eq!(place.states(), [(State::Sent, "one".to_owned())]);
        let waits = place.outbox.drop(&message.name).expect_err("it was sent").to_string();
        assert!(waits.contains("does not wait"), "{waits}");
    }

    #[test]
    fn odd_files_stop_no_mail() {
        let place = Place::new();
        place.outbox.add(&place.message("one")).expect("writable");
        let queued = place.outbox.root.join("queued");
        for name in ["garbage.eml", "a.b.eml", "0123.txt"] {
            fs::write(queued.join(name), "").expect("writable");
        }
        fs::create_dir(queued.join("dead.eml")).expect("writable");
        fs::write(queued.join("0123456789abcdef.eml"), "no mail").expect("writable");
        let mut server = Answers { answers: Vec::new(), got: Vec::new() };
        let error = place.outbox.send(&mut server, &mut |_, _| {}).expect_err("one cannot be read");
        assert!(error.to_string().contains("0123456789abcdef.eml"), "{error}");
        assert_eq!(server.got, ["one"]);
        assert_eq!(place.outbox.entries().filter(Result::is_err).count(), 1);
        place.outbox.drop("0123").expect("it is there");
        assert_eq!(place.send(Vec::new()), [""; 0]);
    }

    #[test]
    fn one_kiln_sends_at_a_time() {
        let place = Place::new();
        let held = place.outbox.lock().expect("free");
        let error = place.outbox.send(&mut Answers { answers: Vec::new(), got: Vec::new() }, &mut |_, _| {});
        assert!(matches!(error, Err(Error::Busy { .. })));
        std::mem::drop(held);
        assert_eq!(place.send(Vec::new()), [""; 0]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_sent_twice(answers in proptest::collection::vec(0..4u8, 0..12), mails in 1..5usize) {
            let place = Place::new();
            for number in 0..mails {
                place.outbox.add(&place.message(&format!("mail {number}"))).expect("writable");
            }
            let mut arrived = Vec::new();
            for answer in answers {
                let answer = match answer {
                    0 => Ok(()),
                    1 => Err(Failure::Later(String::new())),
                    2 => Err(Failure::Refused(String::new())),
                    _ => Err(Failure::Unknown(String::new())),
                };
                let offline = vec![Err(Failure::Later(String::new())), answer.clone()];
                let got = place.send(offline);
                arrived.extend(got.first().filter(|_| answer.is_ok()).cloned());
                prop_assert_eq!(place.states().len(), mails);
            }
            let sent = place.states().into_iter().filter(|(state, _)| *state == State::Sent).count();
            prop_assert_eq!(sent, arrived.len());
            let once: std::collections::BTreeSet<_> = arrived.iter().collect();
            prop_assert_eq!(once.len(), arrived.len());
        }
    }
}
