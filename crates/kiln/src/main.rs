//! kiln: a laboratory for the Linux kernel.
//!
//! * [`cli`]: what can be said
//! * [`requests`]: from there to what is asked
//! * [`run`], [`build`], [`kunit`], [`replay`], [`bundle`], [`bisect`](mod@bisect), [`compare`], [`measure`], [`mod@latency`], [`mod@count`], [`mod@sample`], [`mod@probe`], [`mod@hazard`], [`mod@steal`], [`mod@stress`], [`race`], [`exp`], [`mod@check`], [`mod@findings`], [`mod@results`], [`export`], [`import`], [`mod@problems`], [`mod@mail`], [`mod@series`], [`mod@trace`], [`mod@observe`], [`mod@trend`], [`mod@matrix`], [`mod@watch`], [`mod@top`], [`slurm_job`], [`cases`], [`kernels`], [`mod@store`], [`shell`], [`doctor`], [`manual`]: a file for each verb
//! * [`old_sessions`]: requests of sessions that kept none
//! * [`mod@instruments`]: on this host or in a machine
//! * [`figures`]: what measuring and comparing share
//! * [`find`]: Kernels, while the user looks on; [`input`]: what is piped into a command; [`output`]: where a session is shown and kept; [`report_file`]: files with reports
//! * [`mod@page`]: reports of all that is kept; [`mod@post`]: on a writing platform
//! * [`shell_words`]: calls of kiln, to be pasted
//! * [`failure`]: from what went wrong to a message and an exit code

mod bisect;
mod build;
mod bundle;
mod cases;
mod check;
mod cli;
mod compare;
mod count;
mod doctor;
mod exp;
mod export;
mod failure;
mod figures;
mod find;
mod findings;
mod hazard;
mod import;
mod input;
mod instruments;
mod kernels;
mod kunit;
mod latency;
mod listeners;
mod load;
mod mail;
mod manual;
mod matrix;
mod measure;
mod observe;
mod old_sessions;
mod order;
mod output;
mod page;
mod post;
mod probe;
mod problems;
mod publish;
mod race;
mod replay;
mod report_file;
mod requests;
mod results;
mod run;
mod run_on_slurm;
mod sample;
mod series;
mod serve;
mod shell;
mod shell_words;
mod signals;
mod slurm_job;
mod steal;
mod store;
mod stress;
mod terminal;
mod top;
mod trace;
mod trend;
mod units;
mod watch;
mod workload;

use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Verb};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let color = cli.color.is_wanted();
    let code = match &cli.verb {
        Verb::Run(args) => run::run(args, color),
        Verb::Build(args) => build::build(args),
        Verb::Kunit(args) => kunit::kunit(args, color),
        Verb::Replay(args) => replay::replay(args, color),
        Verb::Results(args) => results::results(args, color),
        Verb::Show(args) => results::show(args, color),
        Verb::Export(args) => export::export(args),
        Verb::Import(args) => import::import(args),
        Verb::Problems(args) => problems::problems(args, color),
        Verb::Bundle(args) => bundle::bundle(args),
        Verb::Bisect(args) => bisect::bisect(args, color),
        Verb::Compare(args) => compare::compare(args, color),
        Verb::Measure(args) => measure::measure(args, color),
        Verb::Latency(args) => latency::latency(args),
        Verb::Count(args) => count::count(args),
        Verb::Sample(args) => sample::sample(args),
        Verb::Probe(args) => probe::probe(args),
        Verb::Hazard(args) => hazard::hazard(args),
        Verb::Steal(args) => steal::steal(args),
        Verb::Stress(args) => stress::stress(args),
        Verb::Race(args) => race::race(args),
        Verb::Trace(args) => trace::trace(args, color),
        Verb::Observe(args) => observe::observe(args),
        Verb::Matrix(args) => matrix::matrix(args, color),
        Verb::Watch(args) => watch::watch(args),
        Verb::Trend(args) => trend::trend(args, color),
        Verb::Exp(args) => exp::exp(args, color),
        Verb::Check(args) => check::check(args, color),
        Verb::Report(args) => page::report(args),
        Verb::Serve(args) => serve::serve(args),
        Verb::Top(args) => top::top(args, color),
        Verb::Findings(args) => findings::findings(args),
        Verb::B4Check(args) => check::b4_check(args),
        Verb::Mail(args) => mail::mail(args),
        Verb::Series(args) => series::series(args, color),
        Verb::Cases(args) => cases::cases(args),
        Verb::Kernels(args) => kernels::kernels(args, color),
        Verb::Store(args) => store::store(args, color),
        Verb::Shell(args) => shell::shell(args),
        Verb::Doctor(args) => doctor::doctor(args),
        Verb::SlurmJob { script } => slurm_job::slurm_job(script),
        Verb::Completions { shell } => manual::completions(*shell),
        Verb::Manual { directory } => manual::manual(directory),
    };
    code.map_or_else(|error| failure::report(&error), ExitCode::from)
}
