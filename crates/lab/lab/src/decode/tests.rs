use super::*;
use judge::kernel_report::{self, KernelReport};
use proptest::prelude::*;

/// Knows `pipe_read` with a function inlined in it.
fn resolver(place: &Place) -> Vec<Frame> {
    let frame =
        |function: &str, file: &str, line| Frame { function: function.into(), file: file.into(), line };
    match (place.function.as_str(), place.offset, place.size) {
        ("pipe_read", 0x11, 0x340) => {
            vec![frame("pipe_empty", "include/linux/pipe_fs_i.h", 7), frame("pipe_read", "fs/pipe.c", 71)]
        }
        ("vfs_read", 0x20, 0x50) => vec![frame("vfs_read", "fs/read_write.c", 9)],
        _ => Vec::new(),
    }
}

fn decoded(line: &str) -> Vec<String> {
    let mut run = Run { evidence: vec![line.to_string()], ..Run::unstarted() };
    super::run(&mut run, &mut resolver);
    run.evidence
}

#[test]
fn a_call_is_before_where_it_returns_to_and_inlined_functions_have_lines_of_their_own() {
    assert_eq!(
        decoded("[    1.5]  pipe_read+0x12/0x340"),
        [
            "[    1.5]  pipe_empty (include/linux/pipe_fs_i.h:7) [inline]",
            "[    1.5]  pipe_read+0x12/0x340 (fs/pipe.c:71)"
        ]
    );
    assert_eq!(decoded(" ? vfs_read+0x21/0x50"), [" ? vfs_read+0x21/0x50 (fs/read_write.c:9)"]);
}

#[test]
fn where_a_processor_stands_is_taken_as_it_is() {
    assert_eq!(decoded("RIP: 0010:vfs_read+0x20/0x50"), ["RIP: 0010:vfs_read+0x20/0x50 (fs/read_write.c:9)"]);
}

#[test]
fn what_is_no_place_of_the_kernel_stays() {
    for line in [
        "vfs_read+0x21/0x50 [xfs]",
        "vfs_read+0x21/0x50 (fs/read_write.c:9)",
        "WARNING: CPU: 0 PID: 1 at fs/read_write.c:9 vfs_read+0x21/0x50",
        "vfs_read+0x21",
        "+0x21/0x50",
        "vfs_read+0x/0x",
        "vfs_read+0x99999999999999999/0x50",
        "Call Trace:",
        "",
    ] {
        assert_eq!(decoded(line), [line]);
    }
}

#[test]
fn what_was_decoded_is_not_decoded_again() {
    let once = decoded("vfs_read+0x21/0x50");
    assert_eq!(decoded(&once[0]), once);
}

#[test]
fn titles_stay_and_stacks_of_a_case_are_decoded_too() {
    let lines =
        ["WARNING: CPU: 0 PID: 1 at fs/pipe.c:71 pipe_read+0x12/0x340", "Call Trace:", " vfs_read+0x21/0x50"];
    let kernel_reports = kernel_report::scan(&lines);
    let titles =
        |reports: &[KernelReport]| reports.iter().map(|report| report.title.clone()).collect::<Vec<_>>();
    let before = titles(&kernel_reports);
    let end = Some(End::TimedOut { stacks: "    [<0>] vfs_read+0x21/0x50".into(), killed: true });
    let mut run = Run { kernel_reports, end, reason: before[0].clone(), ..Run::unstarted() };
    super::run(&mut run, &mut resolver);
    assert_eq!((titles(&run.kernel_reports), &run.reason), (before.clone(), &before[0]));
    assert!(run.kernel_reports[0].lines.iter().any(|line| line.ends_with("(fs/read_write.c:9)")), "{run:?}");
    let Some(End::TimedOut { stacks, .. }) = &run.end else { panic!("{run:?}") };
    assert_eq!(stacks, "    [<0>] vfs_read+0x21/0x50 (fs/read_write.c:9)");
}

#[test]
fn a_flood_of_places_is_looked_up_to_a_limit() {
    let evidence = (0..10 * LOOKUPS_MAX).map(|n| format!("f{n}+0x1/0x2")).collect();
    let mut lookups = 0;
    let mut count = |_: &Place| {
        lookups += 1;
        Vec::new()
    };
    super::run(&mut Run { evidence, ..Run::unstarted() }, &mut count);
    assert_eq!(lookups, LOOKUPS_MAX);
}

proptest! {
    #[test]
    fn any_line_is_read_without_panic(line: String, start in "[a-z é]*", rest in "[0-9a-fx/+ é]*") {
        let _ = Found::in_line(&line);
        let _ = Found::in_line(&format!("{start}+0x{rest}"));
    }
}
