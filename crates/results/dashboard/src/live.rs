//! What browsers learn while they show a page: that there is news.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ledger::Looks;
use tokio::sync::watch;

use crate::store::Folders;

/// Looks at sessions and bisections until `stop` is set; each change is another number.
pub(crate) fn watch_folders(
    folders: &Folders,
    stop: Arc<AtomicBool>,
) -> std::io::Result<watch::Receiver<u64>> {
    let (sender, receiver) = watch::channel(0);
    let mut looks = Looks::new(folders.sessions.clone(), folders.bisections.clone());
    std::thread::Builder::new().name("looks".to_owned()).spawn(move || {
        // With the thread the sender ends, and with that all streams.
        while !stop.load(Ordering::Relaxed) {
            let now = looks.look();
            sender.send_if_modified(|before| std::mem::replace(before, now) != now);
            std::thread::sleep(Looks::INTERVAL);
        }
    })?;
    Ok(receiver)
}
