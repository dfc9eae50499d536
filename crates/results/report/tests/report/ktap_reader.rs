//! KTAP as the kernel's document has it, and nothing that it merely tolerates.

/// A document, or the inside of a test.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Level {
    pub(crate) plan: usize,
    pub(crate) tests: Vec<Test>,
    pub(crate) diagnostics: Vec<String>,
    pub(crate) bail_out: Option<String>,
}

/// A result line with what belongs to it.
#[derive(Debug, PartialEq)]
pub(crate) struct Test {
    pub(crate) ok: bool,
    pub(crate) name: String,
    pub(crate) directive: Option<String>,
    pub(crate) inside: Option<Level>,
}

const DIRECTIVES: [&str; 5] = ["SKIP", "TODO", "XFAIL", "TIMEOUT", "ERROR"];

/// Reads a document; says what breaks a rule.
pub(crate) fn read(text: &str) -> Result<Level, String> {
    if !text.ends_with('\n') {
        return Err("the last line does not end".into());
    }
    let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n').peekable();
    let level = read_level(&mut lines, 0)?;
    match lines.next() {
        Some(line) => Err(format!("after the end: {line:?}")),
        None => Ok(level),
    }
}

type Lines<'a> = std::iter::Peekable<std::str::Split<'a, char>>;

fn read_level(lines: &mut Lines<'_>, depth: usize) -> Result<Level, String> {
    let indent = "  ".repeat(depth);
    let mut head = |what: &str| {
        let line = lines.next().and_then(|line| line.strip_prefix(&indent)).unwrap_or_default();
        line.strip_prefix(what).map(str::to_string).ok_or_else(|| format!("{line:?} is not {what:?}"))
    };
    if !head("KTAP version 1")?.is_empty() {
        return Err("unknown version".into());
    }
    let plan = head("1..")?.parse().map_err(|_| "the plan is no number")?;
    let mut level = Level { plan, ..Level::default() };
    let mut inside = None;
    while let Some(line) = lines.peek().and_then(|line| line.strip_prefix(&indent)) {
        if line.starts_with("  ") {
            let nested = read_level(lines, depth + 1)?;
            if inside.replace(nested).is_some() {
                return Err("two nested levels without a result between them".into());
            }
            continue;
        }
        lines.next();
        if let Some(why) = line.strip_prefix("Bail out!") {
            level.bail_out = Some(why.trim().to_string());
            break;
        } else if let Some(text) = line.strip_prefix("# ") {
            level.diagnostics.push(text.to_string());
        } else {
            level.tests.push(read_result(line, level.tests.len() + 1, inside.take())?);
        }
    }
    if inside.is_some() {
        return Err("a nested level without the result of its parent".into());
    }
    if level.tests.len() > level.plan {
        return Err("more results than planned".into());
    }
    Ok(level)
}

fn read_result(line: &str, number: usize, inside: Option<Level>) -> Result<Test, String> {
    let (ok, rest) = match line.strip_prefix("not ") {
        Some(rest) => (false, rest),
        None => (true, line),
    };
    let rest = rest.strip_prefix("ok ").ok_or_else(|| format!("unknown line {line:?}"))?;
    let rest = rest
        .strip_prefix(&number.to_string())
        .ok_or_else(|| format!("number in {line:?} is not {number}"))?;
    let (name, directive) = match rest.split_once(" # ") {
        Some((name, directive)) => (name, Some(directive.to_string())),
        None => (rest, None),
    };
    if name.contains('#') || !(name.is_empty() || name.starts_with(' ')) {
        return Err(format!("bad description in {line:?}"));
    }
    if let Some(directive) = &directive {
        check_directive(ok, directive)?;
    }
    let name = name.trim();
    let name = name.strip_prefix("- ").unwrap_or(name).to_string();
    let test = Test { ok, name, directive, inside };
    check_parent(&test)?;
    Ok(test)
}

fn check_directive(ok: bool, directive: &str) -> Result<(), String> {
    let word = directive.split(' ').next().unwrap_or_default();
    if !DIRECTIVES.contains(&word) {
        return Err(format!("unknown directive {directive:?}"));
    }
    if ok && matches!(word, "TIMEOUT" | "ERROR") {
        return Err(format!("ok with {word}"));
    }
    if directive.replace("\\#", "").contains('#') {
        return Err(format!("a second directive in {directive:?}"));
    }
    Ok(())
}

fn check_parent(test: &Test) -> Result<(), String> {
    let Some(inside) = &test.inside else { return Ok(()) };
    let all_well = inside.tests.iter().all(|test| test.ok) && inside.tests.len() == inside.plan;
    if test.ok != all_well {
        return Err(format!("the result of {:?} is not that of its sub-tests", test.name));
    }
    let is_skip =
        |test: &Test| test.directive.as_ref().is_some_and(|directive| directive.starts_with("SKIP"));
    if is_skip(test) && !inside.tests.iter().all(is_skip) {
        return Err(format!("{:?} skips what was run", test.name));
    }
    Ok(())
}

#[test]
fn the_example_of_the_kernel_is_read() {
    let text = "KTAP version 1\n1..2\n  KTAP version 1\n  1..2\n    KTAP version 1\n    1..2\n    not ok 1 test_1\n    \
                ok 2 test_2\n  not ok 1 test_3\n  ok 2 test_4 # SKIP\nnot ok 1 example_test_1\nok 2 example_test_2\n";
    let level = read(text).unwrap();
    let names: Vec<_> = level.tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["example_test_1", "example_test_2"]);
    assert_eq!(level.tests[0].inside.as_ref().unwrap().tests[1].directive.as_deref(), Some("SKIP"));
}

#[test]
fn broken_documents_are_refused() {
    let bad = [
        "1..1\nok 1 a\n",
        "KTAP version 1\n1..1\nok 2 a\n",
        "KTAP version 1\n1..1\nok 1 a\nok 2 b\n",
        "KTAP version 1\n1..1\nok 1 a#b\n",
        "KTAP version 1\n1..1\nok 1 a # TIMEOUT 3 seconds\n",
        "KTAP version 1\n1..1\nok 1 a # NEVER heard of\n",
        "KTAP version 1\n1..1\nok 1 a # SKIP b # ERROR c\n",
        "KTAP version 1\n1..1\nhello\n",
        "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n  not ok 1 a\nok 1 p\n",
        "KTAP version 1\n1..1\n  KTAP version 1\n  1..2\n  ok 1 a\nok 1 p\n",
        "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n  ok 1 a\n",
        "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n  ok 1 a\nok 1 p # SKIP\n",
        "KTAP version 1\n1..1\nBail out!\nok 1 a\n",
    ];
    for text in bad {
        assert!(read(text).is_err(), "{text}");
    }
}
