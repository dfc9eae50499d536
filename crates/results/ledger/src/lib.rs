//! Where Runs are kept: a folder for each session, and a file that knows the Runs of all.
//!
//! ```text
//! 2026-11-20T10-07-31Z-4711/
//!     session.json        what was run, and the counts once it has ended
//!     events.jsonl        everything that was reported, but for the console
//!     console.log         the console of all boots
//!     kernel.log          the kernel log of all Runs, with the case that ran
//!     qemu.sh             the command line of every boot
//!     boot.json           the Run of a boot that went badly
//!     cases/pipe/full.json
//!     cases/pipe/full.console     what the console said in the case's clones
//!     cases/pipe/full.7.json      a case that was run more than once: its Run in clone 7
//! ```
//!
//! of an experiment also
//!
//! ```text
//!     journal.jsonl       every step, so that a run that came to no conclusion goes on from there
//!     result.json         what was concluded, with all figures
//!     roots.json          the roots that machines had
//!     experiment/dock/    the folder of the experiment as it was
//!     0-frames.pcapng     files that the script keeps
//! ```
//!
//! and a folder for each measurement and each comparison:
//!
//! ```text
//! 2026-11-20T10-07-31Z-4711/
//!     request.json        what was asked
//!     measurement.json    the figures of one kernel, or
//!     comparison.json     what was concluded, with base.json, new-1.json ... and report.html
//!     journal.jsonl       the samples of an experiment that is compared; `.unfinished-` until there are enough
//!     runs/               its runs, each as below
//! ```
//!
//! and a folder for each bisection:
//!
//! ```text
//! 4f1c9a0e6b7d2c35/
//!     request.json        what was asked
//!     journal.jsonl       every answer, so that the same command goes on from there
//!     underway.json       how far it is, for whoever looks on
//!     bisection.json      what was concluded, with report.html and mail.txt
//!     runs/dock-3f06a7b1c2d49e85/     a run of the experiment that is asked, `.unfinished-` until it has concluded something:
//!                                     journal.jsonl, result.json, roots.json and files as in a session
//! ```
//!
//! and a folder for each recording of this host:
//!
//! ```text
//! 2026-11-20T10-07-31Z-4711/
//!     request.json        what was asked
//!     trace/              what the kernel did, in the Common Trace Format
//!     summary.json        how many events, how many of them lost, and on which kernel
//! ```
//!
//! and a folder for each check of patches:
//!
//! ```text
//! 2026-11-20T10-07-31Z-4711/
//!     request.json        what was asked
//!     patches.mbx         the patches, for git am
//!     check.json          what was found, with report.html, and mail.txt, the answer to the series
//! ```
//!
//! What shows failures stays for longer than these folders, in `artefacts`: [`Evidence`].
//!
//! A session of another host is a folder like any other once it is imported, and says whose it is.
//!
//! Beside the folders of the sessions, `ledger.sqlite` knows their Runs, also of those that are gone, `durations.json` says how
//! long each case took lately and `sizes.json` what each session takes. Sessions, measurements, bisections and checks are each kept within a [`Budget`]. Every document is complete
//! or not there; what has been written stays when kiln is killed.

mod artefacts;
mod budget;
mod carried_out;
mod database;
mod document;
mod durations;
mod events;
mod evidence;
mod experiments;
mod export;
mod figures;
mod files;
mod following;
mod import;
mod journal;
mod kept_session;
mod lock;
mod looks;
mod measurements;
mod past;
mod problem;
mod recall;
mod recorder;
mod result;
mod resume;
mod unfinished;
mod wanted;

pub use budget::{Budget, Hold, Usage};
pub use carried_out::{KeptRun, carry_out};
pub use database::{
    Error as LedgerError, Found as FoundRuns, KeyedKernel, KnownRun, Ledger, RunsQuery, SessionKey, Tallied,
    Tally, named,
};
pub use durations::Durations;
pub use evidence::{Evidence, Usage as EvidenceUsage};
pub use experiments::{ExperimentFolder, Found, found, kept_runs};
pub use figures::{
    CHECK, COMPARISON, Figures, MEASUREMENT, PAGE, REQUEST, checks_root, documents, figures_root,
    folder_named, folders, measurement, side, traces_root,
};
pub use following::Following;
pub use import::{Error as ImportError, Imported, import, origin};
pub use journal::{Journal, bisections_root};
pub use kept_session::{KeptSession, Place, Progress, run_session};
pub use looks::{Looks, modified};
pub use measurements::{KeptMeasurement, MeasurementsQuery, measurements, measurements_in};
pub use past::{Error as PastError, Past, sessions};
pub use problem::{Closing, OnKernel, Problem, Sighting, Source};
pub use recall::{Error as RecallError, Recalled, recall, shows};
pub use recorder::{Error, Recorder, default_root, folder};
pub use result::ExperimentResult;
pub use resume::{Resumed, resume};
pub use wanted::{Wanted, find, session, short_name};
