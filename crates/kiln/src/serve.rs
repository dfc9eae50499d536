//! `kiln serve`: what is known, for browsers.

use std::net::TcpListener;
use std::path::PathBuf;

use anyhow::{Context, Result};
use dashboard::{Access, Folders, Service};
use kernel::files::{self, Limit};
use ledger::{bisections_root, checks_root, figures_root};
use outbox::Outbox;
use post::Posts;

use crate::cli::Serve;
use crate::failure::{WrongUsage, complain};
use crate::signals;

/// Largest file with a token.
const LIMIT: Limit = Limit { what: "a token", bytes: 4096 };

/// Fewest characters of a token: others can be guessed.
const TOKEN_MIN: usize = 16;

/// Serves until the user stops it, and gives the exit code.
pub(crate) fn serve(args: &Serve) -> Result<u8> {
    let access = access(args)?;
    if args.allow_run && args.token_file.is_none() {
        return Err(WrongUsage("--allow-run: name a file with a token, --token-file".to_owned()).into());
    }
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let listener = TcpListener::bind(args.listen)
        .map_err(|error| WrongUsage(format!("--listen {}: {error}", args.listen)))?;
    let address = listener.local_addr().context("the server")?;
    let stop = signals::interrupt_flag().context("signals")?;
    let host = if address.ip().is_loopback() { "localhost".to_owned() } else { address.ip().to_string() };
    complain(&format!(
        "http://{host}:{}/ shows the sessions in {}; Ctrl-C ends it",
        address.port(),
        root.display()
    ));
    if !address.ip().is_loopback() {
        complain(
            "other hosts can read all sessions, outputs and kernel logs with the token; nothing encrypts it",
        );
    }
    let program = args.allow_run.then(std::env::current_exe).transpose().context("kiln itself")?;
    if args.allow_run {
        complain("whoever knows the token can boot any kernel and run any suite that this user can read");
    }
    dashboard::serve(listener, Service { folders: folders(root), access, program }, &stop)?;
    Ok(0)
}

/// The folders of which pages are made.
pub(crate) fn folders(sessions: PathBuf) -> Folders {
    Folders {
        sessions,
        figures: figures_root(),
        bisections: bisections_root(),
        checks: checks_root(),
        outbox: Outbox::of_user(),
        posts: Posts::of_user(),
    }
}

/// Who may ask.
fn access(args: &Serve) -> Result<Access> {
    let Some(path) = &args.token_file else {
        if args.listen.ip().is_loopback() {
            return Ok(Access::Host);
        }
        let text =
            format!("--listen {}: other hosts need a token: name a file with --token-file", args.listen);
        return Err(WrongUsage(text).into());
    };
    let text = files::read(path, LIMIT)?;
    let token = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    if token.len() < TOKEN_MIN || !token.bytes().all(is_plain) {
        let text = format!("{}: a token has {TOKEN_MIN} or more letters, digits, - _ . or ~", path.display());
        return Err(WrongUsage(text).into());
    }
    Ok(Access::with_token(&token))
}
