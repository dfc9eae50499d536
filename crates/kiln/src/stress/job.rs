//! What a call of `kiln stress` asks for, and the same as a job file.

use std::path::Path;

use anyhow::{Context, Result};
use lab::stress_job::examples::example;
use lab::stress_job::write::write;
use lab::stress_job::{Job, Mistake, parse_with};
use machine::catalogue;
use protocol::stress::{Class, StressRequest};

use crate::cli::Stress;
use crate::failure::{WrongUsage, complain};
use crate::listeners::print;

/// How long a load lasts unless it is given, in milliseconds.
pub(super) const TIMEOUT_MS: u64 = 10_000;

/// What is asked, by the job file and the command line.
pub(super) fn request(args: &Stress) -> Result<StressRequest> {
    let file = args.job.as_deref().map(read).transpose()?.unwrap_or_default();
    let of_file = 1 + file.iter().filter(|byte| **byte == b'\n').count();
    let Job { request, mistakes } = parse_with(&file, &args.job_lines(), catalogue::stressors());
    let wrong: Vec<String> =
        mistakes.iter().filter_map(|mistake| complaint(mistake, args, mistake.line <= of_file)).collect();
    if let Some((last, others)) = wrong.split_last() {
        others.iter().for_each(|text| complain(text));
        return Err(WrongUsage(last.clone()).into());
    }
    Ok(StressRequest { timeout_ms: request.timeout_ms.or(Some(TIMEOUT_MS)), ..request })
}

/// The lines of a job file, or of the example of a class.
fn read(path: &Path) -> Result<Vec<u8>> {
    match (std::fs::read(path), class(path)) {
        (Ok(lines), _) => Ok(lines),
        (Err(_), Some(class)) => Ok(example(class).as_bytes().to_vec()),
        (Err(error), None) => {
            let classes = Class::ALL.map(Class::name).join(", ");
            let text = format!("{}: {error}; kiln has examples of {classes}", path.display());
            Err(WrongUsage(text).into())
        }
    }
}

fn class(path: &Path) -> Option<Class> {
    Class::ALL.into_iter().find(|class| Path::new(class.name()) == path)
}

/// What is wrong, unless it is to be ignored.
fn complaint(mistake: &Mistake, args: &Stress, is_of_file: bool) -> Option<String> {
    match args.job.as_ref().filter(|_| is_of_file) {
        Some(_) if args.skip_unknown && mistake.is_unknown_stressor => None,
        Some(path) => Some(mistake.in_file(&path.display().to_string())),
        None => Some(mistake.text.clone()),
    }
}

/// Writes a job file that asks for the same.
pub(super) fn save(request: &StressRequest, path: &Path) -> Result<()> {
    host::write_atomically(path, write(request).as_bytes()).with_context(|| path.display().to_string())
}

/// Prints what would run.
pub(super) fn show(request: &StressRequest, json: bool) -> Result<()> {
    let text = match json {
        true => report::json_line(request)?,
        false => report::stress::heading(request) + &write(request),
    };
    Ok(print(&text)?)
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};
    use proptest::prelude::*;

    use super::*;

    fn args(words: &[String]) -> Stress {
        let command = Stress::augment_args(Command::new("stress").no_binary_name(true));
        Stress::from_arg_matches(&command.get_matches_from(words)).expect("arguments")
    }

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_string).collect()
    }

    fn refused(line: &str) -> String {
        request(&args(&words(line))).unwrap_err().to_string()
    }

    /// What is asked for, and what the job file asks for that was saved of it.
    fn asked_twice(words: &[String]) -> [StressRequest; 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("saved.job");
        let first = request(&args(words)).expect("a request");
        save(&first, &path).expect("a file");
        let again = request(&args(&["--job".to_string(), path.display().to_string()]));
        [first, again.expect("the same request")]
    }

    /// Some options of a command line, in any order.
    fn any_words() -> impl Strategy<Value = Vec<String>> {
        let stressor = prop_oneof![
            "(pipe|vm|sock|cpu|vm-addr)=[0-9]{1,2}",
            "matrix=[0-9]{1,2},method=(all|add|prod),ops=[0-9]{1,6}",
            "matrix=1,yx,size=512",
            "vm=1,bytes=([1-9]|[1-9][0-9]|100)%,keep=(on|off)",
            "(get|set)",
        ];
        let option = prop_oneof![
            "--duration=[1-9][0-9]{0,2}(ms|s|m|h)",
            "--taskset=[0-9](,1[0-9]|,2-5){0,2}",
            "--nice=(-20|-1|0|19)",
            "--(verify|thermal|maximize)",
            "--seed=[0-9]{1,12}",
            "--sched=(batch|idle|fifo|rr)",
            "--class=(vm|ipc) --all=[0-9]{1,2}",
            "--class=device --seq=[0-9]{1,2}",
        ];
        let options = proptest::collection::vec(option, 0..6).prop_map(|options| {
            let mut seen = Vec::new();
            let name = |option: &String| option.split('=').next().map(str::to_string);
            options
                .into_iter()
                .filter(|it| {
                    !seen.contains(&name(it)) && {
                        seen.push(name(it));
                        true
                    }
                })
                .collect()
        });
        (proptest::collection::vec(stressor, 1..6), options).prop_map(
            |(stressors, options): (Vec<String>, Vec<String>)| {
                options.iter().chain(&stressors).flat_map(|option| words(option)).collect()
            },
        )
    }

    proptest! {
        #[test]
        fn a_saved_command_line_asks_for_the_same(words in any_words()) {
            let [first, again] = asked_twice(&words);
            prop_assert_eq!(first, again);
        }
    }

    #[test]
    fn every_matrix_method_for_a_minute_each_is_a_job() {
        let line = "--class cpu --seq 0 -t 1m --thermal matrix=0,method=add matrix=0,method=trans";
        let [first, again] = asked_twice(&words(line));
        assert_eq!((first.instances[0].options["method"].as_str(), first.timeout_ms), ("add", Some(60_000)));
        assert_eq!(first, again);
    }

    #[test]
    fn a_class_is_its_example_and_the_command_line_adds_to_it() {
        let first = request(&args(&words("--job vm --nice 5 -t 2s"))).expect("a request");
        assert_eq!((first.nice, first.timeout_ms), (Some(5), Some(2000)));
        assert!(first.instances.iter().any(|instance| instance.stressor == "userfaultfd"));
        assert_eq!(
            refused("--job vm --maximize --seq 1 nonesuch=1"),
            "there is no stressor or option nonesuch"
        );
        assert!(refused("--job nonesuch").contains("nonesuch: No such file or directory"));
    }
}
