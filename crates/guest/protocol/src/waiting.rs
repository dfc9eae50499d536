//! The request of a run in the initramfs, for a machine that runs without kiln.

use crate::RunRequest;

/// The request that the agent runs before it powers off.
pub const STANDALONE: &str = "/kiln/by-itself";

/// The request that `kiln-case` runs in the foreground.
pub const FOREGROUND: &str = "/kiln/at-hand";

/// The command that runs a case in the foreground.
pub const CASE_COMMAND: &str = "/bin/kiln-case";

/// The agent writes this into the kernel log, and so on the console, before it starts a standalone run.
pub const BEGINS: &str = "kiln: the run begins";

/// The content of such a file.
///
/// # Errors
///
/// When the request has no binary form.
pub fn encode(request: &RunRequest) -> postcard::Result<Vec<u8>> {
    postcard::to_stdvec(request)
}

/// Reads the content of such a file.
///
/// # Errors
///
/// When it is none.
pub fn decode(bytes: &[u8]) -> postcard::Result<RunRequest> {
    postcard::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Need, Work};
    use proptest::prelude::*;

    #[test]
    fn a_request_survives_the_way() {
        let request = RunRequest {
            run: 1,
            work: Work::Case("pipe/full".into()),
            limit_ms: 1000,
            output_max: 10,
            seed: 7,
            modules: vec!["/lib/modules/loop.ko".into()],
            unsure: Vec::new(),
            needs: vec![Need::Disk(64)],
            settle_ms: 100,
            trace: None,
        };
        assert_eq!(decode(&encode(&request).expect("plain data")), Ok(request));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let _ = decode(&bytes);
        }
    }
}
