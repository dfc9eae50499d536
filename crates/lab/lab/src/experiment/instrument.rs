//! Instruments in the machines of a script.

use std::collections::BTreeMap;
use std::time::Duration;

use judge::Blame;
use machine::instruments;
use protocol::instrument::{DONE, FAULT, Line, SKIPPED, WRONG_REQUEST, scheme};
use protocol::{Command, Report};
use script::{Answer, CommandResult, ErrorName, Trouble};
use serde_json::Value;

use super::guest::Guest;
use super::order::USUAL;

/// The shell's status for a program that is not there.
const NOT_FOUND: i32 = 127;

/// Runs an instrument, and gives its report. One that finds the kernel at fault is a command that failed.
pub(super) fn call(
    guest: &Guest,
    (name, request, timeout): (&str, Option<&Value>, Option<Duration>),
    cancelled: &dyn Fn() -> bool,
) -> Result<Answer, Trouble> {
    let known = instruments::ALL.map(|instrument| instrument.name);
    if !known.contains(&name) {
        let text = format!("kiln has no instrument {name}: it has {}", known.join(", "));
        return Err(Trouble::broken(Blame::Case, text));
    }
    let ended = guest.run(command(guest, name, request), Vec::new(), timeout.unwrap_or(USUAL), cancelled)?;
    concluded(name, &ended.result()?)
}

fn command(guest: &Guest, name: &str, request: Option<&Value>) -> Command {
    let request = request.map_or_else(|| "{}".to_owned(), Value::to_string);
    let environment = BTreeMap::from([("REQUEST".to_owned(), request)]);
    guest.shell(&format!("exec {} \"$REQUEST\"", scheme(name)), &environment)
}

/// What the instrument reported, by its last line and how it ended.
fn concluded(name: &str, result: &CommandResult) -> Result<Answer, Trouble> {
    if let Some(signal) = result.signal {
        let text = format!("signal {signal} ended the instrument {name}");
        return Err(Trouble::new(ErrorName::Signal, text));
    }
    let status = result.status.unwrap_or(-1);
    let last = last_line(&result.output);
    let why = match &last {
        Some(Line::Stopped(Report { text, .. })) => text.clone(),
        _ => format!("it ended with status {status}"),
    };
    let text = format!("{name}: {why}");
    match (u8::try_from(status), last) {
        (Ok(DONE), Some(Line::Done(report))) => Ok(Answer::Plain(report)),
        (Ok(FAULT), _) => Err(Trouble::new(ErrorName::Exit, format!("{name} finds the kernel at fault"))),
        (Ok(SKIPPED), _) => Err(Trouble::new(ErrorName::Missing, text)),
        (Ok(WRONG_REQUEST), _) => Err(Trouble::broken(Blame::Case, text)),
        _ if status == NOT_FOUND => {
            let text = format!("{name}: name it in the experiment: needs = [\"program={}\"]", scheme(name));
            Err(Trouble::broken(Blame::Case, text))
        }
        _ => Err(Trouble::broken(Blame::Kiln, text)),
    }
}

/// The C library or the kernel may have spoken in between, but not after it.
fn last_line(output: &[u8]) -> Option<Line<Value>> {
    let line = output.trim_ascii_end().rsplit(|byte| *byte == b'\n').next()?;
    serde_json::from_slice(line).ok()
}

#[cfg(test)]
mod tests {
    use protocol::End;

    use super::super::order::Ended;
    use super::*;

    fn told(end: End, output: &str) -> Result<Value, (ErrorName, String)> {
        let ended = Ended { output: output.as_bytes().to_vec(), end, duration: Duration::ZERO };
        match concluded("latency", &ended.result().expect("it has begun")) {
            Ok(Answer::Plain(report)) => Ok(report),
            Ok(answer) => panic!("{answer:?}"),
            Err(trouble) => Err((trouble.name, trouble.text)),
        }
    }

    #[test]
    fn the_report_is_on_the_last_line() {
        let output = "{\"so-far\":1}\nlibc: noise\n{\"done\":{\"a\":2}}\n";
        assert_eq!(told(End::Exited(0), output), Ok(serde_json::json!({"a": 2})));
    }

    #[test]
    fn what_went_wrong_has_a_name() {
        let stopped = "{\"stopped\":{\"kind\":\"skip\",\"text\":\"no CPU 7\"}}\n";
        let told = |status, output| told(End::Exited(status), output).unwrap_err();
        let exit = "latency finds the kernel at fault";
        assert_eq!(told(1, "{\"done\":{}}\n"), (ErrorName::Exit, exit.to_owned()));
        assert_eq!(told(4, stopped), (ErrorName::Missing, "latency: no CPU 7".to_owned()));
        for (status, output) in
            [(2, stopped), (3, stopped), (127, "not found\n"), (0, ""), (0, "{\"done\":"), (77, "x")]
        {
            assert_eq!(told(status, output).0, ErrorName::Broken, "{status} {output}");
        }
    }
}
