//! What pages of the dashboard take at 100,000 Runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::kiln::PROGRAM;
use crate::ledger::Place;
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// Seconds that a page may take, and its bytes over the wire.
const SECONDS: f64 = 0.3;
const BYTES: f64 = 200_000.0;

/// The pages, as a browser asks for them: what they show, and where.
const PAGES: [(&str, &str); 7] = [
    ("the overview", "/?"),
    ("the newest 1,000 Runs", "/runs?"),
    ("what failed on a kernel", "/runs?kernel=6.1.0-7-amd64&outcome=fail&"),
    ("a matrix of 20 kernels", "/matrix?suite=full&"),
    ("a kernel", "/kernel?kernel=6.1.0-7-amd64&"),
    ("a case over time", "/case?suite=full&case=area/case-7&"),
    ("the problems", "/problems?"),
];

/// Times, sizes and promises, in so many rounds.
pub(crate) fn measure(locator: &str, rounds: usize) -> Result<(String, Vec<Promise>)> {
    let place = Place::filled(locator)?;
    let server = Server::start(&place)?;
    let largest = Mutex::new([0_usize; PAGES.len()]);
    // No page is the same as one that was made just now.
    let number = AtomicUsize::new(0);
    let ask = |at: usize, address: &str| -> Result<()> {
        let page = server.get(address, number.fetch_add(1, Ordering::Relaxed))?;
        let mut largest = largest.lock().map_err(|_| anyhow::anyhow!("a page was lost"))?;
        largest[at] = largest[at].max(page.len());
        Ok(())
    };
    let mut racers: Vec<Racer<'_>> = PAGES
        .iter()
        .enumerate()
        .map(|(at, &(name, address))| Racer::new(name, move || ask(at, address)))
        .collect();
    race(&mut racers, rounds)?;
    let mut promises: Vec<Promise> = racers.iter().map(|racer| Promise::seconds(racer, SECONDS)).collect();
    let sizes = *largest.lock().map_err(|_| anyhow::anyhow!("a page was lost"))?;
    promises.extend(PAGES.iter().zip(sizes).map(|((name, _), size)| {
        Promise::plain(&format!("{name}: bytes over the wire"), size as f64, Some(BYTES))
    }));
    Ok((table(&racers), promises))
}

/// A server of pages.
struct Server {
    child: Child,
    /// Where it listens: `localhost:8080`.
    host: String,
}

impl Server {
    fn start(place: &Place) -> Result<Self> {
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", "127.0.0.1:0", "--results"]).arg(place.folder());
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().context(PROGRAM)?;
        let mut line = String::new();
        let said = child.stderr.take().context("no pipe")?;
        BufReader::new(said).read_line(&mut line)?;
        let host = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let Some(host) = host.map(str::to_owned) else { bail!("kiln serve says {line:?}") };
        Ok(Self { child, host })
    }

    /// A page as a browser gets it.
    fn get(&self, address: &str, number: usize) -> Result<Vec<u8>> {
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
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let _ = self.child.wait();
    }
}
