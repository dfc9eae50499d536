//! Which test ran when the kernel reported something.

use crate::kernel_report::KernelReport;

/// The test function on the stack of a report: KUnit calls it from `kunit_try_run_case`.
pub(super) fn running_test(report: &KernelReport) -> Option<&str> {
    let functions: Vec<&str> = report.lines.iter().filter_map(|line| function(line)).collect();
    let caller = functions.iter().position(|name| *name == "kunit_try_run_case")?;
    functions[..caller].last().copied()
}

/// `foo` of a line of a stack: ` foo+0x1/0x20`, ` ? foo.isra.0+0x1/0x20`.
fn function(line: &str) -> Option<&str> {
    let symbol = line.split_whitespace().find(|word| word.contains("+0x"))?;
    // At offset 0 it was not called: the function before it ended in a call that does not return.
    let is_sure = !line.contains("? ") && !symbol.contains("+0x0/");
    let name = symbol.split(['+', '.']).next().filter(|name| !name.is_empty())?;
    is_sure.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_report::Kind;

    #[test]
    fn the_running_test_is_the_one_that_kunit_called() {
        let lines = [
            "BUG: kernel NULL pointer dereference, address: 0",
            "RIP: 0010:victim+0x5/0x10",
            " <TASK>",
            " planted_death+0x2a/0x60",
            " next_function+0x0/0x40",
            " ? kunit_binary_str_assert_format+0x1/0x2",
            " kunit_try_run_case.cold+0x51/0x90",
            " kthread+0xd2/0x100",
        ];
        let lines = lines.map(str::to_string).to_vec();
        let report = KernelReport { kind: Kind::Oops, title: "x".into(), lines };
        assert_eq!(running_test(&report), Some("planted_death"));
    }
}
