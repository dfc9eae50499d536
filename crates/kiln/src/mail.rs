//! `kiln mail`: mail that goes out, and what waits for it.

use std::path::PathBuf;

use anyhow::{Context, Result};
use jiff::Timestamp;
use judge::exit::BROKEN;
use outbox::{Entry, Failure, Message, Outbox, Queued, Settings, State, transport};
use report::safe::safe_line;

use crate::cli::{Mail, MailVerb};
use crate::find::in_context;
use crate::listeners::print;
use crate::signals;

/// Does what was asked and gives the exit code.
pub(crate) fn mail(args: &Mail) -> Result<u8> {
    let outbox = Outbox::of_user();
    match &args.verb {
        None => {
            let mut unreadable = Ok(());
            for entry in outbox.entries() {
                match entry {
                    Ok(entry) => print(&line(&entry))?,
                    Err(error) => unreadable = Err(error),
                }
            }
            unreadable?;
        }
        Some(MailVerb::Send { files }) => {
            if !send(files, &mut show)? {
                return Ok(BROKEN);
            }
        }
        Some(MailVerb::Retry { name }) => {
            outbox.retry(name)?;
            if !send(&[], &mut show)? {
                return Ok(BROKEN);
            }
        }
        Some(MailVerb::Drop { name }) => print(&format!("{}  removed\n", outbox.drop(name)?))?,
    }
    Ok(0)
}

/// Prints what came of a mail.
fn show(line: &str) -> Result<()> {
    Ok(print(&format!("{line}\n"))?)
}

/// Queues these mails and sends what is queued; false if a mail was not sent. `tell` gets what came of each, in a line.
pub(crate) fn send(files: &[PathBuf], tell: &mut dyn FnMut(&str) -> Result<()>) -> Result<bool> {
    let outbox = Outbox::of_user();
    let interrupt = signals::interrupt_flag().context("signals")?;
    in_context(&interrupt, |context| {
        let settings = Settings::read(context)?;
        // All are read before one is queued: a wrong name sends nothing.
        let sender = settings.sender.as_deref();
        let now = Timestamp::now();
        let messages = files.iter().map(|path| Message::compose(path, sender, now));
        let mut is_done = true;
        for message in messages.collect::<Result<Vec<_>, _>>()? {
            if let Queued::Before(state) = outbox.add(&message)? {
                is_done &= matches!(state, State::Sent | State::Queued);
                tell(&told(&message, before(state)))?;
            }
        }
        let mut transport = transport(&settings, context);
        let mut told_all = Ok(());
        outbox.send(transport.as_mut(), &mut |message, done| {
            is_done &= done.is_ok();
            let said = tell(&told(message, &words(done)));
            told_all = std::mem::replace(&mut told_all, Ok(())).and(said);
        })?;
        told_all?;
        Ok(is_done)
    })
}

/// Tries to send what waits; what cannot be sent goes on waiting.
pub(crate) fn send_waiting() {
    let waits = |entry: Result<Entry, _>| entry.is_ok_and(|entry| entry.state == State::Queued);
    if Outbox::of_user().entries().any(waits) {
        // `kiln mail` shows why.
        let _ = send(&[], &mut |_| Ok(()));
    }
}

/// What is known of a mail that is queued once more.
fn before(state: State) -> &'static str {
    match state {
        State::Queued => "is queued already",
        State::Sending => "may have been sent: `kiln mail retry` sends it again",
        State::Refused => "was refused: `kiln mail retry` sends it again",
        State::Sent => "was sent before",
    }
}

fn words(done: &Result<(), Failure>) -> String {
    match done {
        Ok(()) => "sent".to_owned(),
        Err(Failure::Refused(why)) => format!("refused: {why}"),
        Err(Failure::Later(why)) => format!("not sent, stays queued: {why}"),
        Err(Failure::Unknown(why)) => format!("may have been sent: {why}"),
    }
}

fn told(message: &Message, what: &str) -> String {
    format!("{}  {}: {}", message.name, safe_line(&message.subject), safe_line(what))
}

fn line(entry: &Entry) -> String {
    let Entry { state, message, reason } = entry;
    let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let to = message.recipients.len();
    let people = if to == 1 { "1 recipient".to_owned() } else { format!("{to} recipients") };
    let text = format!("{}, {people}{reason}", message.subject);
    format!("{}  {:<8} {}\n", message.name, state.name(), safe_line(&text))
}
