//! What is not called, and what to use instead.

use super::Finding;
use super::source::{Rust, Source, Token};

/// Words that must not follow each other.
struct Ban {
    words: &'static [&'static str],
    instead: &'static str,
    /// Tests may.
    tests_may: bool,
    /// Files whose path begins so may.
    these_may: &'static [&'static str],
}

const MACHINE_BUILD: &str = "crates/machine/machine/build.rs";
const BPF_BUILD: &str = "crates/guest/bpf/build.rs";

/// Who talks to a person, or to cargo.
const COMMAND_LINES: &[&str] = &[
    "crates/kiln/",
    "crates/guest/agent/src/main.rs",
    "crates/guest/micro/src/main.rs",
    MACHINE_BUILD,
    BPF_BUILD,
    "xtask/",
    "benches/",
];

const PRINT: Ban = Ban {
    words: &["println", "!"],
    instead: "tell it with an event; only the command line prints",
    tests_may: true,
    these_may: COMMAND_LINES,
};

const BANS: &[Ban] = &[
    Ban {
        words: &[".", "unwrap", "("],
        instead: "pass the error on with `?`, or give a default",
        tests_may: true,
        these_may: &[],
    },
    Ban {
        words: &[".", "expect", "("],
        instead: "pass the error on with `?`; only a build script names an invariant and stops",
        tests_may: true,
        these_may: &[MACHINE_BUILD, BPF_BUILD],
    },
    PRINT,
    Ban { words: &["print", "!"], ..PRINT },
    Ban { words: &["eprintln", "!"], ..PRINT },
    Ban { words: &["eprint", "!"], ..PRINT },
    Ban {
        words: &["process", ":", ":", "exit"],
        instead: "give an ExitCode back from main",
        tests_may: false,
        these_may: &[],
    },
    Ban {
        words: &["#", "[", "allow"],
        instead: "use #[expect(…, reason = \"…\")], which says so when it is needed no more",
        tests_may: false,
        these_may: &[],
    },
    Ban {
        words: &["#", "!", "[", "allow"],
        instead: "use #![expect(…, reason = \"…\")], which says so when it is needed no more",
        tests_may: false,
        these_may: &[],
    },
    Ban { words: &["todo", "!"], instead: "do it", tests_may: false, these_may: &[] },
    Ban { words: &["unimplemented", "!"], instead: "do it", tests_may: false, these_may: &[] },
    Ban { words: &["dbg", "!"], instead: "take it out", tests_may: false, these_may: &[] },
];

/// Calls that are banned, and lints that are switched off without a reason.
pub(super) fn look(source: &Source, rust: &Rust) -> Vec<Finding> {
    let bans = BANS.iter().filter(|ban| !ban.these_may.iter().any(|start| source.path.starts_with(start)));
    let mut found: Vec<Finding> = bans.flat_map(|ban| banned(source, rust, ban)).collect();
    found.extend(unreasoned(source, rust));
    found
}

fn banned(source: &Source, rust: &Rust, ban: &Ban) -> Vec<Finding> {
    let key = format!("call {}", ban.words.concat());
    let starts = rust.tokens.windows(ban.words.len());
    starts
        .filter(|tokens| tokens.iter().zip(ban.words).all(|(token, word)| token.text == *word))
        .filter(|tokens| !(ban.tests_may && rust.is_test_line(tokens[0].line)))
        .map(|tokens| Finding::new(&source.path, tokens[0].line, key.as_str(), ban.instead))
        .collect()
}

/// `#[expect]` without a reason.
fn unreasoned(source: &Source, rust: &Rust) -> Vec<Finding> {
    let is_expect = |at: usize| {
        let word = |offset: usize| rust.tokens.get(at + offset).map(|token| token.text.as_str());
        word(0) == Some("[") && word(1) == Some("expect") && word(2) == Some("(")
    };
    let starts = (0..rust.tokens.len()).filter(|&at| is_expect(at));
    let is_end = |token: &Token| token.text == "]";
    let has_reason = |at: usize| {
        rust.tokens[at..].iter().take_while(|token| !is_end(token)).any(|token| token.text == "reason")
    };
    starts
        .filter(|&at| !has_reason(at))
        .map(|at| Finding::new(&source.path, rust.tokens[at].line, "expect", "say the reason"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(path: &str, text: &str) -> Vec<String> {
        let source = Source::new(path, text.to_string()).unwrap();
        look(&source, source.rust.as_ref().unwrap()).into_iter().map(|finding| finding.key).collect()
    }

    #[test]
    fn banned_calls_are_found_also_in_macros() {
        let text = "fn a() {\n    println!(\"{}\", vec![b.unwrap()][0]);\n    std::process::exit(1);\n}\n";
        assert_eq!(
            keys("crates/lab/lab/src/x.rs", text),
            ["call .unwrap(", "call println!", "call process::exit"]
        );
        assert_eq!(keys("crates/kiln/src/x.rs", text), ["call .unwrap(", "call process::exit"]);
    }

    #[test]
    fn tests_may_unwrap() {
        assert!(keys("crates/lab/lab/src/x.rs", "#[test]\nfn a() {\n    b.unwrap();\n}\n").is_empty());
    }

    #[test]
    fn lints_are_switched_off_with_a_reason() {
        assert_eq!(keys("a.rs", "#[allow(dead_code)]\nfn a() {}\n"), ["call #[allow"]);
        assert_eq!(keys("a.rs", "#[expect(dead_code)]\nfn a() {}\n"), ["expect"]);
        assert!(keys("a.rs", "#[expect(dead_code, reason = \"x\")]\nfn a() {}\n").is_empty());
    }
}
