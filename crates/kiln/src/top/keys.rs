//! What comes from the terminal: keys, the mouse, and that its size has changed.

use std::io;
use std::sync::mpsc::SyncSender;

use anyhow::Context;
use jiff::Timestamp;
use ratatui::crossterm::event::{self, Event};
use top::Input;

use super::Told;

/// Sends it, until nobody listens; the thread ends with kiln.
pub(super) fn read(sender: SyncSender<Told>) -> io::Result<()> {
    std::thread::Builder::new().name("keys".to_owned()).spawn(move || {
        loop {
            let told = match event::read() {
                Ok(event) => input(&event).map(Ok),
                Err(error) => Some(Err(error).context("the terminal")),
            };
            let is_end = matches!(told, Some(Err(_)));
            if told.is_some_and(|told| sender.send(told).is_err()) || is_end {
                break;
            }
        }
    })?;
    Ok(())
}

fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(key) => Some(Input::Key(*key)),
        Event::Mouse(mouse) => Some(Input::Mouse(*mouse)),
        // The screen looks for its size each time that something happens.
        Event::Resize(..) => Some(Input::Now(Timestamp::now())),
        _ => None,
    }
}
