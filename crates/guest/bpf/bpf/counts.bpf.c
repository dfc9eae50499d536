/*
 * What each thread or process had of some events of perf: at each switch, what the counters of the CPU have come to since the
 * last one is that of the thread that leaves.
 *
 * The kernel counts a switch once this program has run, for the thread that comes: each comes as often as it leaves.
 */

#include "watch.h"

#define CURRENT_CPU 0xffffffffULL
#define EVENTS 32

/* The place of each event has counters of its own, one for each CPU. */
#define EACH(DO) \
	DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) \
	DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) \
	DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23) \
	DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31)

/* The loader makes each as large as there are CPUs. */
#define COUNTERS(n) \
	struct { \
		NUMBER(type, PERF_EVENT_ARRAY); \
		NUMBER(key_size, sizeof(u32)); \
		NUMBER(value_size, sizeof(u32)); \
	} counters_##n SEC(".maps");

EACH(COUNTERS)

/* How many of them there are. */
volatile const u32 events;

/* Whether each thread counts by itself, and not for its process. */
volatile const u32 threads;

struct task {
	u32 pid;
	u32 tid;
};

struct counts {
	u64 of[EVENTS];
};

struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct counts);
} at_last_switch SEC(".maps");

struct {
	NUMBER(type, PERCPU_HASH);
	NUMBER(max_entries, 4096);
	TYPE(key, struct task);
	TYPE(value, struct counts);
} tasks SEC(".maps");

/* Errors are the highest numbers. */
static int is_error(u64 count)
{
	return count > -4096ULL;
}

#define TAKE(n) \
	if (n < events) { \
		u64 now = perf_event_read(&counters_##n, CURRENT_CPU); \
		if (!is_error(now)) { \
			if (had) \
				had->of[n] += now - last->of[n]; \
			last->of[n] = now; \
		} \
	}

/* sched_switch, in the task that leaves. */
SEC("raw_tracepoint")
int switched(void *arguments)
{
	struct counts none = {}, *had = 0, *last;
	struct task leaves;
	u32 first = 0;

	last = map_lookup(&at_last_switch, &first);
	if (!last)
		return 0;
	leaves.pid = current_process();
	leaves.tid = threads ? (u32)get_current_pid_tgid() : leaves.pid;
	if (is_watched())
		had = element(&tasks, &leaves, &none);
	EACH(TAKE)
	return 0;
}
