//! Every way in which a guest dies, each on purpose.

use judge::kernel_report::Kind;
use judge::{Accused, Blame, Outcome, Run};
use object::LittleEndian as Little;
use object::elf::{ET_CORE, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

use crate::support::planted::Fault;
use crate::support::{Call, Done, Place, TURN};

/// Runs a program that ends like this; its document, and everything else.
fn ends(call: Call, program: &str, code: i32, outcome: Outcome, blame: Option<Blame>) -> (Run, Done) {
    let done = call.run().expect(code);
    let run = done.document(program);
    assert_eq!((run.outcome, run.blame), (outcome, blame), "{run:?}");
    let summary = &done.session()["summary"];
    assert_eq!(summary[run.outcome.name()], 1, "{summary}");
    let done = done.says(run.outcome.name()).says(&run.reason);
    (run, done)
}

#[test]
fn a_panic_is_a_crash_with_its_title_and_its_console() {
    let place = Place::new();
    let text = format!("echo before\n{TURN}\necho c > /proc/sysrq-trigger\necho after");
    let program = place.script("panic", &text);
    let (run, done) = ends(place.exec(&program, &[]), "panic", 1, Outcome::Crash, None);
    assert_eq!(run.reason, "Kernel panic: sysrq triggered crash");
    assert_eq!(run.output, "before\n");
    assert!(run.evidence.iter().any(|line| line.contains("sysrq_handle_crash")), "{:?}", run.evidence);
    assert_eq!(run.notes.iter().find(|note| note.contains("dump")), None);
    assert!(done.console("panic").contains("Kernel panic - not syncing: sysrq triggered crash"));
    assert!(!done.recorded("console.log").contains("triggered crash"), "what a clone says is kept apart");
    done.says("kernel  Kernel panic - not syncing: sysrq triggered crash").says("output  before");
}

#[test]
fn a_panic_leaves_the_memory_when_that_was_asked_for() {
    const MEMORY: u64 = 384 << 20;
    let place = Place::new();
    let program = place.script("panic", "echo c > /proc/sysrq-trigger");
    let call = place.exec(&program, &["--memory", "384M", "--dump"]);
    let (run, _) = ends(call, "panic", 1, Outcome::Crash, None);
    let path = run.notes.iter().find_map(|note| note.strip_prefix("memory dump: ")).expect("it was written");
    assert!(path.ends_with("/cases/panic.vmcore"), "{path}");
    let content = std::fs::read(path).expect("it is where the note says");
    let core = FileHeader64::<Little>::parse(&*content).expect("an ELF file");
    assert_eq!(core.e_type(Little), ET_CORE);
    let segments = core.program_headers(Little, &*content).expect("they are in the file");
    let loaded = segments.iter().filter(|segment| segment.p_type(Little) == PT_LOAD);
    let covered: u64 = loaded.map(|segment| segment.p_filesz(Little)).sum();
    assert!(covered >= MEMORY && content.len() as u64 >= MEMORY, "{covered}");
    // The program came through memory of a device, which is in the dump, too, and in the space that is asked for.
    assert!(
        (MEMORY + (64 << 20)..MEMORY + (128 << 20)).contains(&(content.len() as u64)),
        "{}",
        content.len()
    );
}

#[test]
fn a_warning_fails_a_program_that_exits_with_0() {
    let place = Place::new();
    let program = place.planted("warning", Fault::Warning, "");
    let (run, done) = ends(place.exec(&program, &[]), "warning", 1, Outcome::Fail, None);
    assert_eq!(run.output, "loading\nloaded\n");
    assert_eq!(run.kernel_reports.len(), 1, "{:?}", run.kernel_reports);
    assert_eq!(run.kernel_reports[0].kind, Kind::Warning);
    assert!(run.reason.contains("do_one_initcall"), "{}", run.reason);
    done.says("returned with disabled interrupts");
}

#[test]
fn a_warning_after_a_flood_of_the_log_is_found() {
    let place = Place::new();
    let flood = r#"
        put("/proc/sys/kernel/printk_devkmsg", "on\n");
        put("/proc/sys/kernel/printk", "1\n");
        for (int i = 0; i < 2500; i++) put("/dev/kmsg", "noise\n");"#;
    let program = place.planted("flood", Fault::Warning, flood);
    let (run, _) = ends(place.exec(&program, &[]), "flood", 1, Outcome::Fail, None);
    assert_eq!(run.kernel_reports[0].kind, Kind::Warning, "{}", run.reason);
    assert!(run.log.len() <= 2000);
}

#[test]
fn an_oops_fails_the_case_and_names_the_first_bad_thing() {
    let place = Place::new();
    let program = place.planted("oops", Fault::NullPointer, "");
    let (run, done) = ends(place.exec(&program, &[]), "oops", 1, Outcome::Fail, None);
    assert!(run.kernel_reports.iter().any(|report| report.kind == Kind::Oops), "{:?}", run.kernel_reports);
    assert_eq!(run.output, "loading\n");
    done.says("BUG: kernel NULL pointer dereference");
}

#[test]
fn an_oops_that_panics_is_a_crash() {
    let place = Place::new();
    let program = place.planted("oops", Fault::NullPointer, "");
    let call = place.exec(&program, &["--append", "oops=panic"]);
    let (run, _) = ends(call, "oops", 1, Outcome::Crash, None);
    assert!(run.reason.contains("NULL pointer dereference"), "{}", run.reason);
}

#[test]
fn a_triple_fault_is_a_crash_without_words() {
    let place = Place::new();
    let program = place.planted("fault", Fault::Reset, "");
    let (run, _) = ends(place.exec(&program, &[]), "fault", 1, Outcome::Crash, None);
    assert_eq!(run.reason, "the machine was reset without a message (a triple fault?)");
    assert!(!run.evidence.is_empty(), "the console up to then");
}

#[test]
fn a_guest_with_interrupts_off_hangs_and_an_nmi_shows_where() {
    let place = Place::new();
    let program = place.planted("spin", Fault::Spin, "");
    let call = place.exec(&program, &["--cpus", "1"]).impatient();
    let (run, _) = ends(call, "spin", 1, Outcome::Hang, None);
    assert!(run.reason.starts_with("the machine stopped answering for"), "{}", run.reason);
    let shows = |text: &str| run.evidence.iter().position(|line| line.contains(text));
    let (registers, loading) = (shows("RIP="), shows("notifier_error_inject: module verification failed"));
    let (tasks, spins) = (shows("tasks: "), shows("[notifier_error_inject]"));
    let panic = shows("Kernel panic - not syncing: NMI");
    let stack = run.evidence.iter().rposition(|line| line.contains(" do_one_initcall+0x"));
    let order = [loading, registers, tasks, spins, shows("printed at an NMI"), panic, stack];
    assert!(order.is_sorted() && loading.is_some(), "{order:?} in {:?}", run.evidence);
    assert_eq!(run.kernel_reports, [], "a panic that kiln provoked is no cause");
}

#[test]
fn a_guest_that_spins_in_the_kernel_hangs_and_sysrq_shows_where() {
    let place = Place::new();
    let program = place.planted("loop", Fault::Loop, "");
    let call = place.exec(&program, &["--cpus", "1"]).impatient();
    let (run, done) = ends(call, "loop", 1, Outcome::Hang, None);
    let shows = |text: &str| run.evidence.iter().any(|line| line.contains(text));
    assert!(shows("sysrq: Show backtrace of all active CPUs") && shows(" do_one_initcall+0x"), "{run:?}");
    assert!(!shows("Kernel panic"), "{:?}", run.evidence);
    assert!(done.console("loop").contains("sysrq: Show backtrace of all active CPUs"));
}

#[test]
fn a_program_that_does_not_end_hangs_and_its_stack_is_shown() {
    let place = Place::new();
    let program = place.program("endless", r#"puts("waiting"); fflush(stdout); pause();"#);
    let call = place.exec(&program, &["--case-timeout", "1s"]);
    let (run, done) = ends(call, "endless", 1, Outcome::Hang, None);
    let reason = run.reason.strip_prefix("the program did not end within ").expect(&run.reason);
    assert!(reason.ends_with(" s; the kernel answers"), "{reason}");
    assert_eq!(run.accused, Some(Accused::Program));
    done.says("; the program did not end, the kernel answers");
    assert_eq!(run.output, "waiting\n");
    assert!(run.evidence.iter().any(|line| line.contains("(endless)")), "{:?}", run.evidence);
}

#[test]
fn a_task_that_hangs_in_the_kernel_is_reported_by_the_kernel() {
    let place = Place::new();
    // A fault that nobody serves keeps the writer inside write(2) with the lock of the pipe held; the
    // reader waits for that lock as only a defect makes a task wait.
    let body = r#"
        put("/proc/sys/kernel/hung_task_timeout_secs", "1\n");
        int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
        struct uffdio_api api = { .api = UFFD_API };
        char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct uffdio_register reg = { { (long)page, 4096 }, UFFDIO_REGISTER_MODE_MISSING };
        if (ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg)) { perror("uffd"); return 97; }
        pthread_t writer, reader;
        pipe(ends);
        pthread_create(&writer, 0, writes, page);
        struct uffd_msg message;
        read(uffd, &message, sizeof message);
        pthread_create(&reader, 0, reads, 0);
        int log = open("/dev/kmsg", O_RDONLY);
        char record[8192] = "";
        while (!strstr(record, "blocked for more than")) { int n = read(log, record, 8191); record[n > 0 ? n : 0] = 0; }"#;
    let before = r#"
        #include <linux/userfaultfd.h>
        #include <pthread.h>
        #include <sys/ioctl.h>
        #include <sys/mman.h>
        static int ends[2];
        static void *writes(void *page) { write(ends[1], page, 100); return 0; }
        static void *reads(void *unused) { char byte; read(ends[0], &byte, 1); return 0; }"#;
    let program = place.compile("hung", body, before, &["-static"]);
    let (run, _) = ends(place.exec(&program, &[]), "hung", 1, Outcome::Fail, None);
    assert_eq!(run.kernel_reports[0].kind, Kind::HungTask);
}

#[test]
fn a_program_that_restarts_the_machine_broke_it() {
    let place = Place::new();
    let program = place.program("restart", "reboot(RB_AUTOBOOT);");
    let (run, _) = ends(place.exec(&program, &[]), "restart", 3, Outcome::Broken, Some(Blame::Case));
    assert_eq!(run.reason, "the case restarted the machine");
}

#[test]
fn a_restart_without_ceremony_is_one_too() {
    let place = Place::new();
    let program = place.script("resets", "echo b > /proc/sysrq-trigger");
    ends(place.exec(&program, &[]), "resets", 3, Outcome::Broken, Some(Blame::Case));
}

#[test]
fn a_program_that_powers_off_or_halts_broke_it() {
    let place = Place::new();
    for (name, body) in [("off", "reboot(RB_POWER_OFF);"), ("halt", "reboot(RB_HALT_SYSTEM);")] {
        let inner = Place::new();
        let program = place.program(name, body);
        let (run, _) = ends(inner.exec(&program, &[]), name, 3, Outcome::Broken, Some(Blame::Case));
        assert_eq!(run.reason, "the case powered the machine off");
    }
}

#[test]
fn a_program_that_kills_the_agent_is_not_counted_against_the_kernel() {
    let place = Place::new();
    let body = r#"
        FILE *maps = fopen("/proc/1/maps", "r");
        char line[256]; unsigned long from, to; char mode[8];
        int memory = open("/proc/1/mem", O_RDWR);
        while (fgets(line, sizeof line, maps))
            if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && mode[2] == 'x')
                for (; from < to; from += 4096) { char zeros[4096] = ""; pwrite(memory, zeros, 4096, from); }"#;
    let program = place.program("killer", body);
    let (run, _) = ends(place.exec(&program, &[]), "killer", 3, Outcome::Broken, Some(Blame::Kiln));
    assert!(run.reason.starts_with("process 1 died: Attempted to kill init!"), "{}", run.reason);
}
