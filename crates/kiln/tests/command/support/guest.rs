//! Programs that are run inside the guest.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Place;

impl Place {
    /// A shell script. In the guest there are `/bin/sh` and `kiln-report`, nothing else.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.file(name, format!("#!/bin/sh\n{body}\n"));
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, executable).expect("it is ours");
        path
    }

    /// A static C program with this body of `main`.
    pub(crate) fn program(&self, name: &str, body: &str) -> PathBuf {
        self.compile(name, body, "", &["-static"])
    }

    /// A C program with this body of `main` and these declarations before it.
    pub(crate) fn compile(&self, name: &str, body: &str, before: &str, options: &[&str]) -> PathBuf {
        let text = format!("{HEAD}{before}\nint main(int argc, char **argv) {{\n{body}\nreturn 0;\n}}\n");
        let source = self.file(&format!("{name}.c"), text);
        self.compiled(name, &source, options)
    }

    /// A static program out of `tests/programs`.
    pub(crate) fn kept_program(&self, name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        self.compiled(name, &folder.join(format!("{name}.c")), &["-static", "-pthread"])
    }

    fn compiled(&self, name: &str, source: &Path, options: &[&str]) -> PathBuf {
        let program = self.path().join(name);
        let output = Command::new("cc")
            .args(["-O1", "-w", "-o"])
            .arg(&program)
            .arg(source)
            .args(options)
            .output()
            .expect("a C compiler is there");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        program
    }
}

/// What the programs of these tests need.
const HEAD: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) { perror(path); exit(99); }
    close(fd);
}
"#;
