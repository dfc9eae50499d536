//! `kiln report --post`: a report on a writing platform, and what waits to be sent there.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use judge::exit::BROKEN;
use machine::TimeoutScale;
use outbox::{Entry, Item, Queued, State};
use post::{Address, Post, Posts};
use report::markdown::Document;
use report::safe::safe_line;

use crate::cli::Report;
use crate::listeners::print;

/// How long a server may take for one call.
const LIMIT: Duration = Duration::from_secs(60);

/// Where a report is wanted.
pub(crate) struct Wanted {
    address: Address,
    is_public: bool,
    token_file: Option<std::path::PathBuf>,
}

impl Wanted {
    /// What the user asked for.
    pub(crate) fn of(args: &Report) -> Result<Option<Self>> {
        let posting = &args.posting;
        let Some(address) = &posting.post else { return Ok(None) };
        let absolute = |path: &Path| std::path::absolute(path).context("--token-file");
        let token_file = posting.token_file.as_deref().map(absolute).transpose()?;
        Ok(Some(Self { address: Address::parse(address)?, is_public: posting.public, token_file }))
    }

    /// Queues the report, sends what is queued, and gives the exit code.
    pub(crate) fn post(self, subject: String, report: Document) -> Result<u8> {
        let Self { address, is_public, token_file } = self;
        let text = (report.title, report.body);
        let post = Post::new(address, subject, text, is_public, token_file)?;
        let posts = Posts::of_user();
        if let Queued::Before(_) = posts.add(&post)? {
            show(&told(&post, "may have been posted: `kiln mail retry` posts it again"))?;
            return Ok(BROKEN);
        }
        let mut is_posted = false;
        send(&posts, &mut |sent, is_done, line| {
            is_posted |= is_done && sent.name() == post.name();
            show(line)
        })?;
        Ok(if is_posted { 0 } else { BROKEN })
    }
}

/// Sends what is queued. `tell` gets what came of each, in a line.
fn send(posts: &Posts, tell: &mut dyn FnMut(&Post, bool, &str) -> Result<()>) -> Result<()> {
    let limit = TimeoutScale::of_user().stretch(LIMIT);
    let mut told_all = Ok(());
    posts.send(limit, &mut |post, done| {
        let what = match done {
            Ok(()) => shown(posts, post),
            Err(failure) => failure.to_string(),
        };
        let said = tell(post, done.is_ok(), &told(post, &what));
        told_all = std::mem::replace(&mut told_all, Ok(())).and(said);
    })?;
    told_all
}

/// Sends what waits; false if a post was not sent.
pub(crate) fn send_waiting() -> Result<bool> {
    let mut is_done = true;
    send(&Posts::of_user(), &mut |_, is_sent, line| {
        is_done &= is_sent;
        show(line)
    })?;
    Ok(is_done)
}

/// Whether a post waits.
pub(crate) fn is_waiting() -> bool {
    let waits = |entry: Result<Entry<Post>, _>| entry.is_ok_and(|entry| entry.state == State::Queued);
    Posts::of_user().queue.entries().any(waits)
}

/// Lists what waits, was refused or was sent.
pub(crate) fn list() -> Result<()> {
    let posts = Posts::of_user();
    let mut unreadable = Ok(());
    for entry in posts.queue.entries() {
        match entry {
            Ok(entry) => print(&line(&posts, &entry))?,
            Err(error) => unreadable = Err(error),
        }
    }
    Ok(unreadable?)
}

fn line(posts: &Posts, entry: &Entry<Post>) -> String {
    let Entry { state, item, reason } = entry;
    let place = match state {
        State::Sent => shown(posts, item),
        _ => format!("{} for {}", kind(item), item.address.origin()),
    };
    let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let text = format!("{}, {place}{reason}", item.title);
    format!("{}  {:<8} {}\n", item.name(), state.name(), safe_line(&text))
}

/// Where a post is that a server has.
fn shown(posts: &Posts, post: &Post) -> String {
    match posts.known(post) {
        Ok(Some(known)) if known.blog().is_some() => format!("public at {}", known.link()),
        Ok(Some(known)) => format!("draft at {}", known.link()),
        // Another kiln has found since that it is gone.
        _ => format!("{} at {}", kind(post), post.address.origin()),
    }
}

fn kind(post: &Post) -> &'static str {
    if post.is_public { "public" } else { "draft" }
}

fn told(post: &Post, what: &str) -> String {
    format!("{}  {}: {}", post.name(), safe_line(&post.title), safe_line(what))
}

fn show(line: &str) -> Result<()> {
    Ok(print(&format!("{line}\n"))?)
}
