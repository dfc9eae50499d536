//! The command that makes a test: whoever has doubts can type it.

use bisect::{Question, Subject};
use clap::ValueEnum;
use kernel::Locator;

use crate::cli::{Bisect, BuildOptions, MachineOptions};

/// What runs where only the boot is of interest.
const TRIVIAL: &str = "process/exit-status";

/// Words of a command line.
pub(crate) type Words = Vec<String>;

/// `kiln run` or `kiln measure` of a subject, `times` times, by `locator` if that was built already.
pub(crate) fn of_test(
    said: &Bisect,
    question: &Question,
    subject: &Subject,
    (built, times): (Option<&Locator>, u32),
) -> Words {
    let mut words = Words::new();
    let verb = if question.is_measured() { "measure" } else { "run" };
    words.extend([verb.to_string(), built.unwrap_or(&subject.locator).to_string()]);
    match question {
        Question::Metric { name, timed, .. } => {
            option(&mut words, "--metric", name);
            option(&mut words, "--boots", &times.to_string());
            words.extend(timed.then(|| "--timed".to_string()));
        }
        Question::Case(_) | Question::Program(_) => {
            option(&mut words, "--repeat", &times.to_string());
        }
        // A clone does not boot.
        Question::Boot | Question::Log(_) | Question::Build => {
            words.extend(["--isolation", "suite", "--no-retry"].map(str::to_string));
        }
    }
    if let Some(limit) = said.case_timeout.filter(|_| !question.is_measured()) {
        option(&mut words, "--case-timeout", &seconds(limit));
    }
    if built.is_none() && is_built(subject) {
        words.extend(of_build(&said.build, subject));
    }
    words.extend(of_machine(&said.machine));
    if !subject.parameters.is_empty() {
        option(&mut words, "--append", &subject.parameters);
    }
    if !question.is_measured() {
        words.extend(what_runs(said));
    }
    words
}

/// `kiln build` of a subject.
pub(crate) fn of_build_alone(said: &Bisect, subject: &Subject) -> Words {
    let mut words = vec!["build".to_string(), subject.locator.to_string()];
    words.extend(of_build(&said.build, subject));
    words
}

/// The case or the program; what has arguments comes last.
fn what_runs(said: &Bisect) -> Words {
    let mut words = Words::new();
    let Some(program) = &said.exec else {
        match &said.case {
            Some(case) => {
                option(&mut words, "--suite", &said.suite);
                option(&mut words, "--case", case);
            }
            None => option(&mut words, "--case", TRIVIAL),
        }
        return words;
    };
    option(&mut words, "--exec", &program.display().to_string());
    for need in &said.need {
        option(&mut words, "--need", &need.to_string());
    }
    if !said.arguments.is_empty() {
        words.push("--".to_string());
        words.extend(said.arguments.iter().cloned());
    }
    words
}

/// Whether kiln builds the subject.
fn is_built(subject: &Subject) -> bool {
    subject.locator.is_source() || !subject.recipe.configurations.is_empty()
}

fn of_build(said: &BuildOptions, subject: &Subject) -> Words {
    let mut words = Words::new();
    if !subject.recipe.configurations.is_empty() {
        option(&mut words, "--config", &subject.recipe.configurations.join(","));
    }
    if let Some(arch) = said.arch.and_then(|arch| arch.to_possible_value()) {
        option(&mut words, "--arch", arch.get_name());
    }
    words.extend(subject.recipe.allow_unmet.then(|| "--allow-unmet".to_string()));
    for variable in &subject.recipe.variables {
        option(&mut words, "--make", variable);
    }
    words
}

fn of_machine(said: &MachineOptions) -> Words {
    let mut words = Words::new();
    if let Some(memory) = said.memory {
        option(&mut words, "--memory", &format!("{memory}M"));
    }
    if let Some(cpus) = said.cpus {
        option(&mut words, "--cpus", &cpus.to_string());
    }
    for parameters in &said.append {
        option(&mut words, "--append", parameters);
    }
    if let Some(accel) = said.accel.to_possible_value().filter(|accel| accel.get_name() != "auto") {
        option(&mut words, "--accel", accel.get_name());
    }
    if let Some(limit) = said.timeout {
        option(&mut words, "--timeout", &seconds(limit));
    }
    words
}

fn seconds(time: std::time::Duration) -> String {
    format!("{}s", time.as_secs_f64())
}

/// One word each where the value could be taken for an option.
fn option(words: &mut Words, name: &str, value: &str) {
    match value.starts_with('-') {
        true => words.push(format!("{name}={value}")),
        false => words.extend([name.to_string(), value.to_string()]),
    }
}
