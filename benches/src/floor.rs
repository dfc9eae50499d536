//! The same machine with an initramfs that powers off at once.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use machine::initramfs::Archive;
use tempfile::TempDir;

use crate::compiler::compile;
use crate::kiln::Plan;

const SOURCE: &str = include_str!("floor.c");

/// What the kernel says when it powers off.
const LAST_WORDS: &str = "reboot: Power down";

/// The floor, ready to run.
pub(crate) struct Floor {
    directory: TempDir,
    command: String,
}

impl Floor {
    /// Compiles process 1, packs it, and takes over kiln's command line.
    pub(crate) fn new(plan: &Plan) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let init = compile(directory.path(), "init", SOURCE, &[])?;
        let mut archive = Archive::default();
        archive.file("/init", std::fs::read(init)?, 0o755);
        let initramfs = directory.path().join("initramfs");
        std::fs::write(&initramfs, archive.finish())?;
        let command = take_over(&plan.command, &initramfs.display().to_string())?;
        Ok(Self { directory, command })
    }

    /// Boots once and looks whether the kernel powered off: a machine that died early is fast, too.
    pub(crate) fn check(&self) -> Result<()> {
        let console = self.directory.path().join("console");
        let watched = format!("file,id=console,path={}", console.display());
        start(&self.command.replace("null,id=console", &watched))?;
        let text = std::fs::read(&console)?;
        let text = String::from_utf8_lossy(&text);
        ensure!(text.contains(LAST_WORDS), "the floor did not power off:\n{text}");
        Ok(())
    }

    /// Boots until QEMU has ended.
    pub(crate) fn run(&self) -> Result<()> {
        start(&self.command)
    }
}

/// kiln's command line with the floor's initramfs. Console, control and monitor are there as they are with
/// kiln, but nobody listens, and memory is QEMU's own, which makes the floor lower rather than higher.
fn take_over(command: &str, initramfs: &str) -> Result<String> {
    let mut command = command
        .replace("-initrd /proc/self/fd/3", &format!("-initrd {initramfs}"))
        .replace("memory-backend-file,id=memory", "memory-backend-ram,id=memory")
        .replace(",mem-path=/proc/self/fd/9,share=on", "");
    for (name, descriptor) in [("console", 4), ("control", 5), ("qmp", 6)] {
        for socket in
            [format!("socket,fd={descriptor},id={name}"), format!("socket,id={name},fd={descriptor}")]
        {
            command = command.replace(&socket, &format!("null,id={name}"));
        }
    }
    ensure!(
        !command.contains("fd=") && !command.contains("/fd/"),
        "kiln's command line has another form: {command}"
    );
    ensure!(command.contains(initramfs), "kiln's command line names no initramfs: {command}");
    Ok(command)
}

/// Runs a command line as a shell reads it, without the shell staying.
fn start(command: &str) -> Result<()> {
    let status = Command::new("sh").args(["-c", &format!("exec {command}")]).stdin(Stdio::null()).status();
    let status = status.context("sh")?;
    ensure!(status.success(), "QEMU ended with {status}: {command}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_kiln_is_left_on_the_command_line() {
        let socket = |name, number| format!("-chardev socket,fd={number},id={name}");
        let monitor = "-chardev socket,id=qmp,fd=6".to_string();
        let sockets = [socket("console", 4), socket("control", 5), monitor].join(" ");
        let memory = "-object memory-backend-file,id=memory,size=1024M,mem-path=/proc/self/fd/9,share=on";
        let command = format!("qemu {memory} -kernel k -initrd /proc/self/fd/3 {sockets}");
        let expected = "qemu -object memory-backend-ram,id=memory,size=1024M -kernel k -initrd /i \
            -chardev null,id=console -chardev null,id=control -chardev null,id=qmp";
        assert_eq!(take_over(&command, "/i").unwrap(), expected);
        assert!(take_over(&format!("{command} -drive file=/proc/self/fd/7"), "/i").is_err());
    }
}
