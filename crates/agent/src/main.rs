//! `/init` of the machine; under the name `kiln-report`, the reporter for scripts.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let (name, rest) = arguments.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
    if Path::new(name).file_name().is_some_and(|name| name == "kiln-report") {
        return report(rest);
    }
    if std::process::id() == 1 {
        agent::init::run();
    }
    complain("this program is process 1 of kiln's machines");
    ExitCode::from(2)
}

fn report(arguments: &[String]) -> ExitCode {
    match agent::page::report_command(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            complain(&text);
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stderr, reason = "this is the command line of the agent")]
fn complain(text: &str) {
    eprintln!("{text}");
}
