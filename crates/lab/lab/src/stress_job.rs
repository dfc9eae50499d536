//! Job files of `stress`: one option a line, without the dashes of a command line.
//!
//! ```text
//! run sequential       # or parallel
//! timeout 60s
//! matrix 0             # a stressor, and its workers: 0 for one on each CPU
//! matrix-method add    # an option of the matrix above
//! matrix 0             # the same stressor once more
//! matrix-method trans
//! matrix-ops 1000
//! ```
//!
//! * [`examples`]: job files that kiln carries
//! * `global`: options that concern all stressors
//! * `units`: times and lists of CPUs
//! * [`write`](mod@write): from a request to a job file

pub mod examples;
mod global;
#[cfg(test)]
mod tests;
mod units;
pub mod write;

use std::fmt;

use protocol::stress::{Catalogue, Instance, StressRequest, Stressor};
use script::nearest::{nearest, suggestion};

use global::Globals;

/// Longest job file, in bytes.
const FILE_MAX: usize = 1 << 20;

/// Mistakes that are reported of one file.
const MISTAKES_MAX: usize = 100;

/// The option that names a job file.
const JOB: &str = "job";

/// The option by which a stressor's bogo operations are limited.
const OPERATIONS: &str = "ops";

/// What a job file says, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// All that was understood.
    pub request: StressRequest,
    /// What was not, in the order of the lines.
    pub mistakes: Vec<Mistake>,
}

/// A line that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Number of the line, from 1.
    pub line: usize,
    /// It names a stressor that there is not, or an option of one: a file for another program may.
    pub is_unknown_stressor: bool,
    /// What is wrong, and what is allowed.
    pub text: String,
}

impl Mistake {
    /// `FILE:LINE: TEXT`.
    #[must_use]
    pub fn in_file(&self, file: &str) -> String {
        format!("{file}:{self}")
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.text)
    }
}

/// Reads a job file, as far as it makes sense, with the stressors of `catalogue`.
#[must_use]
pub fn parse(bytes: &[u8], catalogue: &Catalogue) -> Job {
    parse_with(bytes, "", catalogue)
}

/// Reads a job file and the lines of a command line, whose numbers follow those of the file: its stressors are added, and
/// what it says of all stressors replaces what the file says.
#[must_use]
pub fn parse_with(file: &[u8], command_line: &str, catalogue: &Catalogue) -> Job {
    let mut reader =
        Reader { catalogue, instances: Vec::new(), globals: Globals::default(), mistakes: Vec::new() };
    let lines = if file.len() > FILE_MAX {
        reader.wrong(1, Wrong::plain(format!("{} bytes, at most {FILE_MAX}", file.len())));
        1
    } else {
        reader.lines(1, file)
    };
    reader.globals.settle();
    reader.lines(lines + 1, command_line.as_bytes());
    reader.job()
}

/// Whether an option concerns all stressors.
#[must_use]
pub fn is_global(option: &str) -> bool {
    global::NAMES.contains(&option)
}

/// Why a line is wrong.
struct Wrong {
    is_unknown_stressor: bool,
    text: String,
}

impl Wrong {
    fn plain(text: String) -> Self {
        Self { is_unknown_stressor: false, text }
    }
}

impl From<String> for Wrong {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

/// What was read so far.
struct Reader<'a> {
    catalogue: &'a Catalogue,
    instances: Vec<Instance>,
    globals: Globals,
    mistakes: Vec<Mistake>,
}

impl<'a> Reader<'a> {
    fn wrong(&mut self, line: usize, Wrong { is_unknown_stressor, text }: Wrong) {
        if self.mistakes.len() < MISTAKES_MAX {
            self.mistakes.push(Mistake { line, is_unknown_stressor, text });
        }
    }

    /// Reads lines, the first of which has this number; gives the number of the last.
    fn lines(&mut self, first: usize, lines: &[u8]) -> usize {
        let mut last = first;
        for (line, number) in lines.split(|&byte| byte == b'\n').zip(first..) {
            if let Err(wrong) = self.line(line) {
                self.wrong(number, wrong);
            }
            last = number;
        }
        last
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Wrong> {
        let line = std::str::from_utf8(line).map_err(|_| Wrong::plain("this is no text".to_string()))?;
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { return Ok(()) };
        let value = words.next();
        if let Some(more) = words.next() {
            return Err(format!("{more:?} is too much: a line has an option and a value").into());
        }
        // As on a command line, with dashes.
        let name = name.trim_start_matches('-');
        if name == JOB {
            return Err("a job file cannot name another one".to_string().into());
        }
        if is_global(name) {
            return Ok(self.globals.set(name, value)?);
        }
        match self.catalogue.find(name) {
            Some(stressor) => self.begin(stressor, value),
            None => self.option(name, value),
        }
    }

    /// A stressor and its number of workers.
    fn begin(&mut self, stressor: &Stressor, value: Option<&str>) -> Result<(), Wrong> {
        let wrong =
            || format!("{0} wants its number of workers: {0} 4, or {0} 0 for one on each CPU", stressor.name);
        let workers = value.and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
        self.instances.push(Instance { stressor: stressor.name.clone(), workers, ..Instance::default() });
        Ok(())
    }

    /// An option of the stressor above: `STRESSOR-OPTION VALUE`.
    fn option(&mut self, name: &str, value: Option<&str>) -> Result<(), Wrong> {
        let Some((stressor, option)) = self.parts(name) else { return Err(self.unknown(name)) };
        let known = stressor.option(option);
        if known.is_none() && option != OPERATIONS {
            let names = stressor.options.iter().map(|option| option.name.as_str()).chain([OPERATIONS]);
            let text = format!("{} has no option {option}; {}", stressor.name, suggestion(option, names));
            return Err(Wrong { is_unknown_stressor: true, text });
        }
        let Some(instance) = self.instances.iter_mut().rfind(|instance| instance.stressor == stressor.name)
        else {
            return Err(format!("{name} stands before {}, to which it belongs", stressor.name).into());
        };
        let Some(known) = known else {
            let operations = value.and_then(|text| text.parse().ok());
            instance.operations =
                Some(operations.ok_or_else(|| format!("{name} wants a number of operations"))?);
            return Ok(());
        };
        let text = value.unwrap_or_default();
        // The memory of the machine is not known here: a share of it has its place in any range.
        known.domain.parse(text, 0).map_err(|why| format!("{name}: {why}"))?;
        instance.options.insert(option.to_string(), text.to_string());
        Ok(())
    }

    /// The stressor with the longest name that `name` begins with, and the rest.
    fn parts<'n>(&self, name: &'n str) -> Option<(&'a Stressor, &'n str)> {
        let part = |stressor: &'a Stressor| {
            Some((stressor, name.strip_prefix(stressor.name.as_str())?.strip_prefix('-')?))
        };
        self.catalogue.stressors.iter().filter_map(part).max_by_key(|(stressor, _)| stressor.name.len())
    }

    fn unknown(&self, name: &str) -> Wrong {
        let known = self.catalogue.stressors.iter().map(|stressor| stressor.name.as_str());
        let text = match nearest(name, known.chain(global::NAMES.iter().copied())) {
            Some(near) => format!("there is no stressor or option {name}; did you mean {near}?"),
            None => format!("there is no stressor or option {name}"),
        };
        Wrong { is_unknown_stressor: true, text }
    }

    fn job(mut self) -> Job {
        self.globals.add_classes(self.catalogue, &mut self.instances);
        if self.instances.is_empty() && self.mistakes.is_empty() {
            self.wrong(1, Wrong::plain("it names no stressor".to_string()));
        }
        match self.globals.request() {
            Ok(request) => Job {
                request: StressRequest { instances: self.instances, ..request },
                mistakes: self.mistakes,
            },
            Err(why) => {
                self.wrong(1, why.into());
                Job {
                    request: StressRequest { instances: self.instances, ..StressRequest::default() },
                    mistakes: self.mistakes,
                }
            }
        }
    }
}
