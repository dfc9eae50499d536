//! An archive that is asked over HTTP.

use std::sync::atomic::AtomicBool;

use kernel::Context;
use series::Mailbox;

use crate::Error;
use crate::cache::Cache;
use crate::fetch::{Answer, Client, Method};
use crate::link::{Link, host, moved};
use crate::query::query;
use crate::settings::Settings;

/// A server with public-inbox.
#[derive(Debug)]
pub struct Server {
    settings: Settings,
    client: Client,
    cache: Option<Cache>,
}

impl Server {
    /// `is_cached`: what was fetched some minutes ago is good enough.
    pub fn new(settings: Settings, is_cached: bool, context: &Context<'_>) -> Self {
        let client = Client::new(&settings);
        let cache = is_cached.then(|| Cache { folder: context.store.mails(), expire: settings.expire });
        Self { settings, client, cache }
    }

    /// The thread of a mail, and threads with other revisions of its series. A server without a search gives the thread alone,
    /// with a note.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, does not have the mail, or sends more than a mailbox holds.
    pub fn related(&self, link: &Link, context: &mut Context<'_>) -> Result<Mailbox, Error> {
        let place = self.settings.mail.link(&link.id);
        let name = host(&place).unwrap_or(&place).to_owned();
        context.progress(&format!("asking {name} for {}", link.id));
        let thread = self.thread(&place, context.interrupt)?;
        let unknown = || Error::Unknown { id: link.id.clone(), host: name.clone() };
        let mut mailbox = Mailbox::parse(thread.ok_or_else(unknown)?)?;
        let Some(query) = query(&mailbox.mails) else { return Ok(mailbox) };
        context.progress(&format!("asking {name} for other revisions"));
        match self.answer(Method::Post, &self.settings.search.link(&query), context.interrupt) {
            Ok(Some(found)) => mailbox.extend(Mailbox::parse(found)?.mails),
            Ok(None) => {}
            Err(error) if error.is_interrupt() => return Err(error),
            Err(error) => context.note(&format!("other revisions are not looked for: {error}")),
        }
        Ok(mailbox)
    }

    /// The mails of a thread. A mask may lead to another place, whose thread is then taken.
    fn thread(&self, place: &str, interrupt: &AtomicBool) -> Result<Option<Vec<u8>>, Error> {
        if let Some(found) = self.answer(Method::Get, &thread_of(place), interrupt)? {
            return Ok(Some(found));
        }
        let led = self.ask(Method::Get, place, interrupt)?;
        if led.body.is_none() || led.link == place {
            return Ok(None);
        }
        self.answer(Method::Get, &thread_of(&led.link), interrupt)
    }

    /// What the server has at a link, or had some minutes ago.
    fn answer(&self, method: Method, link: &str, interrupt: &AtomicBool) -> Result<Option<Vec<u8>>, Error> {
        if let Some(found) = self.cache.as_ref().and_then(|cache| cache.find(link)) {
            return Ok(Some(found));
        }
        let answer = self.ask(method, link, interrupt)?;
        if let (Some(cache), Some(body)) = (&self.cache, &answer.body) {
            cache.keep(link, body)?;
        }
        Ok(answer.body)
    }

    /// Asks the mirrors, and then the server itself; one that cannot be reached is passed over for the next.
    fn ask(&self, method: Method, link: &str, interrupt: &AtomicBool) -> Result<Answer, Error> {
        for mirror in &self.settings.mirrors {
            let Some(link) = moved(link, mirror) else { continue };
            match self.client.ask(method, &link, interrupt) {
                Err(Error::Unreachable { .. }) | Err(Error::Status { status: 500.., .. }) => {}
                done => return done,
            }
        }
        self.client.ask(method, link, interrupt)
    }
}

/// Where public-inbox has the thread of a mail.
fn thread_of(mail: &str) -> String {
    format!("{}/t.mbox.gz", mail.trim_end_matches('/'))
}
