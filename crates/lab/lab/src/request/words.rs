//! A request as a call of kiln: for people, who can paste it. kiln itself reads no such call.

use std::time::Duration;

use ::machine::AccelChoice;
use hardware::Device;
use kernel::Arch;
use script::Mode;

use super::{
    BuildOptions, ExperimentRequest, FiguresRequest, KernelRequest, KunitRequest, MachineRequest,
    MeasureRequest, ProgramRequest, RunPolicy, RunRequest, Selection, TimedRequest,
};
use crate::options::Isolation;
use crate::suites::select;

/// A call of kiln with these arguments, as a shell reads it.
#[must_use]
pub fn call(words: &[String]) -> String {
    let words = std::iter::once("kiln").chain(words.iter().map(String::as_str));
    // No argument of a program holds a NUL, which is all that could not be quoted.
    shlex::Quoter::new().allow_nul(true).join(words).unwrap_or_default()
}

/// Arguments, in the order in which they are given.
#[derive(Debug, Default)]
pub struct Words(Vec<String>);

impl Words {
    /// Those of a verb and what it is about.
    #[must_use]
    pub fn new(verb: &str, about: &(impl ToString + ?Sized)) -> Self {
        let mut words = Self::of(verb);
        words.about(about);
        words
    }

    /// Those of a verb.
    #[must_use]
    pub fn of(verb: &str) -> Self {
        Self(vec![verb.to_string()])
    }

    /// What it is about.
    pub fn about(&mut self, about: &(impl ToString + ?Sized)) {
        self.0.push(about.to_string());
    }

    /// All of them.
    #[must_use]
    pub fn finish(self) -> Vec<String> {
        self.0
    }

    /// An option that has no value, where it `is_set`.
    pub fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| name.to_string()));
    }

    /// An option with its value; one word where the value could be taken for an option.
    pub fn option(&mut self, name: &str, value: &(impl ToString + ?Sized)) {
        let value = value.to_string();
        match value.starts_with('-') {
            true => self.0.push(format!("{name}={value}")),
            false => self.0.extend([name.to_string(), value]),
        }
    }

    /// An option that is given once for each value.
    pub fn each<T: ToString>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        values.into_iter().for_each(|value| self.option(name, &value));
    }

    /// An option that has several values.
    pub fn several<T: ToString>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        self.0.push(name.to_string());
        self.0.extend(values.into_iter().map(|value| value.to_string()));
    }

    /// A time.
    pub fn time(&mut self, name: &str, time: Option<Duration>) {
        self.each(name, time.map(|time| format!("{}s", time.as_secs_f64())));
    }

    /// How it is built.
    pub fn build(&mut self, build: &BuildOptions) {
        if !build.configurations.is_empty() {
            self.option("--config", &build.configurations.join(","));
        }
        self.each("--arch", build.arch.map(|arch: Arch| arch.to_string()));
        self.flag("--allow-unmet", build.allow_unmet);
        self.each("--make", &build.variables);
    }

    /// The machine.
    pub fn machine(&mut self, machine: &MachineRequest) {
        self.each("--memory", machine.memory_mib.map(|mib| format!("{mib}M")));
        self.each("--cpus", machine.cpus);
        self.each("--append", &machine.append);
        match machine.accel {
            AccelChoice::Auto => {}
            AccelChoice::Kvm => self.option("--accel", &"kvm"),
            AccelChoice::Tcg => self.option("--accel", &"tcg"),
        }
        for device in &machine.hardware.devices {
            match device {
                Device::Disk(disk) => self.option("--disk", &disk.text()),
                other => self.option("--device", other),
            }
        }
        self.each("--root", &machine.root);
        self.flag("--systemd", machine.services);
        self.time("--timeout", machine.boot_limit);
    }

    fn policy(&mut self, policy: &RunPolicy) {
        match policy.isolation {
            Isolation::Case => {}
            Isolation::Suite => self.option("--isolation", &"suite"),
        }
        self.each("--jobs", policy.jobs);
        self.each("--repeat", policy.repeat);
        self.each("--boots", policy.boots);
        self.each("--first-boot", (policy.first_boot > 0).then_some(policy.first_boot));
        self.flag("--until-fail", policy.until_fail);
        self.flag("--no-retry", policy.no_retry);
        self.each("--seed", policy.seed);
        self.time("--settle", policy.settle);
        self.flag("--resume", policy.resume);
        self.each("--golden", &policy.golden);
    }

    /// What is measured, and how.
    pub fn figures(&mut self, figures: &FiguresRequest) {
        self.each("--metric", &figures.operations);
        self.flag("--timed", figures.timed.is_some());
        self.sampled(figures);
    }

    /// How samples are taken.
    pub fn sampled(&mut self, figures: &FiguresRequest) {
        self.each("--boots", figures.boots);
        let Some(timed) = &figures.timed else { return };
        let usual = TimedRequest::default();
        self.time("--budget", timed.budget);
        let min_effect = (timed.min_effect != usual.min_effect).then_some(timed.min_effect * 100.0);
        self.each("--min-effect", min_effect.map(|percent| format!("{percent}%")));
        self.each("--seed", timed.seed);
        self.flag("--exclude-disturbed", timed.leave_out_disturbed);
    }

    /// What runs; arguments of a program come last.
    pub fn selection(&mut self, selection: &Selection) {
        match selection {
            Selection::Suite { suite, patterns } => {
                self.each("--suite", (suite != select::DEFAULT).then_some(suite));
                self.each("--case", patterns);
            }
            Selection::Selftests { place, patterns } => {
                self.option("--kselftest", place);
                self.each("--case", patterns);
            }
            Selection::Program(program) => {
                self.option("--exec", &program.path.display());
                self.arguments(program);
            }
        }
    }

    /// What a program needs, and its arguments, which come last.
    pub fn arguments(&mut self, program: &ProgramRequest) {
        self.each("--need", &program.needs);
        if !program.arguments.is_empty() {
            self.0.push("--".to_string());
            self.0.extend(program.arguments.iter().cloned());
        }
    }
}

impl KernelRequest {
    /// The arguments by which kiln builds it.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Words::new("build", &self.locator);
        words.build(&self.build);
        words.finish()
    }
}

impl RunRequest {
    /// The arguments by which kiln is asked the same.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let hazards = &self.machine.hazards;
        let mut words = Words::of(if hazards.is_empty() { "run" } else { "hazard" });
        if hazards.is_empty() {
            words.about(&self.kernel.locator);
            words.policy(&self.policy);
        } else {
            words.option("--in", &self.kernel.locator);
            words.each("--when", &hazards.0);
        }
        words.time("--case-timeout", self.case_limit);
        words.build(&self.kernel.build);
        words.machine(&self.machine);
        words.flag("--dump", self.dump);
        if let Some(trace) = &self.trace {
            if self.flight {
                trace.events.iter().for_each(|event| words.flag(&format!("--flight={event}"), true));
            } else {
                words.each("--trace", &trace.events);
            }
            words.option("--trace-buffer", &format!("{}K", trace.buffer_kib));
            words.each("--trace-until", &trace.until);
        }
        words.each("--need", &self.needs);
        words.selection(&self.cases);
        words.finish()
    }
}

impl MeasureRequest {
    /// The arguments by which kiln is asked the same.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Words::new("measure", &self.kernel.locator);
        words.figures(&self.figures);
        words.build(&self.kernel.build);
        words.machine(&self.machine);
        if let Some(program) = &self.program {
            words.selection(&Selection::Program(program.clone()));
        }
        words.finish()
    }
}

impl ExperimentRequest {
    /// The arguments by which kiln is asked the same.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Words::new("exp", "run");
        words.about(&self.folder.display());
        words.each("--kernel", self.kernels.iter().map(|kernel| &kernel.locator));
        words.flag("--short", self.mode == Mode::Short);
        words.option("--seed", &self.seed);
        words.flag("--no-clones", self.no_clones);
        // All are built alike.
        self.kernels.first().into_iter().for_each(|kernel| words.build(&kernel.build));
        words.machine(&self.machine);
        words.finish()
    }
}

impl KunitRequest {
    /// The arguments by which kiln is asked the same.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Words::new("kunit", &self.kernel.locator);
        if !self.suites.is_empty() {
            words.option("--suite", &self.suites.join(","));
        }
        words.build(&self.kernel.build);
        words.machine(&self.machine);
        words.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_stays_one_word() {
        let words = ["run", "git:linux@HEAD", "--append", "a b", "it's", ""].map(str::to_string);
        assert_eq!(call(&words), r#"kiln run git:linux@HEAD --append 'a b' "it's" ''"#);
    }

    #[test]
    fn a_machine_in_which_hazards_are_looked_for_is_another_verb() {
        let text = r#"{"version": 1, "kernel": {"locator": "host"}, "cases": {"suite": {"suite": "smoke", "patterns": ["fs/*"]}},
            "machine": {"cpus": 4, "hazards": ["lock-spin>50", "lock-wait>1s"]}, "policy": {"no_retry": true}}"#;
        let request: RunRequest = serde_json::from_str(text).unwrap();
        let words =
            ["hazard", "--in", "host", "--when", "lock-spin>50", "--when", "lock-wait>1s", "--cpus", "4"];
        assert_eq!(request.words()[..words.len()], words);
        assert!(!request.words().contains(&"--no-retry".to_string()), "{:?}", request.words());
    }

    #[test]
    fn a_value_that_looks_like_an_option_is_given_with_its_name() {
        let mut words = Words::new("run", "host");
        words.option("--append", &"-x");
        assert_eq!(words.finish(), ["run", "host", "--append=-x"]);
    }
}
