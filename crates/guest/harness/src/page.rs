//! The results page from inside a process.

use std::sync::OnceLock;

use protocol::ReportKind;
use protocol::results::{DESCRIPTOR_VARIABLE, PAGE_SIZE, PATH_VARIABLE, Page};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

static PAGE: OnceLock<&'static Page> = OnceLock::new();

/// Maps the file behind `file`, which must have [`PAGE_SIZE`] bytes, for the rest of the process.
///
/// # Errors
///
/// When the kernel refuses the mapping.
pub fn map(file: impl AsFd) -> Result<&'static Page, Errno> {
    // SAFETY: a new shared mapping at an address that the kernel chooses; it is never unmapped.
    let memory = unsafe {
        rustix::mm::mmap(
            std::ptr::null_mut(),
            PAGE_SIZE,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            file,
            0,
        )?
    };
    // SAFETY: PAGE_SIZE bytes were just mapped, for ever.
    Ok(unsafe { Page::at(memory.cast()) })
}

/// From now on this process and its children report to `page`.
pub fn adopt(page: &'static Page) {
    PAGE.get_or_init(|| page);
}

/// The page that was adopted.
pub(crate) fn adopted() -> Option<&'static Page> {
    PAGE.get().copied()
}

/// Adopts the page that the environment names.
///
/// # Errors
///
/// When there is none or it is no results page.
pub fn adopt_from_environment() -> Result<(), String> {
    let page = open_named().or_else(open_inherited).ok_or_else(|| {
        format!("no results page: {PATH_VARIABLE} and {DESCRIPTOR_VARIABLE} name none; is this a kiln case?")
    })?;
    adopt(page);
    Ok(())
}

fn open_named() -> Option<&'static Page> {
    let path = std::env::var_os(PATH_VARIABLE)?;
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
    checked(file)
}

fn open_inherited() -> Option<&'static Page> {
    let number: i32 = std::env::var(DESCRIPTOR_VARIABLE).ok()?.parse().ok().filter(|&n| n > 2)?;
    // SAFETY: only borrowed for the mapping; a wrong number gives EBADF.
    checked(unsafe { BorrowedFd::borrow_raw(number) })
}

fn checked(file: impl AsFd) -> Option<&'static Page> {
    let size = rustix::fs::fstat(&file).ok()?.st_size;
    // Reading beyond the end of the file would kill the reporter with SIGBUS.
    (u64::try_from(size).ok()? >= PAGE_SIZE as u64).then(|| map(file).ok())?.filter(|page| page.is_prepared())
}

/// Reports to the adopted page; does nothing where there is none.
pub fn report(kind: ReportKind, text: &str) {
    if let Some(page) = adopted() {
        page.report(kind, text);
    }
}

/// `kiln-report KIND [TEXT]`: reports from a shell script or a program in any language.
///
/// # Errors
///
/// What was wrong with the arguments or the page.
pub fn report_command(arguments: &[String]) -> Result<(), String> {
    const USAGE: &str = "usage: kiln-report pass|fail|skip|broken [TEXT]";
    let (kind, text) = arguments.split_first().ok_or(USAGE)?;
    let kind = match kind.as_str() {
        "pass" => ReportKind::Pass,
        "fail" => ReportKind::Fail,
        "skip" => ReportKind::Skip,
        "broken" => ReportKind::Broken,
        _ => return Err(USAGE.to_string()),
    };
    adopt_from_environment()?;
    report(kind, &text.join(" "));
    Ok(())
}
