//! What QEMU says and is asked on its monitor, beside console and control port.

use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::qmp::{self, Answer, LINE_MAX, Message};
use crate::error::Error;
use crate::vmm::launch::socket_pair;
use crate::vmm::{INTERRUPT_INTERVAL, Raw};

/// Messages that may wait; a machine sends a handful in its life.
const QUEUE: usize = 16;

/// How long an answer may take, and the end of a QEMU that has ended.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long the state of the devices may take; a fraction of a second on an idle host.
const SAVE_PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks whether it is there.
const SAVE_INTERVAL: Duration = Duration::from_millis(1);

/// The name by which QEMU knows the file for it.
const STATE: &str = "state";

/// The name by which it knows the other end of a port.
const PORT: &str = "port";

/// How long the memory may take to be written; a GiB takes seconds.
const DUMP_PATIENCE: Duration = Duration::from_secs(300);

/// How long an answer is waited for.
pub(super) struct Limits<'a> {
    pub(super) deadline: Instant,
    /// Nobody wants it any more.
    pub(super) is_given_up: &'a AtomicBool,
}

impl Limits<'_> {
    /// Which of them is reached, in words.
    pub(super) fn reached(&self) -> Option<&'static str> {
        if self.is_given_up.load(Ordering::Relaxed) {
            return Some("it is not wanted any more");
        }
        (Instant::now() >= self.deadline).then_some("it takes too long")
    }
}

/// Our side of the monitor.
#[derive(Debug)]
pub(super) struct Monitor {
    socket: UnixStream,
    messages: Receiver<Message>,
    /// Commands that have been sent.
    sent: u64,
    resumed: bool,
    /// Why a command whose answer nobody waited for was refused.
    refused: Option<String>,
    shutdown_reason: Option<String>,
    /// The guest is paused on purpose.
    is_held: Arc<AtomicBool>,
    /// QEMU pauses it where it writes to what is watched.
    stops_at_writes: Arc<AtomicBool>,
}

impl Monitor {
    /// A monitor and QEMU's side of it; `events` hears when the machine is over.
    pub(super) fn new(events: SyncSender<Raw>) -> Result<(Self, OwnedFd), Error> {
        let (socket, its) = socket_pair()?;
        let copy = socket.try_clone().map_err(|source| Error::host("socket", source))?;
        let (sender, messages) = sync_channel(QUEUE);
        let is_held = Arc::new(AtomicBool::new(false));
        let stops_at_writes = Arc::new(AtomicBool::new(false));
        let (held, stops) = (Arc::clone(&is_held), Arc::clone(&stops_at_writes));
        std::thread::spawn(move || read(copy, (&sender, &events), (&held, &stops)));
        // A QEMU that has ended already says why in its own words.
        let _ = qmp::negotiate(&socket);
        let monitor = Self {
            socket,
            messages,
            sent: 0,
            resumed: false,
            refused: None,
            shutdown_reason: None,
            is_held,
            stops_at_writes,
        };
        Ok((monitor, its.into()))
    }

    /// What the human monitor prints on `command`.
    pub(super) fn ask(&mut self, command: &str) -> Option<String> {
        let answer = self.execute("human-monitor-command", &json!({ "command-line": command })).ok()?;
        answer.as_str().map(str::to_string)
    }

    /// Where in the guest's memory lies what one of its processors sees at an address.
    pub(super) fn physical(&mut self, cpu: u64, address: u64) -> Option<u64> {
        let arguments = json!({ "command-line": format!("gva2gpa {address:#x}"), "cpu-index": cpu });
        let answer = self.execute("human-monitor-command", &arguments).ok()?;
        let number = answer.as_str()?.trim().strip_prefix("gpa: 0x")?;
        u64::from_str_radix(number, 16).ok()
    }

    /// Writes the guest's memory into a file.
    pub(super) fn dump(&mut self, path: &Path) -> Result<(), String> {
        while self.receive(Instant::now()).is_ok() {}
        if self.shutdown_reason.as_deref() == Some("guest-shutdown") {
            return Err("the guest powered itself off".to_string());
        }
        let arguments = json!({ "paging": false, "protocol": format!("file:{}", path.display()) });
        let send =
            |socket: &UnixStream, number| qmp::execute(socket, number, "dump-guest-memory", &arguments);
        self.number(DUMP_PATIENCE, send).map(drop)
    }

    /// Has a clone take the state of its devices from this descriptor of QEMU's, and go on.
    pub(super) fn load(&mut self, state: i32) -> std::io::Result<()> {
        self.send("migrate-set-capabilities", &ignore_shared(true))?;
        self.send("migrate-incoming", &json!({ "uri": format!("fd:{state}") }))
    }

    /// Whether the guest runs, which a clone does once it has its state; waits for that until `deadline`.
    pub(super) fn runs_by(&mut self, deadline: Instant) -> Result<bool, String> {
        // It may have begun before QEMU could tell us.
        self.resumed |= self.execute("query-status", &json!({}))?["running"] == true;
        while !self.resumed {
            if let Some(why) = self.refused.take() {
                return Err(why);
            }
            match self.receive(deadline) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(false),
                Err(error) => return Err(complaint(error).to_string()),
            }
        }
        Ok(true)
    }

    /// Has a clone go on that has its state, once it has; its template had stopped itself, so it does not by itself.
    pub(super) fn resume(&mut self, deadline: Instant) -> Result<(), String> {
        while Instant::now() < deadline {
            if let Some(why) = self.refused.take() {
                return Err(why);
            }
            let progress = self.execute("query-migrate", &json!({}))?;
            match progress["status"].as_str().unwrap_or_default() {
                "completed" => return self.execute("cont", &json!({})).map(drop),
                "failed" => return Err("QEMU does not read the state of its template".to_string()),
                _ => std::thread::sleep(SAVE_INTERVAL),
            }
        }
        Err("it does not reach the state of its template".to_string())
    }

    /// Stops the guest on purpose, or lets it go on.
    pub(super) fn hold(&mut self, is_held: bool) -> Result<(), String> {
        self.is_held.store(is_held, Ordering::Relaxed);
        self.execute(if is_held { "stop" } else { "cont" }, &json!({})).map(drop)
    }

    /// From here on the guest may stop where it writes to what is watched.
    pub(super) fn stops_at_writes(&self, stops: bool) {
        self.stops_at_writes.store(stops, Ordering::Relaxed);
    }

    /// Whether the guest is stopped on purpose.
    pub(super) fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }

    /// Why the state of the devices can never be written, if QEMU knows.
    pub(super) fn blocks_clones(&mut self) -> Option<String> {
        let progress = self.execute("query-migrate", &json!({})).ok()?;
        let reasons = progress["blocked-reasons"].as_array()?;
        reasons.first().map(|reason| reason.as_str().unwrap_or("QEMU gives no reason").to_string())
    }

    /// Stops the guest and writes the state of its devices.
    pub(super) fn save(&mut self, state: BorrowedFd<'_>) -> Result<(), String> {
        self.execute("migrate-set-capabilities", &ignore_shared(true))?;
        self.execute_with(("getfd", &json!({ "fdname": STATE })), state)?;
        self.execute("migrate", &json!({ "uri": format!("fd:{STATE}") }))?;
        let deadline = Instant::now() + SAVE_PATIENCE;
        while Instant::now() < deadline {
            let progress = self.execute("query-migrate", &json!({}))?;
            match progress["status"].as_str().unwrap_or_default() {
                "completed" => return Ok(()),
                "failed" | "cancelled" => {
                    return Err(progress["error-desc"]
                        .as_str()
                        .unwrap_or("QEMU gives no reason")
                        .to_string());
                }
                _ => std::thread::sleep(SAVE_INTERVAL),
            }
        }
        Err(format!("its state did not arrive within {} s", SAVE_PATIENCE.as_secs()))
    }

    /// Has QEMU go on with this at the other end of a port; what it has not read of the old one is lost.
    pub(super) fn replace(&mut self, port: &str, end: BorrowedFd<'_>) -> Result<(), String> {
        let backend = self.backend(end)?;
        self.execute("chardev-change", &json!({ "id": port, "backend": backend })).map(drop)
    }

    /// Gives QEMU a new port with this at its other end.
    pub(super) fn add(&mut self, port: &str, end: BorrowedFd<'_>) -> Result<(), String> {
        let backend = self.backend(end)?;
        self.execute("chardev-add", &json!({ "id": port, "backend": backend })).map(drop)
    }

    /// Gives QEMU this end of a socket, and says how it names it.
    fn backend(&mut self, end: BorrowedFd<'_>) -> Answer {
        self.execute_with(("getfd", &json!({ "fdname": PORT })), end)?;
        let address = json!({ "type": "fd", "data": { "str": PORT } });
        Ok(json!({ "type": "socket", "data": { "addr": address, "server": false } }))
    }

    /// Sends a command whose answer nobody waits for.
    fn send(&mut self, command: &str, arguments: &Value) -> std::io::Result<()> {
        self.sent += 1;
        qmp::execute(&self.socket, self.sent, command, arguments)
    }

    /// Executes a command and waits for its answer.
    pub(super) fn execute(&mut self, command: &str, arguments: &Value) -> Answer {
        self.number(TIMEOUT, |socket, number| qmp::execute(socket, number, command, arguments))
    }

    /// The same for one that QEMU may be too busy to answer at once.
    pub(super) fn execute_within(
        &mut self,
        (command, arguments): (&str, &Value),
        limits: &Limits<'_>,
    ) -> Answer {
        let number = self.begin(|socket, number| qmp::execute(socket, number, command, arguments))?;
        loop {
            match self.answer(number, limits.deadline.min(Instant::now() + INTERRUPT_INTERVAL)) {
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(why) = limits.reached() {
                        return Err(why.to_string());
                    }
                }
                answer => return answer.unwrap_or_else(|error| Err(complaint(error).to_string())),
            }
        }
    }

    /// Executes a command with a descriptor that it needs.
    pub(super) fn execute_with(&mut self, command: (&str, &Value), descriptor: BorrowedFd<'_>) -> Answer {
        self.number(TIMEOUT, |socket, number| qmp::execute_with(socket, number, command, descriptor))
    }

    /// Sends something with a number of its own and waits for the answer.
    fn number(
        &mut self,
        timeout: Duration,
        send: impl FnOnce(&UnixStream, u64) -> std::io::Result<()>,
    ) -> Answer {
        let number = self.begin(send)?;
        let answer = self.answer(number, Instant::now() + timeout);
        answer.unwrap_or_else(|error| Err(complaint(error).to_string()))
    }

    /// Sends something with a number of its own.
    fn begin(&mut self, send: impl FnOnce(&UnixStream, u64) -> std::io::Result<()>) -> Result<u64, String> {
        self.sent += 1;
        send(&self.socket, self.sent).map_err(|error| error.to_string())?;
        Ok(self.sent)
    }

    /// Waits until `deadline` for the answer of this number.
    fn answer(&mut self, wanted: u64, deadline: Instant) -> Result<Answer, RecvTimeoutError> {
        loop {
            match self.receive(deadline)? {
                Some((number, answer)) if number == wanted => return Ok(answer),
                Some((_, Err(why))) => self.refused = Some(why),
                _ => {}
            }
        }
    }

    /// Why the guest was shut down, if it was, once QEMU has ended.
    pub(super) fn shutdown_reason(&mut self) -> Option<&str> {
        let deadline = Instant::now() + TIMEOUT;
        while self.receive(deadline).is_ok() {}
        self.shutdown_reason.as_deref()
    }

    /// Takes in the next message; gives it if it is an answer.
    fn receive(&mut self, deadline: Instant) -> Result<Option<(u64, Answer)>, RecvTimeoutError> {
        match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now()))? {
            Message::Answer(number, answer) => return Ok(Some((number, answer))),
            Message::Shutdown(reason) => self.shutdown_reason = Some(reason),
            Message::Resumed => self.resumed = true,
            Message::StopsItself => {}
            Message::Paused => {
                self.shutdown_reason.get_or_insert_with(|| "it paused the guest on its own".to_string());
            }
        }
        Ok(None)
    }
}

/// Whether memory that is shared with the template is left out of what is migrated: QEMU's docs/devel/migration.
pub(super) fn ignore_shared(is_ignored: bool) -> Value {
    json!({ "capabilities": [{ "capability": "x-ignore-shared", "state": is_ignored }] })
}

fn complaint(error: RecvTimeoutError) -> &'static str {
    match error {
        RecvTimeoutError::Timeout => "QEMU does not answer",
        RecvTimeoutError::Disconnected => "QEMU ended",
    }
}

/// Reads up to the end of QEMU, or of the monitor.
fn read(
    mut socket: UnixStream,
    (messages, events): (&SyncSender<Message>, &SyncSender<Raw>),
    (is_held, stops_at_writes): (&AtomicBool, &AtomicBool),
) {
    let mut buffer = [0; 16 * 1024];
    let mut line = Vec::new();
    let mut stops_itself = false;
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        for &byte in &buffer[..count] {
            if byte != b'\n' {
                line.push(byte);
                line.truncate(LINE_MAX);
                continue;
            }
            let Some(new) = qmp::read(&std::mem::take(&mut line)) else { continue };
            let event = match new {
                Message::Paused if std::mem::take(&mut stops_itself) => Some(Raw::Stopped),
                Message::Paused if is_held.load(Ordering::Relaxed) => continue,
                Message::Paused if stops_at_writes.load(Ordering::Relaxed) => Some(Raw::Paused),
                // A guest that QEMU paused will do nothing more.
                Message::Paused => Some(Raw::Over),
                _ => None,
            };
            stops_itself |= new == Message::StopsItself;
            // Where it may go on, that it was paused does not say how it ended.
            let may_go_on = matches!(event, Some(Raw::Stopped | Raw::Paused));
            let is_heard = may_go_on || messages.send(new).is_ok();
            if !is_heard || event.is_some_and(|event| events.send(event).is_err()) {
                return;
            }
        }
    }
}
