//! What is served, and to whom.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::units;

/// Below its help.
pub(super) const HELP: &str = "\
Examples:
  kiln serve                                                 to browsers of this host: http://localhost:8080/
  kiln serve --listen [::]:8080 --token-file secret          to all hosts, for whoever knows the token
  kiln serve --token-file secret --allow-run                 the same with a page that starts and stops kiln

Pages are read, and nothing is changed by them, unless --allow-run is given. Without a token only requests to localhost are answered; with one a browser opens \
/?kiln-token=TOKEN once, and programs send it as `Authorization: Bearer TOKEN`. There is no TLS: put a proxy in front where others \
may listen.";

/// `kiln serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to listen; other addresses than those of this host need a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// A file whose first line is the token without which nothing is answered
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let browsers with the token start and stop runs, bisections and watches, which end with the server
    #[arg(long)]
    pub(crate) allow_run: bool,
    /// The folder with the sessions [default: $XDG_STATE_HOME/kiln/runs]
    #[arg(long, value_name = "DIR", value_parser = units::folder())]
    pub(crate) results: Option<PathBuf>,
}
