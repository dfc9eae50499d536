//! A script has what the kernel of a machine does recorded.

use judge::Blame;
use machine::{Machine, RecordingMemory};
use protocol::job::Order;
use protocol::trace::{Choice, EVENTS, TraceRequest, buffer_kib};
use script::{Answer, ErrorName, Trouble};
use serde::Serialize;
use serde_json::Value;
use transcode::{Follower, Ring};

use super::calling::Calling;
use super::guest::Guest;
use super::order::SOON;

/// What the kernel has for each CPU then, in bytes.
const BUFFER: u64 = 4 << 20;

/// Longest text of a mark.
const TEXT_MAX: usize = 200;

/// Begins to record.
pub(super) fn begin(
    guest: &Guest,
    (events, buffer): (Option<&[String]>, Option<u64>),
    calling: &Calling<'_>,
) -> Result<Answer, Trouble> {
    let request = request(events, buffer).map_err(refused)?;
    if guest.recording.runs() {
        return Err(refused("the machine is recorded already: end_trace() ends that".to_owned()));
    }
    let memory = guest.work(|machine| machine.recording())?;
    let RecordingMemory { file, place, size } = memory
        .ok_or_else(|| Trouble::new(ErrorName::Missing, "the machine has no memory for a recording"))?;
    let broken = |error: String| Trouble::broken(Blame::Host, error);
    let (name, path) = calling.kept.place("trace")?;
    std::fs::create_dir_all(&calling.kept.folder).map_err(|error| broken(error.to_string()))?;
    let ring = Ring::new(file, place, size).map_err(|error| broken(error.to_string()))?;
    let follower = Follower::start(ring, &path, None).map_err(|error| broken(error.to_string()))?;
    guest.order(Order::Record(Box::new(request)), calling.cancelled)?;
    let begun = follower.wait_for_begin(guest.timeouts.stretch(SOON));
    if let Some(why) = begun.and_then(|summary| summary.refused) {
        guest.order(Order::EndRecording, calling.cancelled)?;
        // There is nothing in it that anybody would look at.
        let _ = follower.finish().map(|_| std::fs::remove_dir_all(path));
        return Err(Trouble::new(ErrorName::Missing, why.text));
    }
    guest.recording.begin(name, follower);
    Ok(Answer::Done)
}

fn refused(why: String) -> Trouble {
    Trouble::new(ErrorName::Refused, why)
}

fn request(events: Option<&[String]>, buffer: Option<u64>) -> Result<TraceRequest, String> {
    let usual = || EVENTS.split(',').map(str::to_owned).collect();
    let events = events.map_or_else(usual, <[String]>::to_vec);
    let events: Result<Vec<Choice>, _> = events.iter().map(|event| event.parse()).collect();
    Ok(TraceRequest {
        events: events.map_err(|error| error.to_string())?,
        buffer_kib: buffer_kib(buffer.unwrap_or(BUFFER) >> 10)?,
        align_clocks: true,
        ..TraceRequest::default()
    })
}

/// Ends the recording; of a machine that has ended, it has what came before.
pub(super) fn end(guest: &Guest, calling: &Calling<'_>) -> Result<Answer, Trouble> {
    if guest.recording.runs() {
        // A machine that does not answer records no more than it has.
        let _ = guest.order(Order::EndRecording, calling.cancelled);
    }
    let ended = guest.recording.end();
    let ended =
        ended.ok_or_else(|| refused("the machine is not recorded: trace() begins that".to_owned()))?;
    ended.map(Answer::Plain).map_err(|why| Trouble::broken(Blame::Host, why))
}

/// Has a recording say what is asked of its machine next.
pub(super) fn mark(guest: &Guest, call: &impl Serialize) {
    if guest.recording.runs() {
        let call = serde_json::to_value(call).unwrap_or_default();
        let text = script::show::shown(&step(&call), TEXT_MAX);
        // Nobody waits for the answer: a machine that hangs gives none.
        let _ = guest.send_order(Order::Mark { text });
    }
}

/// `power_cut {"timeout":null}` as `kiln: power_cut`.
fn step(call: &Value) -> String {
    let Some((name, arguments)) = call.as_object().and_then(|call| call.iter().next()) else {
        return "kiln".to_owned();
    };
    let set = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let words: Vec<String> = set.map(|(name, value)| format!("{name}={value}")).collect();
    format!("kiln: {name} {}", words.join(" ")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_say_what_is_asked() {
        let call = json!({ "plug": { "device": "e1000", "id": null } });
        assert_eq!(step(&call), "kiln: plug device=\"e1000\"");
        assert_eq!(step(&json!({ "nmi": {} })), "kiln: nmi");
    }

    #[test]
    fn requests_are_checked() {
        assert_eq!(request(None, None).map(|it| (it.events.len(), it.buffer_kib)), Ok((3, 4096)));
        assert!(request(Some(&["..".to_owned()]), None).is_err_and(|why| why.contains("names no events")));
        for wrong in [0, 8191, 1 << 40] {
            assert!(request(None, Some(wrong)).is_err_and(|why| why.contains("a buffer has")), "{wrong}");
        }
    }
}
