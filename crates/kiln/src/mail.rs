//! `kiln mail`: mail that goes out, and what waits for it. Posts of `kiln report` wait beside it.

use std::path::PathBuf;

use ::post::{Post, Posts};
use anyhow::{Context, Result};
use jiff::Timestamp;
use judge::exit::BROKEN;
use outbox::{Entry, Message, Outbox, Queued, Settings, State, transport};
use report::safe::safe_line;

use crate::cli::{Mail, MailVerb};
use crate::find::in_context;
use crate::listeners::print;
use crate::{post, signals};

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
            post::list()?;
            unreadable?;
        }
        Some(MailVerb::Send { files }) => return Ok(if send_all(files)? { 0 } else { BROKEN }),
        Some(MailVerb::Retry { name }) => {
            let is_sent = match outbox.retry(name) {
                Ok(_) => send(&[], &mut show)?,
                Err(error) => {
                    or_of_posts(error, |posts| posts.retry(name))?;
                    post::send_waiting()?
                }
            };
            return Ok(if is_sent { 0 } else { BROKEN });
        }
        Some(MailVerb::Drop { name }) => {
            let name = outbox.drop(name).or_else(|error| or_of_posts(error, |posts| posts.drop(name)))?;
            print(&format!("{name}  removed\n"))?;
        }
    }
    Ok(0)
}

/// Does the same with the posts where no mail has the name.
fn or_of_posts<T>(
    error: outbox::Error,
    work: impl FnOnce(&outbox::Queue<Post>) -> Result<T, outbox::Error>,
) -> Result<T, outbox::Error> {
    match error {
        outbox::Error::NoSuchMail { .. } => work(&Posts::of_user().queue),
        error => Err(error),
    }
}

/// Sends mails and posts; false if one of them was not sent. Where only posts wait, nobody asks how mail is sent.
fn send_all(files: &[PathBuf]) -> Result<bool> {
    let has_posts = post::is_waiting();
    let posts = if has_posts { post::send_waiting() } else { Ok(true) };
    let mails =
        if has_posts && files.is_empty() && !is_waiting() { Ok(true) } else { send(files, &mut show) };
    Ok(mails? & posts?)
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
            let what = done.as_ref().map_or_else(ToString::to_string, |()| "sent".to_owned());
            let said = tell(&told(message, &what));
            told_all = std::mem::replace(&mut told_all, Ok(())).and(said);
        })?;
        told_all?;
        Ok(is_done)
    })
}

/// Tries to send what waits; what cannot be sent goes on waiting.
pub(crate) fn send_waiting() {
    if is_waiting() {
        // `kiln mail` shows why.
        let _ = send(&[], &mut |_| Ok(()));
    }
}

fn is_waiting() -> bool {
    let waits = |entry: Result<Entry<Message>, _>| entry.is_ok_and(|entry| entry.state == State::Queued);
    Outbox::of_user().entries().any(waits)
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

fn told(message: &Message, what: &str) -> String {
    format!("{}  {}: {}", message.name, safe_line(&message.subject), safe_line(what))
}

fn line(entry: &Entry<Message>) -> String {
    let Entry { state, item: message, reason } = entry;
    let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let to = message.recipients.len();
    let people = if to == 1 { "1 recipient".to_owned() } else { format!("{to} recipients") };
    let text = format!("{}, {people}{reason}", message.subject);
    format!("{}  {:<8} {}\n", message.name, state.name(), safe_line(&text))
}
