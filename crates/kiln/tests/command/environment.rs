//! What programs find in a machine, and what the kernel does after them.

use judge::Outcome;

use crate::support::bundle::says_the_same;
use crate::support::{KERNEL, Place};

#[test]
fn a_machine_is_as_its_init_should_leave_it() {
    let place = Place::new();
    let body = r#"
        check() { if eval "$2"; then kiln-report pass "$1"; else kiln-report fail "$1"; fi; }
        is_mounted() { grep -q "^[^ ]* $1 $2 " /proc/mounts; }
        check 'lo is up' 'ip link show lo | grep -q LOWER_UP && ping -c 1 -W 5 127.0.0.1 > /dev/null'
        check 'multicast' 'ip route | grep -q "^224.0.0.0/4 dev lo"'
        check 'host name' '[ "$(hostname)" = kiln ] && [ "$(cat /etc/hostname)" = kiln ]'
        for mount in '/proc proc' '/sys sysfs' '/dev devtmpfs' '/dev/pts devpts' '/dev/shm tmpfs' '/run tmpfs' \
            '/tmp tmpfs' '/dev/mqueue mqueue' '/dev/hugepages hugetlbfs' '/sys/fs/cgroup cgroup2' \
            '/sys/kernel/debug debugfs' '/sys/kernel/tracing tracefs' '/sys/fs/bpf bpf'; do
            check "mount of $mount" "is_mounted $mount"
        done
        check 'users' '[ "$(id -un)" = root ] && [ "$(id -u nobody)" = 65534 ] && [ "$(id -u daemon)" = 1 ]'
        check 'groups' 'grep -q ^nogroup: /etc/group && grep -q ^tty:x:5: /etc/group'
        check 'localhost' 'ping -c 1 -W 5 localhost > /dev/null && ping -c 1 -W 5 kiln > /dev/null'
        check 'services' 'grep -q "tcp 6" /etc/protocols && grep -q 22/tcp /etc/services'
        check 'scratch' 'touch /var/tmp/x /run/lock/x /tmp/x && [ "$(stat -c %a /tmp)" = 1777 ]'
        check 'mtab' 'grep -q " /proc " /etc/mtab'
        check 'directory' '[ "$(pwd)" = /tmp ] && [ "$HOME" = /root ] && [ -d "$HOME" ]'
    "#;
    let program = place.script("environment", body);
    let done = place.exec(&program, &[]).run().expect(0);
    let run = done.document("environment");
    assert_eq!((run.outcome, run.counts.fail, run.counts.pass), (Outcome::Pass, 0, 23), "{run:?}");
    assert_eq!(run.not_found, [""; 0], "a busybox has all that this script names");
}

#[test]
fn a_loop_device_is_there_for_whoever_asks() {
    let place = Place::new();
    let program = place.script("loops", "[ -b /dev/loop0 ] && [ -c /dev/loop-control ]");
    place.exec(&program, &["--need", "module=loop"]).run().expect(0);
}

/// A module that makes the kernel warn after the program that loads it has ended.
const LATE: &str = r#"
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

static char *by = "rcu";
static int delay = 50;
module_param(by, charp, 0);
module_param(delay, int, 0);

static void called(struct rcu_head *head) { WARN(1, "kiln: late by rcu"); }
static void worked(struct work_struct *work) { WARN(1, "kiln: late by work"); }
static void timed(struct timer_list *timer) { WARN(1, "kiln: late by timer"); }

static struct rcu_head head;
static DECLARE_DELAYED_WORK(work, worked);
static DEFINE_TIMER(timer, timed);

static int __init late_init(void)
{
	if (!strcmp(by, "rcu"))
		call_rcu(&head, called);
	else if (!strcmp(by, "work"))
		schedule_delayed_work(&work, msecs_to_jiffies(delay));
	else
		mod_timer(&timer, jiffies + msecs_to_jiffies(delay));
	return 0;
}
module_init(late_init);
MODULE_LICENSE("GPL");
"#;

#[test]
fn what_the_kernel_reports_after_a_case_counts_for_it() {
    let place = Place::new();
    let load = |by: &str| format!("insmod ./late.ko by={by}");
    let (rcu, work, timer) = (load("rcu"), load("work"), load("timer"));
    let suite = place.suite(&[("rcu", &rcu), ("work", &work), ("timer", &timer), ("none", "true")]);
    std::fs::copy(place.module("late", LATE), format!("{suite}/late.ko")).expect("the folder is writable");
    let done = place.kiln(["run", KERNEL, "--no-retry", "--suite", &suite]).run().expect(1);
    for (case, title) in [("rcu", "called"), ("work", "worked"), ("timer", "timed")] {
        let run = done.document(case);
        assert_eq!(run.outcome, Outcome::Fail, "{run:?}");
        assert!(run.reason.contains(title), "{}", run.reason);
    }
    assert_eq!(done.document("none").outcome, Outcome::Pass);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn what_only_a_long_settle_finds_is_found_again_by_replay_and_bundle() {
    let place = Place::new();
    let suite = place.suite(&[("late", "insmod ./late.ko by=timer delay=5000")]);
    std::fs::copy(place.module("late", LATE), format!("{suite}/late.ko")).expect("the folder is writable");
    let done = place.kiln(["run", KERNEL, "--no-retry", "--settle", "6s", "--suite", &suite]).run().expect(1);
    let run = done.document("late");
    assert!(run.outcome == Outcome::Fail && run.reason.contains("timed"), "{run:?}");
    says_the_same(&place, &done, "late");
    place.kiln(["replay", "last"]).run().expect(1).says("same as before: fail late: WARNING");
}
