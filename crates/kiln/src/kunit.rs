//! `kiln kunit`: the kernel's own unit tests, as cases.

use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use kernel::Store;
use lab::decode::Decoding;
use lab::source::{Heard, HostedSource, Source, Up};
use lab::{Plan, kunit};
use machine::BootFailure;

use crate::cli::{ArchName, BuildOptions, Kunit};
use crate::failure::INTERRUPTED;
use crate::find::find;
use crate::terminal::Progress;
use crate::{session, signals};

/// Boots a kernel with built-in KUnit tests and gives the exit code.
pub(crate) fn kunit(said: &Kunit, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let kernel = find(&said.kernel, &said.building(), &interrupt)?;
    let engine = said.machine.engine(&kernel)?;
    let plan = Plan::nothing("kunit", said.machine.fixed(engine, None)?);
    let mut spec = said.machine.spec(&plan, engine);
    // A test that an oops ends would leave KUnit waiting for it.
    spec.append = ["oops=panic", &said.filter(), &spec.append].join(" ");
    // All tests run before the agent can say hello.
    spec.boot_limit = said.machine.timeout.unwrap_or(spec.boot_limit * TESTS_FACTOR);
    let store = Store::new(Store::default_dir());
    let source = Watched { source: HostedSource::new(&spec, &kernel, store, false)? };
    let session = session::begin(&said.kernel, &kernel, std::slice::from_ref(&spec), "kunit", Vec::new());
    let session = session::again(session, said.again.as_ref())?;
    let mut listeners = session::listeners(&session, said.results.as_deref(), said.format, color)?;
    let mut decoding = Decoding::of(&kernel, &mut listeners);
    let outcome = kunit::run(&source, &mut decoding, &interrupt, (session, &said.suite));
    let recorded = listeners.finish();
    let summary = outcome?;
    recorded?;
    if interrupt.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    Ok(summary.exit_code())
}

/// Shows the console while the tests run: their results are told when all have ended.
struct Watched<'a> {
    source: HostedSource<'a>,
}

impl Source for Watched<'_> {
    fn boot(
        &self,
        interrupt: &AtomicBool,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<Result<Up, BootFailure>, machine::Error> {
        let mut progress = Progress::new();
        self.source.boot(interrupt, &mut |what| {
            if let Heard::Console(line) = what {
                progress.show(&report::safe(console::message(line)));
            }
            heard(what);
        })
    }
}

/// How much longer a boot with tests may take than one without.
const TESTS_FACTOR: u32 = 20;

impl Kunit {
    /// Source is built as User-Mode Linux and with KUnit, unless something else was said.
    fn building(&self) -> BuildOptions {
        let is_tree = || self.kernel.path().is_some_and(|path| path.join("Kconfig").is_file());
        let mut build = self.build.clone();
        if (self.kernel.is_source() || is_tree()) && build.config.is_empty() {
            build.config.push("kunit".to_owned());
        }
        build.arch.get_or_insert(ArchName::Um);
        build
    }

    /// The kernel can leave out what does not match one pattern; of several it runs all.
    fn filter(&self) -> String {
        match self.suite.as_slice() {
            [suite] => format!("kunit.filter_glob={suite}"),
            _ => String::new(),
        }
    }
}
