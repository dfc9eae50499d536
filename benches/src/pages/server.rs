//! `kiln serve` at work.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::kiln::PROGRAM;

/// The unit of the kernel's times of processes, USER_HZ.
const TICKS_PER_SECOND: f64 = 100.0;

/// A server of pages.
pub(super) struct Server {
    child: Child,
    /// Where it listens: `localhost:8080`.
    host: String,
}

impl Server {
    /// Serves the sessions in a folder.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", "127.0.0.1:0", "--results"]).arg(folder);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context(PROGRAM)?;
        let mut line = String::new();
        let said = child.stderr.take().context("no pipe")?;
        BufReader::new(said).read_line(&mut line)?;
        let host = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let Some(host) = host.map(str::to_owned) else { bail!("kiln serve says {line:?}") };
        Ok(Self { child, host })
    }

    /// A page as a browser gets it.
    pub(super) fn get(&self, address: &str, number: usize) -> Result<Vec<u8>> {
        let mut stream = TcpStream::connect(&self.host)?;
        let request = format!(
            "GET {address}n={number} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        ensure!(answer.starts_with(b"HTTP/1.1 200 "), "{address}: {}", String::from_utf8_lossy(&answer));
        Ok(answer)
    }

    /// The address of a page for a browser of this host.
    pub(super) fn address(&self, page: &str) -> String {
        format!("http://{}{page}", self.host)
    }

    /// Seconds of CPU time that it has taken: the fields 14 and 15 of proc_pid_stat(5).
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        // The name of a program may hold anything; the third field follows its last parenthesis.
        let (_, rest) = text.rsplit_once(')').with_context(|| path.clone())?;
        let ticks = rest.split_whitespace().skip(14 - 3).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? / TICKS_PER_SECOND)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let _ = self.child.wait();
    }
}
