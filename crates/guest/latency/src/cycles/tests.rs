use protocol::latency::{LatencyRequest, Method, Policy};

use super::*;
use crate::allocations;

const HOUR: u64 = 3_600_000_000_000;

/// What is recorded of the cycles of a request, whose first deadline is so many nanoseconds before or after now.
fn recorded(
    request: &LatencyRequest,
    first: i64,
    samples: u64,
    limit: Option<u64>,
) -> (Recorder, Option<Late>) {
    let (shared, recorder) = (Shared::new(request, None), Recorder::new());
    let alarm = Alarm::new(request.method, request.clock, &shared.stopped).expect("no timer is needed");
    let now = clock::now(request.clock);
    let (first, interval) = (now.saturating_add_signed(first), request.interval_ns);
    let span = Span { start: now - HOUR, first, end: now + 2 * HOUR, interval, samples, limit };
    Cycles::new(&shared, &alarm, &recorder, span).run();
    (recorder, shared.late.get().copied())
}

/// By the realtime clock: the others begin when the host boots, which may have been less than an hour ago.
fn request(method: Method) -> LatencyRequest {
    let clock = Clock::Realtime;
    LatencyRequest { policy: Policy::Other, priority: 0, clock, method, ..LatencyRequest::default() }
}

#[test]
fn each_deadline_that_was_missed_has_its_own_latency() {
    let request = request(Method::ClockNanosleep);
    let interval = i64::try_from(request.interval_ns).expect("it is small");
    let (recorder, _) = recorded(&request, -10 * interval, 5, None);
    let latencies = recorder.latencies();
    let counts = (latencies.count(), recorder.late_cycles.get(), recorder.unmeasured.get());
    assert_eq!(counts, (5, 1, 0));
    assert_eq!(latencies.maximum - latencies.minimum, 4 * request.interval_ns);
    assert!(latencies.minimum >= 6 * request.interval_ns, "{latencies:?}");
}

#[test]
fn a_sleep_from_now_on_is_late_but_once() {
    let request = LatencyRequest { relative: true, ..request(Method::ClockNanosleep) };
    let (recorder, _) = recorded(&request, -10_000_000, 3, None);
    assert_eq!((recorder.latencies().count(), recorder.unmeasured.get()), (3, 0));
}

#[test]
fn a_leap_of_the_clock_is_not_caught_up_for_hours() {
    let request = LatencyRequest { interval_ns: 1_000, ..request(Method::Poll) };
    let (recorder, _) =
        recorded(&request, -i64::try_from(HOUR / 2).expect("it is small"), CATCH_UP_MAX + 1, None);
    assert_eq!(recorder.latencies().count(), CATCH_UP_MAX + 1);
    let (recorder, _) =
        recorded(&request, -i64::try_from(HOUR / 2).expect("it is small"), CATCH_UP_MAX + 2, None);
    assert_eq!(recorder.latencies().count(), CATCH_UP_MAX + 2);
    assert!(recorder.unmeasured.get() > HOUR / 2 / 1_000 - 2 * CATCH_UP_MAX, "{}", recorder.unmeasured.get());
}

#[test]
fn a_clock_that_was_set_back_begins_anew() {
    let request = request(Method::Poll);
    let (recorder, _) = recorded(&request, i64::try_from(HOUR).expect("it is small"), 2, None);
    assert_eq!(recorder.early.get(), 1);
    assert!(recorder.earliest.get() > HOUR - 60_000_000_000);
    let latencies = recorder.latencies();
    assert!(latencies.count() == 2 && latencies.maximum < HOUR / 2, "{latencies:?}");
}

#[test]
fn the_first_latency_above_the_limit_ends_it() {
    let request = request(Method::Poll);
    let (recorder, late) = recorded(&request, -5_000_000, u64::MAX, Some(4_000_000));
    let late = late.expect("it was late by more");
    assert_eq!((recorder.latencies().count(), recorder.latencies().maximum), (1, late.latency_ns));
    assert!(late.latency_ns >= 5_000_000 && late.at_ns >= HOUR && late.woken_ns >= late.latency_ns);
}

#[test]
fn the_loop_allocates_nothing() {
    assert_eq!(allocations::count(|| drop(std::hint::black_box(vec![1]))), 2);
    for method in [Method::ClockNanosleep, Method::Nanosleep, Method::Poll] {
        let request = request(method);
        let (shared, recorder) = (Shared::new(&request, None), Recorder::new());
        let alarm = Alarm::new(method, request.clock, &shared.stopped).expect("no timer is needed");
        let now = clock::now(request.clock);
        let (first, interval) = (now - 3 * request.interval_ns, request.interval_ns);
        let span = Span { start: first, first, end: u64::MAX, interval, samples: 20, limit: Some(0) };
        // The latency above the limit, too, is recorded without.
        for limit in [None, Some(u64::MAX), Some(0)] {
            let cycles = Cycles::new(&shared, &alarm, &recorder, Span { limit, ..span });
            assert_eq!(allocations::count(|| cycles.run()), 0, "{method:?} {limit:?}");
        }
        assert_eq!(recorder.latencies().count(), 41, "{method:?}");
    }
}
