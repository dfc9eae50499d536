//! Calls that the machine itself does: its monitor, its devices, its power.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hardware::Device;
use judge::Blame;
use machine::Vmm;
use script::call::MachineCall;
use script::{Answer, ErrorName, Trouble};
use serde_json::{Value, json};

use super::calling::Calling;
use super::guest::Guest;
use super::snapshot::{self, Failed, Snapshot, cannot_be_restored};
use super::trace;

/// How long a guest may take to let a device go.
const UNPLUG_LIMIT: Duration = Duration::from_secs(30);

/// Between two looks whether it has.
const INTERVAL: Duration = Duration::from_millis(100);

/// The name of a snapshot whose script gives it none.
const USUAL_NAME: &str = "snapshot";

/// Most bytes of memory that are read at once.
const MEMORY_MAX: u32 = 4096;

/// Does what a script asks of a machine. One that has ended refuses it, but that is not the reason.
pub(super) fn call(guest: &Guest, call: &MachineCall, calling: &Calling<'_>) -> Result<Answer, Trouble> {
    trace::mark(guest, call);
    ask(guest, call, calling).map_err(|trouble| {
        let is_refused = trouble.name == ErrorName::Refused;
        let has_ended = is_refused && guest.work(Vmm::has_ended).is_ok_and(|has_ended| has_ended);
        if has_ended { guest.death(calling.cancelled) } else { trouble }
    })
}

fn ask(guest: &Guest, call: &MachineCall, calling: &Calling<'_>) -> Result<Answer, Trouble> {
    match call {
        MachineCall::Qmp { command, arguments } => {
            monitor(guest, command, Value::Object(arguments.clone())).map(Answer::Plain)
        }
        MachineCall::Plug { device } => plug(guest, device),
        MachineCall::Unplug { device } => unplug(guest, device, calling.cancelled),
        MachineCall::Nmi {} => done(guest.work(machine::Vmm::interrupt)?),
        MachineCall::Registers {} => {
            let lines = guest.work(machine::Vmm::registers)?;
            Ok(Answer::Plain(json!(lines)))
        }
        MachineCall::Tasks {} => {
            let tasks = or_refused(guest.work(machine::Vmm::tasks)?)?;
            Ok(Answer::Plain(json!(tasks)))
        }
        MachineCall::Hazards {} => guest.transcript.lock().hazards.answer(&guest.spec.hazards),
        MachineCall::Pause {} => done(guest.work(|machine| machine.hold(true))?),
        MachineCall::Resume {} => done(guest.work(|machine| machine.hold(false))?),
        MachineCall::PowerCut { timeout } => {
            guest.start_again(*timeout, calling.setting.interrupt).map(|()| Answer::Done)
        }
        MachineCall::Snapshot { name } => {
            save_snapshot(guest, name.as_deref().unwrap_or(USUAL_NAME), calling.cancelled)
        }
        MachineCall::Restore { name } => {
            load_snapshot(guest, name.as_deref().unwrap_or(USUAL_NAME), calling.cancelled)
        }
        MachineCall::Dump {} => {
            let (name, path) = calling.kept.place("memory.vmcore")?;
            or_refused(guest.work(move |machine| machine.dump(&path))?)?;
            Ok(Answer::Text(name.into_bytes()))
        }
        MachineCall::Memory { address, length } => memory(guest, *address, *length),
        MachineCall::Receive { port } => guest.plugs.receive(port).map(Answer::Text),
        MachineCall::Transmit { port, text } => {
            guest.plugs.transmit(port, text.as_bytes()).map(|()| Answer::Done)
        }
    }
}

fn save_snapshot(guest: &Guest, name: &str, cancelled: &dyn Fn() -> bool) -> Result<Answer, Trouble> {
    or_refused(snapshot::check(name))?;
    if guest.recording.runs() {
        // Restored, it would go on with a recording that nobody takes.
        return Err(Trouble::new(ErrorName::Refused, "the machine is recorded: end_trace() first"));
    }
    or_refused(cannot_be_restored(&guest.spec).map_or(Ok(()), Err))?;
    let (own_name, surroundings) = (name.to_string(), guest.surroundings());
    let save = move |machine: &mut Vmm, is_given_up: &AtomicBool| {
        Snapshot::save(machine, (&own_name, is_given_up), &surroundings)
    };
    let saved = guest.long_work(save, cancelled)?;
    let snapshot = saved.map_err(|failed| of_snapshot(guest, failed, cancelled))?;
    guest.snapshots.keep(name, snapshot);
    Ok(Answer::Done)
}

/// A machine that cannot be restored is lost: some of it may be of now, and some of then.
fn load_snapshot(guest: &Guest, name: &str, cancelled: &dyn Fn() -> bool) -> Result<Answer, Trouble> {
    let snapshot = or_refused(guest.snapshots.get(name))?;
    guest.recording.end_before("kiln: restore");
    let (own_name, surroundings) = (name.to_string(), guest.surroundings());
    let load = move |machine: &mut Vmm, is_given_up: &AtomicBool| {
        snapshot.load(machine, (&own_name, is_given_up), &surroundings)
    };
    let loaded = guest.long_work(load, cancelled)?;
    loaded.map(|()| Answer::Done).map_err(|failed| {
        let trouble = of_snapshot(guest, failed, cancelled);
        guest.cut_power();
        Trouble { text: format!("{}; the machine is off now", trouble.text), ..trouble }
    })
}

/// What a state that was not kept or not restored means to a script.
fn of_snapshot(guest: &Guest, failed: Failed, cancelled: &dyn Fn() -> bool) -> Trouble {
    match failed {
        Failed::Refused(why) => Trouble::new(ErrorName::Refused, why),
        Failed::Host(why) => Trouble::broken(Blame::Host, why),
        Failed::Ended => guest.death(cancelled),
    }
}

fn or_refused<T>(done: Result<T, String>) -> Result<T, Trouble> {
    done.map_err(|why| Trouble::new(ErrorName::Refused, why))
}

fn done<T>(done: Result<T, String>) -> Result<Answer, Trouble> {
    or_refused(done).map(|_| Answer::Done)
}

fn monitor(guest: &Guest, command: &str, arguments: Value) -> Result<Value, Trouble> {
    let command = command.to_string();
    or_refused(guest.work(move |machine| machine.execute(&command, &arguments))?)
}

/// Plugs in a device as users write it. What is behind it must be nothing of this host.
fn plug(guest: &Guest, text: &str) -> Result<Answer, Trouble> {
    let wrong = |error: hardware::Error| Trouble::new(ErrorName::Refused, error.to_string());
    let device: Device = text.parse().map_err(wrong)?;
    if !device.backings().is_empty() {
        let text =
            format!("{text} has something of this host behind it: give it to the machine from the start");
        return Err(Trouble::new(ErrorName::Refused, text));
    }
    let words = hardware::Hardware::new(vec![device]).map_err(wrong)?.arguments(&[]);
    let mut words = [words.first, words.devices].concat().into_iter();
    while let Some(option) = words.next() {
        let value = words.next().unwrap_or_default();
        if option != "-device" {
            return Err(Trouble::new(ErrorName::Refused, format!("{text} cannot be plugged in")));
        }
        monitor(guest, "device_add", properties(&value))?;
    }
    Ok(Answer::Done)
}

/// `e1000,id=x,bus=y` as the monitor reads it.
fn properties(words: &str) -> Value {
    let mut parts = words.split(',');
    let mut properties = json!({ "driver": parts.next().unwrap_or_default() });
    for (key, value) in parts.filter_map(|part| part.split_once('=')) {
        properties[key] = match value.parse::<u64>() {
            Ok(number) => json!(number),
            Err(_) if ["on", "off"].contains(&value) => json!(value == "on"),
            Err(_) => json!(value),
        };
    }
    properties
}

/// Asks the guest to let a device go, and waits until it has: ACPI and PCIe hot-plug are a request.
fn unplug(guest: &Guest, id: &str, cancelled: &dyn Fn() -> bool) -> Result<Answer, Trouble> {
    monitor(guest, "device_del", json!({ "id": id }))?;
    let deadline = Instant::now() + guest.timeouts.stretch(UNPLUG_LIMIT);
    while Instant::now() < deadline && !cancelled() {
        let there = monitor(guest, "qom-list", json!({ "path": "/machine/peripheral" }))?;
        let names = there.as_array().map(Vec::as_slice).unwrap_or_default();
        if !names.iter().any(|entry| entry["name"] == id) {
            return Ok(Answer::Done);
        }
        std::thread::sleep(INTERVAL);
    }
    let text = format!("the guest did not let {id} go within {} s", UNPLUG_LIMIT.as_secs());
    Err(Trouble::new(ErrorName::Timeout, text))
}

/// Bytes of physical memory, by the human monitor's `xp`: QMP has no command that gives them.
fn memory(guest: &Guest, address: u64, length: u32) -> Result<Answer, Trouble> {
    if length > MEMORY_MAX {
        let text = format!("at most {MEMORY_MAX} bytes of memory are read at once");
        return Err(Trouble::new(ErrorName::Refused, text));
    }
    let arguments = json!({ "command-line": format!("xp /{length}xb {address:#x}") });
    let answer = monitor(guest, "human-monitor-command", arguments)?;
    let text = answer.as_str().unwrap_or_default();
    let bytes =
        text.lines().filter_map(|line| Some(line.split_once(": ")?.1)).flat_map(str::split_whitespace);
    let byte = |word: &str| u8::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let bytes: Vec<u8> = bytes.filter_map(byte).collect();
    if bytes.len() as u64 == u64::from(length) {
        return Ok(Answer::Plain(json!(bytes)));
    }
    Err(Trouble::new(ErrorName::Refused, format!("there is no memory at {address:#x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_properties() {
        let found = properties("e1000,id=n,bus=slot0,addr=1,multifunction=on");
        let wanted =
            json!({ "driver": "e1000", "id": "n", "bus": "slot0", "addr": 1, "multifunction": true });
        assert_eq!(found, wanted);
    }
}
