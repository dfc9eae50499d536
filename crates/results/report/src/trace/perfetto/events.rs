//! Events as messages: `FtraceEvent`.

use ctf::{Event, Value};

use super::message::Message;

/// Fields of `FtraceEvent`.
const TIMESTAMP: u32 = 1;
const PID: u32 = 2;
const SYS_ENTER: u32 = 329;
const SYS_EXIT: u32 = 330;
const GENERIC: u32 = 327;

/// Events that Perfetto knows: the number of the message in `FtraceEvent`, and its fields from number 1 on.
const KNOWN: &[(&str, u32, &[&str])] = &[
    ("irq:irq_handler_entry", 36, &["irq", "name"]),
    ("irq:irq_handler_exit", 37, &["irq", "ret"]),
    ("irq:softirq_entry", 24, &["vec"]),
    ("irq:softirq_exit", 25, &["vec"]),
    ("irq:softirq_raise", 26, &["vec"]),
    ("raw_syscalls:sys_enter", SYS_ENTER, &["id"]),
    ("raw_syscalls:sys_exit", SYS_EXIT, &["id", "ret"]),
    ("block:block_rq_issue", 45, &["dev", "sector", "nr_sector", "bytes", "rwbs", "comm", "cmd"]),
    ("block:block_rq_complete", 125, &["dev", "sector", "nr_sector", "errors", "rwbs", "cmd", "error"]),
    ("sched:sched_process_exec", 237, &["filename", "pid", "old_pid"]),
    ("sched:sched_process_exit", 238, &["comm", "pid", "tgid", "prio"]),
    ("sched:sched_process_fork", 239, &["parent_comm", "parent_pid", "child_comm", "child_pid"]),
    ("sched:sched_process_free", 240, &["comm", "pid", "prio"]),
    (
        "sched:sched_switch",
        4,
        &["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"],
    ),
    ("sched:sched_wakeup", 17, &["comm", "pid", "prio", "success", "target_cpu"]),
    ("sched:sched_wakeup_new", 114, &["comm", "pid", "prio", "success", "target_cpu"]),
    ("sched:sched_waking", 20, &["comm", "pid", "prio", "success", "target_cpu"]),
    ("task:task_newtask", 235, &["pid", "comm", "clone_flags", "oom_score_adj"]),
    ("task:task_rename", 236, &["pid", "oldcomm", "newcomm", "oom_score_adj"]),
];

/// An event of the kernel; nothing for others.
pub(super) fn event_message(event: &Event<'_>) -> Option<Message> {
    let mut message = Message::default();
    message.number(TIMESTAMP, event.time.into());
    message.number(PID, event.thread?.into());
    let name = event.class.name.as_str();
    if let Some((_, number, fields)) = KNOWN.iter().find(|(known, ..)| *known == name) {
        message.message(*number, &known(event, fields));
    } else if name.starts_with("syscalls:sys_enter_") {
        message.message(SYS_ENTER, &known(event, &["__syscall_nr"]));
    } else if name.starts_with("syscalls:sys_exit_") {
        message.message(SYS_EXIT, &known(event, &["__syscall_nr", "ret"]));
    } else {
        message.message(GENERIC, &generic(event));
    }
    Some(message)
}

fn known(event: &Event<'_>, fields: &[&str]) -> Message {
    let mut message = Message::default();
    for (number, field) in (1..).zip(fields) {
        match event.field(field) {
            Some(Value::Number(value, _)) => message.number(number, value),
            Some(Value::Text(text)) => message.text(number, text),
            Some(Value::Numbers(..)) | None => {}
        }
    }
    message
}

/// `GenericFtraceEvent`.
fn generic(event: &Event<'_>) -> Message {
    let mut message = Message::default();
    let name = event.class.name.split_once(':').map_or("", |(_, name)| name);
    message.text(1, name.as_bytes());
    for (field, value) in event.fields() {
        let mut content = Message::default();
        content.text(1, field.name.as_bytes());
        match value {
            Value::Number(value, number) if number.is_signed => content.number(4, value),
            Value::Number(value, _) => content.number(5, value),
            Value::Text(text) => content.text(3, text),
            value @ Value::Numbers(..) => content.text(3, value.to_string().as_bytes()),
        }
        message.message(2, &content);
    }
    message
}
