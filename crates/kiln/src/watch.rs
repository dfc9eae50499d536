//! `kiln watch`: new kernels are tested as they arrive, and what changed is told.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use ::watch::{Source, Tested, Watch, WatchRequest};
use anyhow::{Context, Result};
use judge::exit::{BROKEN, INTERRUPTED};
use kernel::files::hash;
use lab::HostBackend;
use lab::request::words::{Words, call};
use ledger::{Place, Progress};
use matrix::MatrixRequest;
use outbox::{Settings, hook};
use report::watch::Told;

use crate::cli::WatchVerb;
use crate::failure::{FAULT, WrongUsage, complain, message};
use crate::find::in_context;
use crate::listeners::print;
use crate::{mail, report_file, signals, terminal};

/// Digits of the name of what is watched.
const NAME: usize = 16;

/// How many times longer kiln waits at most where it fails again and again.
const BACKOFF_MAX: u32 = 64;

/// Watches, and gives the exit code.
pub(crate) fn watch(args: &WatchVerb) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let sources = args.sources.iter().map(|text| Source::new(text, &args.each.flavour));
    let request = WatchRequest { sources: sources.collect::<Result<_, _>>()?, tests: args.tests()? };
    args.check_sender(&interrupt)?;
    let folder = host::state_folder().join("watches").join(&request.identity(&root)[..NAME]);
    let place = Place { backend: &HostBackend, sessions: &root, interrupt: &interrupt };
    let mut watch = Watch::new(&request, place, &folder)?;
    let mut teller =
        Teller { args, folder: &folder, sessions: &root, interrupt: &interrupt, is_worse: false };
    let mut backoff = 1;
    loop {
        let Some(left) = look(&mut watch, &mut teller)? else { return Ok(INTERRUPTED) };
        if !args.mail.is_empty() {
            mail::send_waiting();
        }
        if args.once {
            return Ok(match left {
                _ if teller.is_worse => FAULT,
                0 => 0,
                _ => BROKEN,
            });
        }
        backoff = if left == 0 { 1 } else { (backoff * 2).min(BACKOFF_MAX) };
        if !signals::pause(args.every * backoff, &interrupt) {
            return Ok(INTERRUPTED);
        }
    }
}

/// Looks once, and gives what is left to be tried again; nothing if the user wants to stop.
fn look(watch: &mut Watch<'_>, teller: &mut Teller<'_>) -> Result<Option<usize>> {
    let line = RefCell::new(terminal::Progress::new());
    let mut emit = |progress| match progress {
        Progress::Working(text) => line.borrow_mut().show(&text),
        // The line about the kernel says it.
        Progress::Known(_) => {}
        Progress::Note(text) => {
            // What fails once more after it went well is said once more.
            line.borrow_mut().clear();
            complain(&text);
        }
    };
    let done = watch.look(&mut emit, &mut |tested| {
        line.borrow_mut().clear();
        teller.tell(tested)
    });
    match done {
        Err(error) if error.is_interrupt() => Ok(None),
        done => Ok(Some(done?)),
    }
}

impl WatchVerb {
    /// What is tested on each kernel. A flavour says which kernels are watched, with a plan, too.
    fn tests(&self) -> Result<Vec<MatrixRequest>> {
        match &self.plan {
            Some(path) => self.each.planned(path, Some(&[])),
            None => Ok(vec![self.each.request(Vec::new())]),
        }
    }

    /// Without a sender nothing can be mailed, which should not be found out after hours of tests.
    fn check_sender(&self, interrupt: &AtomicBool) -> Result<()> {
        if self.mail.is_empty() {
            return Ok(());
        }
        let settings = in_context(interrupt, Settings::read)?;
        let none = || WrongUsage("--mail: git has no user.email or sendemail.from to send from".to_owned());
        settings.sender.map(drop).ok_or_else(|| none().into())
    }
}

/// Tells what changed in all the ways that the user wants.
struct Teller<'a> {
    args: &'a WatchVerb,
    folder: &'a Path,
    sessions: &'a Path,
    interrupt: &'a AtomicBool,
    is_worse: bool,
}

impl Teller<'_> {
    fn tell(&mut self, tested: Tested<'_>) -> Result<(), String> {
        let Tested { arrival, differences, was_there } = tested;
        let command = call(&self.command(&tested));
        let told = Told { arrival, differences, command: &command, sessions: self.sessions };
        if !was_there && (told.is_news() || self.args.always) {
            self.everybody(&told)?;
        }
        self.is_worse |= told.is_worse();
        // A reader that has gone away is no reason to stop.
        let _ = print(&format!("{}\n", told.line()));
        Ok(())
    }

    /// Stops at the first way that fails. The next time the ways before it are taken again, but a mail is sent once.
    fn everybody(&self, told: &Told<'_>) -> Result<(), String> {
        for address in &self.args.mail {
            self.mail(told, address).map_err(|error| message(&error))?;
        }
        if let Some(line) = &self.args.run {
            let mut text = Vec::new();
            told.text(&mut text).map_err(|error| error.to_string())?;
            hook::run(line, &text, self.interrupt).map_err(|why| format!("--run: {why}"))?;
        }
        if let Some(link) = &self.args.webhook {
            let mut json = Vec::new();
            told.json(&mut json).map_err(|error| error.to_string())?;
            hook::post(link, &json, &hash(&json)[..NAME]).map_err(|why| format!("--webhook: {why}"))?;
        }
        Ok(())
    }

    /// A mail that cannot be sent now stays in the outbox, and is no reason to tell it again.
    fn mail(&self, told: &Told<'_>, address: &str) -> Result<()> {
        let path = self.folder.join("mail.txt");
        report_file::write(&path, |out| told.mail(address, out))?;
        match mail::send(&[path], &mut |_| Ok(())) {
            Ok(true) => {}
            Ok(false) => complain("not all mail was sent: `kiln mail` shows why"),
            // Another kiln sends: what is queued goes next time.
            Err(error) if matches!(error.downcast_ref(), Some(outbox::Error::Busy { .. })) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The call that shows the kernel beside the one before it.
    fn command(&self, tested: &Tested<'_>) -> Vec<String> {
        let results = self.args.results.as_ref().map(|root| root.display().to_string());
        if self.args.plan.is_some() {
            let mut words = Words::of("results");
            words.option("--kernel", &tested.arrival.kernel);
            words.each("--results", results);
            return words.finish();
        }
        let before = tested.differences.iter().find_map(|difference| difference.before.as_ref());
        let each = &self.args.each;
        let MatrixRequest { build, machine, .. } = each.request(Vec::new());
        let mut words = Words::of("matrix");
        before.iter().for_each(|column| words.about(&column.kernel));
        words.about(&tested.arrival.kernel);
        words.each("--suite", &each.suite);
        words.each("--case", &each.case);
        words.build(&build);
        words.machine(&machine);
        words.each("--results", results);
        words.flag("--show", true);
        let parameters = if each.params == [""] { Vec::new() } else { each.params.clone() };
        let first = (!parameters.is_empty()).then(|| "--params".to_owned());
        words.finish().into_iter().chain(first).chain(parameters).collect()
    }
}
