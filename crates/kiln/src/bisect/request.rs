//! From the command line to what a bisection is asked.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bisect::{AxisRequest, BisectRequest, Question, RecordedMetric, SearchRequest};
use kernel::files::hash;
use kernel::{Locator, Store};
use lab::request::{ProgramRequest, Selection, Version};

use super::instrument;
use super::range::Range;
use crate::cli::{Bisect, Source};
use crate::exp::chosen;
use crate::failure::WrongUsage;
use crate::series::written;

impl Bisect {
    /// What is asked.
    pub(super) fn request(&self) -> Result<BisectRequest> {
        let order = self.instrument.as_deref().map(instrument::read).transpose()?;
        let cases = order.as_ref().map(|order| Selection::Program(order.program())).or_else(|| self.cases());
        Ok(BisectRequest {
            version: Version,
            axis: self.axis()?,
            question: self.question(cases.as_ref())?,
            cases,
            case_limit: self.case_timeout.or(order.map(|order| order.limit())),
            search: SearchRequest {
                fixed: self.fixed,
                any_failure: self.any_failure,
                confidence: self.confidence,
                tries: self.tries,
                jobs: self.jobs,
                fresh: self.fresh,
            },
            build: self.build.request(),
            machine: self.user_space.add_to(self.machine.request()),
        })
    }

    /// What is walked.
    fn axis(&self) -> Result<AxisRequest> {
        if let Some(mail) = &self.series {
            let Some(Locator::Git { tree, revision }) = self.base.clone() else {
                let text = "--base: name the commit that the patches apply to: git:TREE@REVISION";
                return Err(WrongUsage(text.to_string()).into());
            };
            return Ok(AxisRequest::Series { mail: mbox(mail)?, tree, revision });
        }
        let range = Range::read(self.range.as_deref().unwrap_or_default())?;
        self.fits(&range)?;
        Ok(match range {
            Range::Packages(first, last) => AxisRequest::Packages { first, last },
            Range::Commits { tree, first, last } => {
                let (paths, first_parent) = (self.path.clone(), self.first_parent);
                AxisRequest::Commits { tree, first, last, paths, first_parent }
            }
            Range::One(kernel) => self.settings(kernel)?,
        })
    }

    /// One kernel with several parameters or options.
    fn settings(&self, kernel: Locator) -> Result<AxisRequest> {
        if let [first, second] = self.params.as_slice() {
            let Ends { first, last } = Ends::named(first, second)?.in_order(self.fixed);
            return Ok(AxisRequest::Parameters { kernel, first: first.to_string(), last: last.to_string() });
        }
        if self.config_good.is_empty() {
            let text = format!(
                "{kernel} is one kernel: name two ends (deb:FIRST..deb:LAST, git:TREE@FIRST..LAST), or what differs \
                 (--params, --config-good and --config-bad, --series)"
            );
            return Err(WrongUsage(text).into());
        }
        let ends = Ends { first: &self.config_good, last: &self.config_bad }.in_order(self.fixed);
        Ok(AxisRequest::Options { kernel, first: ends.first.clone(), last: ends.last.clone() })
    }

    /// Whether what was said about the axis fits to the ends.
    fn fits(&self, range: &Range) -> Result<()> {
        let needs_one = !self.params.is_empty() || !self.config_good.is_empty();
        let is_one = matches!(range, Range::One(_));
        let wrong = match (range, needs_one) {
            (Range::Packages(..) | Range::Commits { .. }, true) => {
                Some("--params and --config-good take one kernel, not two ends")
            }
            _ if (!self.path.is_empty() || self.first_parent) && !matches!(range, Range::Commits { .. }) => {
                Some("--path and --first-parent need commits: git:TREE@FIRST..LAST")
            }
            _ => None,
        };
        let packages = matches!(range, Range::Packages(..));
        let idle = self
            .build
            .request()
            .first()
            .filter(|option| packages || is_one && !self.config_good.is_empty() && *option == "--config");
        if let Some(option) = idle {
            return Err(WrongUsage(format!("{option}: nothing is built here")).into());
        }
        wrong.map_or(Ok(()), |text| Err(WrongUsage(text.to_string()).into()))
    }

    /// What is asked of each kernel.
    fn question(&self, cases: Option<&Selection>) -> Result<Question> {
        if let Some(name) = &self.exp {
            let experiment = chosen(name, self.short)?;
            let Some(name) = self.metric.clone() else { return Ok(Question::Experiment(experiment)) };
            let (unit, worse_by) = (experiment.unit(&name)?, self.worse_by);
            return Ok(Question::Recorded(RecordedMetric { experiment, name, unit, worse_by }));
        }
        if let Some(name) = &self.metric {
            let (name, worse_by, timed) = (name.clone(), self.worse_by, self.timed);
            return Ok(Question::Metric { name, worse_by, timed });
        }
        if let Some(text) = &self.log {
            return Ok(Question::Log(text.clone()));
        }
        if self.builds {
            return Ok(Question::Build);
        }
        if self.boot {
            return Ok(Question::Boot);
        }
        Ok(match cases {
            Some(Selection::Program(program)) => {
                Question::Program(program.path.file_name().unwrap_or_default().to_string_lossy().into_owned())
            }
            _ => Question::Case(self.case.clone().unwrap_or_default()),
        })
    }

    /// What runs there.
    fn cases(&self) -> Option<Selection> {
        let program = self.exec.as_ref().map(|path| {
            let (arguments, needs) = (self.arguments.clone(), self.need.clone());
            Selection::Program(ProgramRequest { path: path.clone(), arguments, needs })
        });
        let suite =
            |case: &String| Selection::Suite { suite: self.suite.clone(), patterns: vec![case.clone()] };
        program.or_else(|| self.case.as_ref().map(suite))
    }
}

/// Both ends; before they are put in order, the good one is the first.
#[derive(Debug, PartialEq, Eq)]
struct Ends<T> {
    first: T,
    last: T,
}

impl<T> Ends<T> {
    /// The bad end is the first one where the change that fixed it is looked for.
    fn in_order(self, fixed: bool) -> Self {
        if fixed { Self { first: self.last, last: self.first } } else { self }
    }
}

impl<'t> Ends<&'t str> {
    /// The good parameters and the bad ones: they may be called by name, else the good ones come first.
    fn named(first: &'t str, second: &'t str) -> Result<Self> {
        let good = |text: &'t str| text.trim_start().strip_prefix("good:");
        let bad = |text: &'t str| text.trim_start().strip_prefix("bad:");
        Ok(match (good(first), bad(first), good(second), bad(second)) {
            (_, Some(bad), Some(good), _) => Self { first: good, last: bad },
            (_, Some(_), _, _) | (_, _, Some(_), _) => {
                let text = format!("--params {first:?} {second:?}: name a good end and a bad one");
                return Err(WrongUsage(text).into());
            }
            (good, _, _, bad) => Self { first: good.unwrap_or(first), last: bad.unwrap_or(second) },
        })
    }
}

/// The patches as a file: those that a message id names are fetched, and kept under what they are, so that a search can go on.
fn mbox(mail: &Path) -> Result<PathBuf> {
    let is_id =
        |text: &&str| !mail.exists() && text.contains('@') && (text.contains("://") || !text.contains('/'));
    let id = mail.to_str().filter(is_id);
    let Some(id) = id else { return Ok(mail.to_owned()) };
    let source = Source { source: Some(id.to_owned()), ..Source::default() };
    let threads = source.threads()?;
    let content = written(&source.whole(&threads, &series::series(&threads))?)?;
    let folder = Store::default_dir().join("series");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let file = folder.join(format!("{}.mbx", hash(&content)));
    host::write_atomically(&file, &content).with_context(|| file.display().to_string())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_may_be_called_by_name() {
        let named = |first, second, fixed| {
            let Ends { first, last } = Ends::named(first, second).unwrap().in_order(fixed);
            (first, last)
        };
        assert_eq!(named("good: a", "bad: b", false), (" a", " b"));
        assert_eq!(named("bad: b", "good: a", false), (" a", " b"));
        assert_eq!(named("a", "b", false), ("a", "b"));
        assert_eq!(named("good: a", "b", false), (" a", "b"));
        assert_eq!(named("good: a", "bad: b", true), (" b", " a"));
        for (first, second) in
            [("bad: a", "bad: b"), ("good: a", "good: b"), ("bad: a", "b"), ("a", "good: b")]
        {
            assert!(Ends::named(first, second).is_err(), "{first} {second}");
        }
    }

    #[test]
    fn a_request_is_read_back_as_it_was_written() {
        use crate::cli::{Cli, Verb};
        use clap::Parser;
        for line in [
            "bisect deb:6.1.0-47-cloud..deb:6.1.0-56-cloud --case fs/overlay-rename --any-failure --jobs 2",
            "bisect git:~/linux@v6.11..v6.12 --path fs/ext4 --first-parent --metric fs/open --timed --worse-by 2%",
            "bisect --series a.mbox --base git:linux@HEAD --build --make KCFLAGS=-Werror --fixed",
            "bisect host --params good:quiet 'bad:preempt=full' --log WARNING --case-timeout 5s --confidence 90%",
            "bisect deb:6.1.0-47-cloud..deb:6.1.0-56-cloud --instrument 'latency --duration 5s p99 > 200us' --fixed",
            "bisect deb:latest --params good: bad:quiet --exp ../../experiments/dock --short --cpus 2",
            "bisect ./linux --config-good tiny --config-bad tiny,debug --exec ./it --need 'module loop' --fresh -- -x",
        ] {
            let words = std::iter::once("kiln".to_string()).chain(shlex::split(line).unwrap());
            let Verb::Bisect(args) = Cli::try_parse_from(words).unwrap().verb else { panic!("a bisection") };
            let request = args.request().unwrap();
            let kept = serde_json::to_string(&request).unwrap();
            assert_eq!(serde_json::from_str::<BisectRequest>(&kept).unwrap(), request, "{kept}");
        }
    }
}
