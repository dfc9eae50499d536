/* Waits for locks of the kernel. */

#include "watch.h"

/* Frames of a stack: those of the lock's own functions, and the caller. */
#define FRAMES 16

struct waiter {
	u64 lock;
	/* A thread; the idle tasks have one number: there it is the CPU, behind all threads. */
	u64 who;
};

struct wait {
	u64 time;
	u32 flags;
	s32 stack;
};

struct place {
	u64 lock;
	u32 flags;
	s32 stack;
};

struct waits {
	u64 count;
	u64 total;
	u64 longest;
};

struct stack {
	u64 frames[FRAMES];
};

struct {
	/* A thread that is killed in the middle leaves its element. */
	NUMBER(type, LRU_HASH);
	NUMBER(max_entries, 16384);
	TYPE(key, struct waiter);
	TYPE(value, struct wait);
} waiting SEC(".maps");

struct {
	NUMBER(type, PERCPU_HASH);
	NUMBER(max_entries, 16384);
	TYPE(key, struct place);
	TYPE(value, struct waits);
} places SEC(".maps");

struct {
	NUMBER(type, STACK_TRACE);
	NUMBER(max_entries, 16384);
	TYPE(key, u32);
	TYPE(value, struct stack);
} stacks SEC(".maps");

/* Where the events have their fields. */
volatile const u32 begin_lock;
volatile const u32 begin_flags;
volatile const u32 end_lock;

static struct waiter current_waiter(void *lock)
{
	struct waiter waiter = { .who = (u32)get_current_pid_tgid() };

	probe_read_kernel(&waiter.lock, sizeof(waiter.lock), lock);
	if (!waiter.who)
		waiter.who = ((u64)1 << 32) + get_cpu();
	return waiter;
}

/* lock:contention_begin. As a raw tracepoint it would have no stack. */
SEC("tracepoint")
int begin(void *event)
{
	struct waiter waiter;
	struct wait now = {};
	struct wait *known;

	if (!is_watched())
		return 0;
	waiter = current_waiter(event + begin_lock);
	probe_read_kernel(&now.flags, sizeof(now.flags), event + begin_flags);
	/* A mutex is spun for first, and then waited for: both begin, and end once. */
	known = map_lookup(&waiting, &waiter);
	if (known) {
		known->flags = now.flags;
		return 0;
	}
	now.time = ktime_get_ns();
	now.stack = get_stackid(event, &stacks, 0);
	if (map_update(&waiting, &waiter, &now, 0))
		count_lost();
	return 0;
}

/* lock:contention_end */
SEC("tracepoint")
int end(void *event)
{
	struct waiter waiter = current_waiter(event + end_lock);
	struct wait *wait = map_lookup(&waiting, &waiter);
	struct place place = { .lock = waiter.lock };
	struct waits none = {};
	struct waits *waits;
	u64 elapsed;

	if (!wait)
		return 0;
	elapsed = ktime_get_ns() - wait->time;
	place.flags = wait->flags;
	place.stack = wait->stack;
	map_delete(&waiting, &waiter);
	waits = element(&places, &place, &none);
	if (!waits)
		return 0;
	waits->count += 1;
	waits->total += elapsed;
	if (elapsed > waits->longest)
		waits->longest = elapsed;
	return 0;
}
