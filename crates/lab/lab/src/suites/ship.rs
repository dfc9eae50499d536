//! From a suite of others to a plan: what is shipped, and what cannot run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kernel::{Config, Kernel, Presence};
use machine::payload::Wanted;
use machine::program::{Needs, Program};
use machine::{Error, Payload, spec};
use protocol::{Need, Work};

use super::External;
use super::external::{Behind, ExternalCase};
use super::kselftest::options;
use super::modprobe;
use crate::plan::{Fixed, Item, Plan, tool_path};
use crate::scripts::{self, Reader};
use crate::userland::{self, Userland};

/// Words that a shell understands by itself.
const BUILT_IN: &[&str] = &[
    ".", ":", "[", "cd", "command", "echo", "eval", "exec", "exit", "export", "false", "for", "if", "kill",
    "printf", "read", "set", "test", "time", "trap", "true", "ulimit", "umask", "unset", "until", "wait",
    "while",
];

/// Where a machine's configuration is looked for when nobody knows its release.
const CONFIG: &str = "/boot/config";

impl Plan {
    /// A plan for a suite of others.
    ///
    /// # Errors
    ///
    /// When a program of the host cannot be shipped.
    pub fn for_external(suite: &External, kernel: &Kernel, fixed: Fixed) -> Result<Self, Error> {
        let mut plan = Self::empty(&suite.name, &[], fixed);
        // A root has what programs need besides their folder, or they miss it themselves.
        let userland = match fixed.has_root {
            true => Userland::default(),
            false => userland::ship(&mut plan.payload)?,
        };
        let survey = if fixed.has_root { Survey::default() } else { survey(suite, &userland) };
        plan.payload.folder(suite.folder.clone(), suite.place);
        survey.ship(&mut plan.payload);
        for (place, target) in &suite.links {
            plan.payload.link(place, target);
        }
        let config = kernel.config.as_ref().map(|config| {
            let place =
                kernel.release.as_ref().map_or(CONFIG.to_string(), |release| format!("{CONFIG}-{release}"));
            plan.payload.file(&place, text(config));
            place
        });
        if let Some((release, list)) = kernel.release.as_ref().zip(kernel.modules.built_in_list()) {
            plan.payload.file(&format!("/lib/modules/{release}/modules.builtin"), list);
        }
        for case in &suite.cases {
            let missing = || survey.missing(suite, &case.program, &userland);
            let is_known = !(fixed.has_root && matches!(case.program, Behind::Name(_)));
            let skip = case.skip.clone().or_else(|| is_known.then(missing).flatten());
            let loads = survey.loads(suite, &case.program);
            let asks = [case.asks.clone(), modules_of(kernel, &case.options), loads].concat();
            let (modules, parts) = plan.provide_available(kernel, &asks)?;
            let item = item(suite, case, fixed, config.as_deref());
            let lacking = lacking(kernel, &case.options);
            plan.items.push(Item { skip, modules, lacking, files: Wanted { common: true, parts }, ..item });
        }
        plan.memory_mib =
            fixed.memory_mib.unwrap_or(plan.memory_mib.max(spec::roomy_memory_mib(plan.payload.size())));
        plan.notes.clone_from(&suite.notes);
        Ok(plan)
    }
}

/// A case of a suite, with nothing but the suite's folder yet.
fn item(suite: &External, case: &ExternalCase, fixed: Fixed, config: Option<&str>) -> Item {
    let mut command = case.command.clone();
    command.environment.extend(config.map(|place| ("KCONFIG_PATH".to_string(), place.to_string())));
    Item {
        name: case.name.clone(),
        about: case.about.clone(),
        work: Work::Program(command),
        dialect: suite.dialect,
        limit: fixed.limit.unwrap_or(case.limit),
        runtime: case.runtime,
        expects: Vec::new(),
        needs: Vec::new(),
        modules: Vec::new(),
        lacking: Vec::new(),
        unsure: Vec::new(),
        files: Wanted::default(),
        cpus: machine::spec::CPUS,
        skip: None,
    }
}

/// The modules of options that the kernel has as modules.
fn modules_of(kernel: &Kernel, options: &[String]) -> Vec<Need<String>> {
    let Some(config) = &kernel.config else { return Vec::new() };
    let is_there = |name: &str| kernel.modules.presence(name) == Presence::Loadable;
    let modular = options.iter().filter(|option| config.value(option) == Some("m"));
    modular.filter_map(|option| options::module(option, is_there)).map(Need::Module).collect()
}

/// The options that the kernel was built without.
fn lacking(kernel: &Kernel, options: &[String]) -> Vec<String> {
    let Some(config) = &kernel.config else { return Vec::new() };
    options.iter().filter(|option| config.value(option).is_none()).cloned().collect()
}

/// A configuration as the kernel writes it. What is no number is a text.
fn text(config: &Config) -> String {
    let is_bare = |value: &str| {
        let digits = value.strip_prefix("0x").unwrap_or(value.trim_start_matches('-'));
        matches!(value, "y" | "m")
            || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let line = |(name, value): (&str, &str)| match is_bare(value) {
        true => format!("CONFIG_{name}={value}\n"),
        false => format!("CONFIG_{name}=\"{}\"\n", value.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    config.options().map(line).collect()
}

/// What the programs of a folder need.
#[derive(Debug, Default)]
struct Survey {
    needs: Needs,
    /// Programs of the host that scripts name, with their paths.
    tools: BTreeMap<String, PathBuf>,
    /// Paths under which scripts look for a shell.
    shells: BTreeSet<String>,
    /// Modules that programs load, by the programs' paths.
    modules: BTreeMap<String, Vec<String>>,
    /// Why programs cannot run.
    lacking: BTreeMap<String, String>,
}

/// Looks at all programs: also those that are no cases may be run by one.
fn survey(suite: &External, userland: &Userland) -> Survey {
    let mut survey = Survey::default();
    for (path, entry) in suite.folder.entries() {
        let is_sourced = entry.is_file() && path.ends_with(".sh");
        if !entry.is_executable() && !is_sourced {
            continue;
        }
        if let Err(why) = survey.look(suite, path, userland) {
            survey.lacking.insert(path.to_string(), why);
        }
    }
    survey
}

impl Survey {
    fn look(&mut self, suite: &External, path: &str, userland: &Userland) -> Result<(), String> {
        let content = suite.folder.read(path).map_err(|error| why(&error))?;
        let reader = scripts::reader(&content);
        let modules = modprobe::modules(&content);
        if !modules.is_empty() {
            self.modules.insert(path.to_string(), modules);
        }
        if reader.is_some() || path.ends_with(".sh") {
            self.tools.extend(userland.lacking(&content));
        }
        match reader {
            Some(Reader::Missing(why)) => Err(why),
            Some(Reader::Shell(place)) if userland.is_busybox => {
                self.shells.insert(place);
                Ok(())
            }
            _ => self.needs.add(&suite.folder.root().join(path), &content).map_err(|error| why(&error)),
        }
    }

    fn missing(&self, suite: &External, program: &Behind, userland: &Userland) -> Option<String> {
        match program {
            Behind::File(path) => match suite.folder.file(path) {
                Some((path, _)) => self.lacking.get(path).cloned(),
                None => Some(format!("there is no {path}: it was not built or installed")),
            },
            Behind::Name(name) => {
                let known = BUILT_IN.contains(&name.as_str())
                    || userland.names.contains(name)
                    || self.tools.contains_key(name);
                (!known).then(|| format!("there is no {name}: it was not built or installed"))
            }
            Behind::Unknown => None,
        }
    }

    /// The modules that a program loads itself.
    fn loads(&self, suite: &External, program: &Behind) -> Vec<Need<String>> {
        let Behind::File(path) = program else { return Vec::new() };
        let real = suite.folder.file(path).map(|(path, _)| path);
        let names = real.and_then(|path| self.modules.get(path)).into_iter().flatten();
        names.cloned().map(Need::Module).collect()
    }

    /// Ships what was found. A tool that this host lacks, or cannot give away, is missed by the script itself.
    fn ship(&self, payload: &mut Payload) {
        for (tool, path) in &self.tools {
            if let Ok(program) = Program::load(path) {
                payload.program(program, &tool_path(tool));
            }
        }
        self.needs.clone().files().for_each(|path| payload.library(path));
        for place in &self.shells {
            payload.link(place, "/bin/busybox");
        }
    }
}

/// What is wrong with a program, without its path, which the name of the case tells.
fn why(error: &Error) -> String {
    match error {
        Error::Program { why, .. } => why.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_comes_back() {
        let config =
            Config::parse("CONFIG_A=y\nCONFIG_B=m\nCONFIG_C=\"x \\\"y\\\"\"\nCONFIG_D=0x10\nCONFIG_E=-5\n");
        assert_eq!(Config::parse(&text(&config)), config);
        assert!(text(&config).contains("CONFIG_C=\"x \\\"y\\\"\"\nCONFIG_D=0x10\n"));
    }
}
