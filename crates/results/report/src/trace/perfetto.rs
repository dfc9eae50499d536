//! Events in the format of Perfetto (<https://perfetto.dev/docs/reference/trace-packet-proto>): its `TracePacket`s in the wire format of
//! Protocol Buffers. Those that Perfetto draws have messages of their own there; the others are generic.

mod events;
mod message;

use std::collections::BTreeMap;
use std::io::{self, Write};

use ctf::{Event, Metadata};
use viewer::Seen;

use events::event_message;
use message::Message;

/// Events of a CPU in a packet.
const BUNDLE: usize = 1000;

/// Fields of `Trace`, `TracePacket` and `FtraceEventBundle`.
const PACKET: u32 = 1;
const FTRACE_EVENTS: u32 = 1;
const PROCESS_TREE: u32 = 2;
const SYSTEM_INFO: u32 = 45;
const CPU: u32 = 1;
const EVENT: u32 = 2;

/// Writes events for Perfetto.
#[derive(Debug)]
pub struct Perfetto<W> {
    out: W,
    /// What is not written yet, by CPU.
    bundles: BTreeMap<u32, Bundle>,
    /// What processes there were.
    processes: Message,
}

#[derive(Debug, Default)]
struct Bundle {
    message: Message,
    events: usize,
}

impl<W: Write> Perfetto<W> {
    /// Begins with what is known of the kernel.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn new(out: W, metadata: &Metadata) -> io::Result<Self> {
        let release = metadata.environment.get("release").map_or("", String::as_str);
        let mut kernel = Message::default();
        for (field, text) in [(1, "Linux"), (3, release), (4, std::env::consts::ARCH)] {
            kernel.text(field, text.as_bytes());
        }
        let mut system = Message::default();
        system.message(1, &kernel);
        let mut this = Self { out, bundles: BTreeMap::new(), processes: Message::default() };
        this.packet(SYSTEM_INFO, &system)?;
        Ok(this)
    }

    /// Writes an event.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn event(&mut self, seen: &Seen<'_>) -> io::Result<()> {
        let event = &seen.event;
        let Some(message) = event_message(event) else {
            self.processes.append(&task(event));
            return Ok(());
        };
        let bundle = self.bundles.entry(event.cpu).or_default();
        bundle.message.message(EVENT, &message);
        bundle.events += 1;
        if bundle.events < BUNDLE {
            return Ok(());
        }
        let full = std::mem::take(bundle);
        self.bundle(event.cpu, full)
    }

    /// Writes the rest.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn finish(mut self) -> io::Result<()> {
        for (cpu, bundle) in std::mem::take(&mut self.bundles) {
            self.bundle(cpu, bundle)?;
        }
        let processes = std::mem::take(&mut self.processes);
        self.packet(PROCESS_TREE, &processes)?;
        self.out.flush()
    }

    fn bundle(&mut self, cpu: u32, bundle: Bundle) -> io::Result<()> {
        let mut message = bundle.message;
        message.number(CPU, cpu.into());
        self.packet(FTRACE_EVENTS, &message)
    }

    fn packet(&mut self, field: u32, content: &Message) -> io::Result<()> {
        let (mut packet, mut trace) = (Message::default(), Message::default());
        packet.message(field, content);
        trace.message(PACKET, &packet);
        self.out.write_all(trace.bytes())
    }
}

/// A thread that was there when the recording began, as a part of `ProcessTree`.
fn task(event: &Event<'_>) -> Message {
    let mut tree = Message::default();
    let number = |field: &str| event.field(field).and_then(|value| value.number()).unwrap_or_default();
    let [thread, process, parent] = ["tid", "pid", "ppid"].map(number);
    let name = event.field("comm").as_ref().and_then(ctf::Value::text).unwrap_or_default();
    let mut task = Message::default();
    if thread == process {
        task.number(1, process);
        task.number(2, parent);
        task.text(3, name.as_bytes());
        tree.message(1, &task);
    } else {
        task.number(1, thread);
        task.text(2, name.as_bytes());
        task.number(3, process);
        tree.message(2, &task);
    }
    tree
}
