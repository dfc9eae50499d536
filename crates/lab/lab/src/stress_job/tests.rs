use std::collections::BTreeMap;

use proptest::prelude::*;
use protocol::stress::{Class, Domain, Extreme, Mode, Scheduler, StressorOption};

use super::write::write;
use super::*;

fn stressor(name: &str, class: Class, options: &[(&str, Domain)]) -> Stressor {
    let option = |(name, domain): &(&str, Domain)| StressorOption {
        name: name.to_string(),
        about: String::new(),
        domain: domain.clone(),
    };
    Stressor {
        name: name.to_string(),
        classes: vec![class],
        about: String::new(),
        operation: String::new(),
        verifies: String::new(),
        options: options.iter().map(option).collect(),
        rates: Vec::new(),
        needs: Vec::new(),
    }
}

fn catalogue() -> Catalogue {
    let size = Domain::Size { minimum: 4096, maximum: 1 << 40, default: 65536 };
    let method = |names: &[&str]| Domain::Choice(names.iter().map(ToString::to_string).collect());
    let stressors = vec![
        stressor("matrix", Class::Cpu, &[("method", method(&["all", "add", "trans"])), ("yx", Domain::Flag)]),
        stressor("nice", Class::Scheduler, &[]),
        stressor("vm", Class::Vm, &[("bytes", size.clone())]),
        stressor("vm-addr", Class::Vm, &[("bytes", size), ("method", method(&["all", "inc"]))]),
    ];
    Catalogue { stressors }
}

fn read(text: &str) -> Job {
    parse(text.as_bytes(), &catalogue())
}

fn mistakes(text: &str) -> Vec<String> {
    read(text).mistakes.iter().map(ToString::to_string).collect()
}

fn instance(stressor: &str, workers: u32, options: &[(&str, &str)]) -> Instance {
    let options = options.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Instance { stressor: stressor.to_string(), workers, options, operations: None }
}

#[test]
fn options_belong_to_the_stressor_above() {
    let job = read(
        "# all methods, one after the other\n\
         run sequential\n\
         timeout 1m   # each\n\
         verbose\n\
         tz\n\n\
         matrix 0\n\
         matrix-method add\n\
         matrix-ops 1000\n\
         matrix 2\n\
         matrix-method trans\n\
         --matrix-yx\n\
         vm-addr 1\n\
         vm-addr-method inc\n",
    );
    assert_eq!(job.mistakes, []);
    let mut first = instance("matrix", 0, &[("method", "add")]);
    first.operations = Some(1000);
    let expected = StressRequest {
        instances: vec![
            first,
            instance("matrix", 2, &[("method", "trans"), ("yx", "")]),
            instance("vm-addr", 1, &[("method", "inc")]),
        ],
        mode: Mode::Sequential,
        timeout_ms: Some(60_000),
        thermal: true,
        ..StressRequest::default()
    };
    assert_eq!(job.request, expected);
}

#[test]
fn growing_sizes_are_shares_of_memory() {
    let job = read("vm 1\nvm-bytes 25%\nvm 1\nvm-bytes 100%\nvm 1\nvm-bytes 1G");
    assert_eq!(job.mistakes, []);
    let sizes: Vec<&str> =
        job.request.instances.iter().map(|instance| instance.options["bytes"].as_str()).collect();
    assert_eq!(sizes, ["25%", "100%", "1G"]);
}

#[test]
fn a_class_stands_for_its_stressors() {
    let job = read("class vm\nall 3\n");
    assert_eq!(job.request.instances, [instance("vm", 3, &[]), instance("vm-addr", 3, &[])]);
    let job = read("seq 0\ntimeout 1s");
    assert_eq!((job.request.instances.len(), job.request.mode), (4, Mode::Sequential));
}

#[test]
fn units_of_a_timeout() {
    let timeout = |text: &str| read(&format!("vm 1\ntimeout {text}")).request.timeout_ms;
    let day = 86_400_000;
    assert_eq!(
        ["5", "60s", "1m", "2h", "1d", "1y", "0.25s", "1.5m"].map(timeout),
        [5_000, 60_000, 60_000, 7_200_000, day, 365 * day, 250, 90_000].map(Some)
    );
    for wrong in ["", "s", "-1s", "1w", "1.2345s", "1.s", "99999999999y", "1 m"] {
        assert_eq!(timeout(wrong), None, "{wrong}");
        assert_eq!(read(&format!("vm 1\ntimeout {wrong}")).mistakes.len(), 1, "{wrong}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_what_is_allowed() {
    assert_eq!(
        mistakes("matrix 1\nmartix 2"),
        ["2: there is no stressor or option martix; did you mean matrix?"]
    );
    assert_eq!(mistakes("matrix 1\nbogus 1"), ["2: there is no stressor or option bogus"]);
    assert_eq!(
        mistakes("matrix 1\nmatrix-metod add"),
        ["2: matrix has no option metod; did you mean method?"]
    );
    assert_eq!(
        mistakes("matrix 1\nmatrix-method sub"),
        ["2: matrix-method: \"sub\" is not one of all, add, trans"]
    );
    assert_eq!(mistakes("vm 1\nvm-bytes 1k"), ["2: vm-bytes: \"1k\" is not a size from 4K to 1T"]);
    assert_eq!(mistakes("vm-bytes 1G\nvm 1"), ["1: vm-bytes stands before vm, to which it belongs"]);
    assert_eq!(mistakes("vm"), ["1: vm wants its number of workers: vm 4, or vm 0 for one on each CPU"]);
    assert_eq!(mistakes("vm 1 2"), ["1: \"2\" is too much: a line has an option and a value"]);
    assert_eq!(mistakes("run backwards\nvm 1"), ["1: run backwards: write sequential or parallel"]);
    assert_eq!(mistakes("run parallel\nvm 1\nrun sequential"), ["3: run is parallel already"]);
    assert_eq!(mistakes("maximize\nminimize\nvm 1"), ["1: maximize and minimize exclude each other"]);
    assert_eq!(mistakes("class vn\nall 1"), ["1: there is no class vn; did you mean vm?"]);
    assert_eq!(mistakes("sched deadline\nvm 1"), ["1: sched deadline wants sched-runtime, in nanoseconds"]);
    assert_eq!(mistakes("vm 1\njob other.job"), ["2: a job file cannot name another one"]);
    assert_eq!(mistakes("# nothing"), ["1: it names no stressor"]);
    assert_eq!(
        parse(b"vm 1\n\xff\xfe", &catalogue()).mistakes[0].in_file("a.job"),
        "a.job:2: this is no text"
    );
}

#[test]
fn a_command_line_goes_before_its_job_file() {
    let job = parse_with(b"run sequential\ntimeout 1m\nvm 1", "timeout 2s\nmatrix 2\n", &catalogue());
    assert_eq!(job.mistakes, []);
    assert_eq!((job.request.mode, job.request.timeout_ms), (Mode::Sequential, Some(2000)));
    assert_eq!(job.request.instances, [instance("vm", 1, &[]), instance("matrix", 2, &[])]);
    let twice = parse_with(b"vm 1\ntimeout 1m", "timeout 2s\ntimeout 3s", &catalogue());
    assert_eq!(twice.mistakes[0].to_string(), "4: timeout is 2s already");
}

#[test]
fn a_stressor_of_another_program_can_be_told_from_a_slip() {
    let job = read("cpu-online 0\nvm-splice 1\nvm 1\nvm-bytes 1\njob other.job\n");
    let unknown: Vec<bool> = job.mistakes.iter().map(|mistake| mistake.is_unknown_stressor).collect();
    assert_eq!(unknown, [true, true, false, false]);
    assert_eq!(job.request.instances, [instance("vm", 1, &[])], "what is right is kept");
}

#[test]
fn mistakes_and_files_have_an_end() {
    assert_eq!(read(&"bogus 1\n".repeat(1000)).mistakes.len(), MISTAKES_MAX);
    assert_eq!(mistakes(&"#".repeat(FILE_MAX + 1)), ["1: 1048577 bytes, at most 1048576"]);
}

fn any_scheduler() -> impl Strategy<Value = Scheduler> {
    prop_oneof![
        Just(Scheduler::Other),
        Just(Scheduler::Batch),
        Just(Scheduler::Idle),
        (1..=99_u8).prop_map(Scheduler::Fifo),
        (1..=99_u8).prop_map(Scheduler::Rr),
        any::<(u64, u64, u64)>().prop_map(|(runtime_ns, deadline_ns, period_ns)| Scheduler::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns
        }),
    ]
}

fn any_instance() -> impl Strategy<Value = Instance> {
    let bytes =
        prop_oneof![Just("25%".to_string()), (4096..=1_u64 << 40).prop_map(|bytes| bytes.to_string())];
    let options = prop_oneof![
        Just(("matrix", BTreeMap::new())),
        Just((
            "matrix",
            BTreeMap::from([("method".to_string(), "add".to_string()), ("yx".to_string(), String::new())])
        )),
        Just(("nice", BTreeMap::new())),
        bytes.prop_map(|bytes| ("vm-addr", BTreeMap::from([("bytes".to_string(), bytes)]))),
    ];
    (options, any::<u32>(), any::<Option<u64>>()).prop_map(|((name, options), workers, operations)| {
        Instance { stressor: name.to_string(), workers, options, operations }
    })
}

fn any_request() -> impl Strategy<Value = StressRequest> {
    let extreme = prop_oneof![Just(None), Just(Some(Extreme::Maximize)), Just(Some(Extreme::Minimize))];
    let mode = prop_oneof![Just(Mode::Parallel), Just(Mode::Sequential)];
    let cpus = proptest::collection::btree_set(0..8192_u32, 0..20);
    let placement = (cpus, proptest::option::of(any_scheduler()), proptest::option::of(-20..=19));
    let times = (proptest::option::of(0..1_u64 << 50), 0..1_u64 << 50);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<u64>());
    (proptest::collection::vec(any_instance(), 1..8), mode, extreme, placement, times, flags).prop_map(
        |(
            instances,
            mode,
            extreme,
            (cpus, scheduler, nice),
            (timeout_ms, grace_ms),
            (verify, thermal, coverage, seed),
        )| {
            let cpus = cpus.into_iter().collect();
            StressRequest {
                instances,
                mode,
                timeout_ms,
                grace_ms,
                verify,
                extreme,
                cpus,
                scheduler,
                nice,
                thermal,
                coverage,
                seed,
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(request in any_request()) {
        let text = write(&request);
        prop_assert_eq!(read(&text), Job { request, mistakes: Vec::new() }, "{}", text);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let _ = parse(&bytes, &catalogue());
    }

    #[test]
    fn any_words_are_read_without_panic(
        words in proptest::collection::vec("(run|timeout|vm|vm-addr|matrix|bytes|method|class|sched|[0-9]{1,9}[a-z%]?|[ \n#,-])", 0..60)
    ) {
        let job = read(&words.concat());
        prop_assert!(job.mistakes.len() <= MISTAKES_MAX);
    }
}
