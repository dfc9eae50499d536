/* Files that are opened: open(2), openat(2), openat2(2), creat(2). */

#include "watch.h"

#define PATH 256

struct enter {
	u64 common;
	s64 number;
	u64 arguments[6];
};

struct leave {
	u64 common;
	s64 number;
	s64 result;
};

struct begun {
	u64 time;
	const char *path;
};

struct open {
	u64 time;
	u64 elapsed;
	u32 pid;
	u32 tid;
	s32 result;
	char comm[COMM];
	char path[PATH];
};

struct {
	/* A thread that is killed in the middle leaves its element. */
	NUMBER(type, LRU_HASH);
	NUMBER(max_entries, 16384);
	TYPE(key, u32);
	TYPE(value, struct begun);
} begun SEC(".maps");

struct {
	NUMBER(type, RINGBUF);
	NUMBER(max_entries, 4 << 20);
} opens SEC(".maps");

volatile const u32 failed_only;

static int begin(const char *path)
{
	u32 thread = get_current_pid_tgid();
	struct begun now = { .time = ktime_get_ns(), .path = path };

	if (is_watched() && map_update(&begun, &thread, &now, 0))
		count_lost();
	return 0;
}

SEC("tracepoint")
int open_path(struct enter *event)
{
	return begin((const char *)event->arguments[0]);
}

SEC("tracepoint")
int open_path_at(struct enter *event)
{
	return begin((const char *)event->arguments[1]);
}

/* Only now the kernel has read the path, so that no page of it is missing. */
SEC("tracepoint")
int opened(struct leave *event)
{
	u64 both = get_current_pid_tgid();
	u32 thread = both;
	struct begun *from = map_lookup(&begun, &thread);
	struct open *open;

	if (!from)
		return 0;
	if (failed_only && event->result >= 0)
		goto forget;
	open = ringbuf_reserve(&opens, sizeof(*open), 0);
	if (!open) {
		count_lost();
		goto forget;
	}
	open->time = from->time;
	open->elapsed = ktime_get_ns() - from->time;
	open->pid = both >> 32;
	open->tid = thread;
	open->result = event->result;
	get_current_comm(open->comm, sizeof(open->comm));
	if (probe_read_user_str(open->path, sizeof(open->path), from->path) < 0)
		open->path[0] = 0;
	ringbuf_submit(open, 0);
forget:
	map_delete(&begun, &thread);
	return 0;
}
