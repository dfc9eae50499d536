//! What a load reached of a kernel's source.

use std::collections::HashMap;

use kernel::symbols::Frame;
use kernel::{Kernel, Symbols};
use protocol::stress::StressReport;
use protocol::stress::coverage::{Coverage, Reached, Sources, unite};

/// Adds functions and lines to the points of `report`, a load of `kernel`, if there are any.
///
/// # Errors
///
/// When the debugging information of the kernel is not at hand.
pub fn add_sources(report: &mut StressReport, kernel: &Kernel) -> Result<(), String> {
    let has_points = |coverage: &Coverage| !coverage.points.is_empty();
    if !report.instances.iter().filter_map(|it| it.coverage.as_ref()).any(has_points) {
        return Ok(());
    }
    let missing = "functions and lines need the vmlinux of the kernel with its debugging information, which \
                   `kiln build TREE --config boot,cov` keeps";
    let symbols = Symbols::of(kernel).ok_or(missing)?;
    let mut known = HashMap::new();
    for instance in &mut report.instances {
        let cpu_ns = instance.cpu_ns();
        let Some(coverage) = &mut instance.coverage else { continue };
        let sources = sources(coverage, |point| {
            known.entry(point).or_insert_with(|| symbols.frames_in_text(point.into())).clone()
        });
        coverage.reached = Some(Reached::of(&sources, cpu_ns));
        unite(&mut report.sources, sources);
    }
    if report.sources.is_empty() { Err(missing.to_string()) } else { Ok(()) }
}

/// What the points of one instance are in.
fn sources(coverage: &Coverage, mut frames: impl FnMut(u32) -> Vec<Frame>) -> Sources {
    let mut sources = Sources::new();
    for point in coverage.distances() {
        let frames = frames(point);
        // The lines of the others are those that the function was inlined at.
        if let Some(Frame { file, line, .. }) = frames.first() {
            sources.entry(file.clone()).or_default().lines.insert(*line);
        }
        for Frame { file, function, .. } in frames {
            sources.entry(file).or_default().functions.insert(function);
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_line_is_that_of_the_innermost_function() {
        let frame =
            |function: &str, file: &str, line| Frame { function: function.into(), file: file.into(), line };
        let frames = |point: u32| match point {
            8 => vec![frame("list_add", "include/linux/list.h", 70), frame("pipe_read", "fs/pipe.c", 300)],
            24 => vec![frame("pipe_read", "fs/pipe.c", 310)],
            _ => Vec::new(),
        };
        let found = sources(&Coverage::of(&BTreeSet::from([8, 24, 99])), frames);
        let of = |file: &str| {
            let source = &found[file];
            (source.functions.iter().map(String::as_str).collect(), source.lines.iter().copied().collect())
        };
        let expected: [(Vec<&str>, Vec<u32>); 2] =
            [(vec!["pipe_read"], vec![310]), (vec!["list_add"], vec![70])];
        assert_eq!(["fs/pipe.c", "include/linux/list.h"].map(of), expected);
    }
}
