//! Any tree of Kconfig files with any `.config`.

#![no_main]

use kconfig::{Assignment, Config, Place, Symbols, Variables, Wanted, unmet};
use libfuzzer_sys::fuzz_target;

/// Most options that are asked for.
const ASKED_MAX: usize = 50;

// The input is three files, parted by a zero: `Kconfig`, what it includes, and a `.config`.
fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let mut parts = text.splitn(3, '\0');
    let [top, included, config] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let variables = Variables::from([("SRCARCH".to_owned(), "x86".to_owned())]);
    let mut read = |path: &str| {
        assert!(!path.starts_with('/') && path.split('/').all(|step| step != ".."), "{path:?}");
        Ok(if path == "Kconfig" { top } else { included }.to_owned())
    };
    match Symbols::read(&variables, &mut read) {
        Ok(symbols) => ask(&symbols, &Config::parse(config)),
        Err(error) => check(&error.to_string()),
    }
});

/// Asks for every value of some options.
fn ask(symbols: &Symbols, config: &Config) {
    let values = [
        Wanted::Yes,
        Wanted::Module,
        Wanted::No,
        Wanted::Number("5".to_owned()),
        Wanted::Text("x".to_owned()),
    ];
    let origin = Place { file: "fuzz".into(), line: 1 };
    let names = symbols.names().take(ASKED_MAX).chain(["NOWHERE"]);
    let asked: Vec<Assignment> = names
        .flat_map(|name| values.iter().map(move |wanted| (name.to_owned(), wanted.clone())))
        .map(|(name, wanted)| Assignment { name, wanted, origin: origin.clone() })
        .collect();
    let found = unmet(symbols, &asked, config);
    assert!(found.len() <= asked.len());
    found.iter().for_each(|unmet| check(&unmet.reason));
}

fn check(message: &str) {
    assert!(!message.is_empty() && !message.contains('\n') && message.len() < 20_000, "{message:?}");
}
