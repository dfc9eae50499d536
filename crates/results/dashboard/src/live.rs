//! What browsers learn while they show a page: that there is news.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ledger::Looks;
use tokio::sync::watch;

use crate::store::Folders;

/// Looks at sessions, bisections and how often something was `started` or has ended, until `stop` is set; each change is another
/// number.
pub(crate) fn watch_folders(
    folders: &Folders,
    started: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
) -> std::io::Result<watch::Receiver<u64>> {
    let (sender, receiver) = watch::channel(0);
    let mut looks = Looks::new(folders.sessions.clone(), folders.bisections.clone());
    std::thread::Builder::new().name("looks".to_owned()).spawn(move || {
        // With the thread the sender ends, and with that all streams.
        while !stop.load(Ordering::Relaxed) {
            let now = looks.look().wrapping_add(started.load(Ordering::Relaxed));
            sender.send_if_modified(|before| std::mem::replace(before, now) != now);
            std::thread::sleep(Looks::INTERVAL);
        }
    })?;
    Ok(receiver)
}
