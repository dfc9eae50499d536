//! From a method to a call, and from its answer to what the script gets.

use std::sync::atomic::Ordering;

use judge::Blame;
use serde_json::{Map, Value};

use crate::answer::{Answer, CommandResult, bounded};
use crate::call::{self, Call, LabCall, Request};
use crate::context::{Context, Scene};
use crate::data::{Data, Object, ObjectKind};
use crate::event::Event;
use crate::limits::Limits;
use crate::signature::{Gives, Signature};
use crate::source::Position;
use crate::stop::Stop;
use crate::trouble::{ErrorName, Trouble};

/// Items of a list, and of what is in it, that come from a stranger.
const ITEMS: usize = 100_000;

/// Does what a method asks for.
pub(crate) fn ask(
    context: &Context<'_>,
    object: &Object,
    signature: &'static Signature,
    fields: Map<String, Value>,
    at: Position,
) -> Result<Data, Stop> {
    let scene = context.scene(signature.name)?;
    let (allow, fields) = allowed(fields);
    let call = call::make(object.kind, object.id, signature.name, fields).map_err(|error| {
        Stop::usage(format!("{} has an argument that is too large: {error}", signature.name))
    })?;
    count(scene, context, &call)?;
    let (step, branch) = (scene.name.to_owned(), scene.branch.clone());
    let request = Request { call, allow, at, step, branch };
    let reply = Reply { scene, gives: signature.gives, limits: context.session.limits };
    match context.session.bench.call(&request) {
        Ok(answer) => reply.answer(answer, &request.allow),
        Err(trouble) => reply.trouble(trouble, &request),
    }
}

/// Takes the errors that are allowed out of the fields.
fn allowed(mut fields: Map<String, Value>) -> (Vec<ErrorName>, Map<String, Value>) {
    let allow = fields.remove("allow").and_then(|allow| serde_json::from_value(allow).ok());
    (allow.unwrap_or_default(), fields)
}

fn count(scene: &Scene<'_>, context: &Context<'_>, call: &Call) -> Result<(), Stop> {
    let (limits, counts) = (context.session.limits, scene.counts);
    let (count, limit, what) = match call {
        Call::Lab(LabCall::Machine(_)) => (&counts.machines, limits.machines, "machines"),
        Call::Lab(LabCall::Segment(_)) => (&counts.segments, limits.segments, "segments"),
        _ => return Ok(()),
    };
    if count.fetch_add(1, Ordering::Relaxed) >= limit {
        return Err(Stop::limit(format!("a step has at most {limit} {what}")));
    }
    Ok(())
}

/// What becomes of an answer.
struct Reply<'r> {
    scene: &'r Scene<'r>,
    gives: Gives,
    limits: &'r Limits,
}

impl Reply<'_> {
    fn answer(&self, answer: Answer, allow: &[ErrorName]) -> Result<Data, Stop> {
        match (self.gives, answer) {
            (Gives::Outcome, Answer::Command(result)) => self.command(&result, allow),
            (Gives::Outcome, Answer::Done) => Ok(self.result(&CommandResult::default(), None)),
            (Gives::Nothing, Answer::Done) => Ok(Data::None),
            (Gives::Object(ObjectKind::Machine), Answer::Machine(id)) => {
                Ok(self.object(ObjectKind::Machine, id))
            }
            (Gives::Object(ObjectKind::Segment), Answer::Segment(id)) => {
                Ok(self.object(ObjectKind::Segment, id))
            }
            (Gives::Object(ObjectKind::Job), Answer::Job(id)) => Ok(self.object(ObjectKind::Job, id)),
            (Gives::Text, Answer::Text(text)) => Ok(Data::Text(bounded(&text, self.limits.text_bytes))),
            (Gives::Lines, Answer::Lines(lines)) => Ok(self.lines(&lines)),
            (Gives::Plain, Answer::Plain(value)) => self.plain(&value),
            (_, answer) => Err(Stop::broken(
                Blame::Kiln,
                format!("kiln gave another answer than was asked for: {answer:.200?}"),
            )),
        }
    }

    /// An error that is allowed is in the result. Where there is none, a note has the reason, or nobody would see it.
    fn trouble(&self, trouble: Trouble, request: &Request) -> Result<Data, Stop> {
        if trouble.name == ErrorName::Broken || !request.allow.contains(&trouble.name) {
            return Err(Stop::trouble(trouble));
        }
        if matches!(self.gives, Gives::Outcome) {
            return Ok(self.result(&CommandResult::default(), Some(&trouble)));
        }
        let text = format!("{}: {} is allowed: {}", request.at, trouble.name, trouble.text);
        self.scene.keep(Event::Note { text }, self.limits)?;
        Ok(Data::None)
    }

    /// A command that went wrong in a way that is not allowed stops the script.
    fn command(&self, result: &CommandResult, allow: &[ErrorName]) -> Result<Data, Stop> {
        let (name, how) = match (result.signal, result.status) {
            (Some(signal), _) => (ErrorName::Signal, format!("signal {signal} ended the command")),
            (None, Some(0)) => return Ok(self.result(result, None)),
            (None, Some(status)) => (ErrorName::Exit, format!("the command ended with status {status}")),
            (None, None) => {
                return Err(Stop::broken(Blame::Kiln, "a command has neither a status nor a signal"));
            }
        };
        let said = last_line(&result.output).map(|line| format!(": {line}")).unwrap_or_default();
        let trouble = Trouble::new(name, format!("{how}{said}"));
        if allow.contains(&name) {
            Ok(self.result(result, Some(&trouble)))
        } else {
            Err(Stop::trouble(trouble))
        }
    }

    fn result(&self, result: &CommandResult, allowed: Option<&Trouble>) -> Data {
        let text = |text: &[u8]| Data::Text(bounded(text, self.limits.text_bytes));
        let number = |number: Option<i32>| number.map_or(Data::None, |number| Data::Int(number.into()));
        let field = |name: &str, data| (name.to_owned(), data);
        Data::Struct(vec![
            field("output", text(&result.output)),
            field("status", number(result.status)),
            field("signal", number(result.signal)),
            field("duration", Data::Float(result.duration.as_secs_f64())),
            field("error", allowed.map_or(Data::None, |trouble| text(trouble.name.name().as_bytes()))),
            field("reason", allowed.map_or(Data::None, |trouble| text(trouble.text.as_bytes()))),
        ])
    }

    fn object(&self, kind: ObjectKind, id: u32) -> Data {
        Data::Object(Object::new(kind, id, self.scene.step))
    }

    fn lines(&self, lines: &[Vec<u8>]) -> Data {
        let mut left = self.limits.text_bytes;
        let mut kept = Vec::new();
        for line in lines.iter().take(ITEMS) {
            let line = bounded(line, left);
            left = left.saturating_sub(line.len());
            kept.push(Data::Text(line));
            if left == 0 {
                break;
            }
        }
        Data::List(kept)
    }

    fn plain(&self, value: &Value) -> Result<Data, Stop> {
        let bytes = serde_json::to_vec(value).map_or(usize::MAX, |json| json.len());
        if bytes > self.limits.text_bytes {
            return Err(Stop::limit(format!(
                "the answer has {} KiB, more than a script may hold",
                bytes / 1024
            )));
        }
        Ok(Data::from(value))
    }
}

/// The last line of an output that says something.
fn last_line(output: &[u8]) -> Option<String> {
    const WIDTH: usize = 200;
    let end = output.len().saturating_sub(4096);
    let text = String::from_utf8_lossy(output.get(end..)?).into_owned();
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(crate::show::shown(line.trim(), WIDTH))
}
