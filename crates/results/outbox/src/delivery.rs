//! From settings to what delivers.

use kernel::Context;

use crate::message::Message;
use crate::sendmail::Sendmail;
use crate::settings::{Route, Settings};
use crate::smtp::Smtp;
use crate::transport::Transport;

/// The transport that the settings name.
#[must_use]
pub fn transport<'a>(settings: &'a Settings, context: &'a Context<'_>) -> Box<dyn Transport<Message> + 'a> {
    match &settings.route {
        Route::Smtp(server) => Box::new(Smtp::new(server)),
        Route::Sendmail(command) => Box::new(Sendmail { command, interrupt: context.interrupt }),
    }
}
