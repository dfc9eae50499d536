//! From what went wrong to a message and an exit code.

use std::process::ExitCode;

use judge::exit::{BROKEN, INTERRUPTED};
use lab::prepare;

/// The kernel is at fault.
pub(crate) const FAULT: u8 = 1;
/// Wrong usage.
pub(crate) const USAGE: u8 = 2;

/// The user asked for something that cannot be.
#[derive(Debug)]
pub(crate) struct WrongUsage(pub(crate) String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

/// Says on standard error what went wrong and gives the exit code for it.
#[expect(clippy::print_stderr, reason = "this is the command line")]
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    eprintln!("{}", message(error));
    ExitCode::from(code(error))
}

/// Says on standard error what is worth knowing and ends nothing.
#[expect(clippy::print_stderr, reason = "this is the command line")]
pub(crate) fn complain(text: &str) {
    eprintln!("kiln: {}", report::safe(text));
}

/// What went wrong, without anything that a terminal obeys: compilers, packages and guests have a say in it.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    let text = causes.fold("kiln".to_string(), |text, cause| {
        // Many an error says its cause itself.
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    });
    report::safe(&text)
}

fn code(error: &anyhow::Error) -> u8 {
    let is_interrupt = error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(prepare::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(compare::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(bisect::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(check::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(kbuild::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(history::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(archive::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(attestation::Error::is_interrupt)
            || cause.downcast_ref().is_some_and(kernel::Error::is_interrupt)
    });
    if is_interrupt {
        return INTERRUPTED;
    }
    let accuses_kernel = error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(prepare::Error::accuses_kernel)
            || cause.downcast_ref().is_some_and(compare::Error::accuses_kernel)
            || cause.downcast_ref().is_some_and(bisect::Error::accuses_kernel)
            || cause.downcast_ref().is_some_and(kbuild::Error::accuses_kernel)
    });
    if accuses_kernel {
        return FAULT;
    }
    if matches!(error.downcast_ref(), Some(lab::suites::Error::Interrupted)) {
        return INTERRUPTED;
    }
    if is_usage(error) { USAGE } else { BROKEN }
}

/// Whether the user asked for something that cannot be.
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<WrongUsage>()
            || cause.is::<clap::Error>()
            || cause.downcast_ref::<compare::Error>().is_some_and(compare::Error::is_usage)
            || cause.downcast_ref::<bisect::Error>().is_some_and(bisect::Error::is_usage)
            || cause.downcast_ref::<matrix::Error>().is_some_and(matrix::Error::is_usage)
            || cause.downcast_ref::<watch::Error>().is_some_and(watch::Error::is_usage)
            || cause.downcast_ref::<check::Error>().is_some_and(check::Error::is_usage)
            || cause.downcast_ref::<outbox::Error>().is_some_and(outbox::Error::is_usage)
            || cause.downcast_ref::<post::Error>().is_some_and(post::Error::is_usage)
            || cause.downcast_ref::<prepare::Error>().is_some_and(prepare::Error::is_usage)
            || cause.downcast_ref::<lab::suites::Error>().is_some_and(lab::suites::Error::is_usage)
            || cause.downcast_ref::<kbuild::Error>().is_some_and(kbuild::Error::is_usage)
            || cause.downcast_ref::<history::Error>().is_some_and(history::Error::is_usage)
            || cause.downcast_ref::<series::Error>().is_some_and(series::Error::is_usage)
            || cause.downcast_ref::<archive::Error>().is_some_and(archive::Error::is_usage)
            || cause.downcast_ref::<attestation::Error>().is_some_and(attestation::Error::is_usage)
            || cause.downcast_ref::<kernel::Error>().is_some_and(kernel::Error::is_usage)
            || cause.downcast_ref::<machine::Error>().is_some_and(machine::Error::is_usage)
            || cause.downcast_ref::<ledger::PastError>().is_some_and(ledger::PastError::is_usage)
            || cause.downcast_ref::<ledger::LedgerError>().is_some_and(ledger::LedgerError::is_usage)
            || cause.downcast_ref::<ledger::ImportError>().is_some_and(ledger::ImportError::is_usage)
            || cause.downcast_ref::<ledger::RecallError>().is_some_and(ledger::RecallError::is_usage)
            || cause.downcast_ref::<lab::bundle::Error>().is_some_and(lab::bundle::Error::is_usage)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_into_an_error_moves_no_cursor() {
        let error = anyhow::anyhow!("main.c:1: \x1b[2J\x07error").context("the build failed");
        assert_eq!(message(&error), "kiln: the build failed: main.c:1: ␇error");
    }

    #[test]
    fn a_cause_is_said_once() {
        let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let cause = kernel::Error::Unreadable { path: "/x".into(), source };
        let error = anyhow::Error::from(cause).context("the kernel");
        assert_eq!(message(&error).matches("permission denied").count(), 1, "{}", message(&error));
        assert!(message(&error).starts_with("kiln: the kernel: /x: "));
    }

    #[test]
    fn the_users_mistakes_are_told_from_the_hosts() {
        assert_eq!(code(&WrongUsage("x".into()).into()), USAGE);
        let unknown = lab::suites::select::UnknownCase::Suite("x".into());
        assert_eq!(code(&lab::suites::Error::from(unknown).into()), USAGE);
        assert_eq!(code(&lab::suites::Error::NoProgram { program: "make" }.into()), BROKEN);
        assert_eq!(code(&machine::Error::NoQemu("x".into()).into()), BROKEN);
        assert_eq!(code(&machine::Error::SmallMemory { asked: 1, needed: 2 }.into()), USAGE);
    }
}
