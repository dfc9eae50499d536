/* Files that are opened: open(2), openat(2), openat2(2), creat(2). */

#include "watch.h"

#define PATH 256

/*
 * The registers of a system call, and the numbers of those that open.
 *
 * raw_syscalls is one tracepoint for all calls: the kernel waits for each tracepoint that it lets go of, and a call has two.
 */
#if defined(__TARGET_ARCH_x86_64)
enum { OPEN = 2, CREAT = 85, OPENAT = 257 };

struct registers {
	u64 others[13];
	u64 second;
	u64 first;
	u64 number;
	u64 ip;
	u64 mode;
};

/* __USER_CS. A program of 32 bits has other numbers. */
static int is_native(u64 mode)
{
	return mode == 0x33;
}
#elif defined(__TARGET_ARCH_aarch64)
/* It has neither open(2) nor creat(2). */
enum { OPEN = -1, CREAT = -1, OPENAT = 56 };

struct registers {
	u64 first;
	u64 second;
	u64 others[31];
	u64 mode;
	u64 kept_first;
	u64 number;
};

/* PSR_MODE32_BIT. A program of 32 bits has other numbers. */
static int is_native(u64 mode)
{
	return !(mode & 0x10);
}
#endif

enum { OPENAT2 = 437 };

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

static int is_open(s32 number)
{
	return number == OPENAT || number == OPENAT2 || number == OPEN || number == CREAT;
}

/* raw_syscalls:sys_enter: the registers, and the number of the call. */
SEC("raw_tp")
int open_begins(u64 *arguments)
{
	struct registers *registers = (struct registers *)arguments[0];
	s32 number = arguments[1];
	int has_folder = number == OPENAT || number == OPENAT2;
	u32 thread = get_current_pid_tgid();
	struct begun now = {};
	u64 mode = 0;

	if (!is_open(number) || !is_watched())
		return 0;
	probe_read_kernel(&mode, sizeof(mode), &registers->mode);
	if (!is_native(mode))
		return 0;
	probe_read_kernel(&now.path, sizeof(now.path), has_folder ? &registers->second : &registers->first);
	now.time = ktime_get_ns();
	if (map_update(&begun, &thread, &now, 0))
		count_lost();
	return 0;
}

/* raw_syscalls:sys_exit: the registers, and the result. Only now the kernel has read the path, so that no page of it is missing. */
SEC("raw_tp")
int open_ends(u64 *arguments)
{
	struct registers *registers = (struct registers *)arguments[0];
	s64 result = arguments[1];
	u64 both = get_current_pid_tgid();
	u32 thread = both;
	struct begun *from;
	struct open *open;
	s32 number = 0;

	probe_read_kernel(&number, sizeof(number), &registers->number);
	if (!is_open(number))
		return 0;
	from = map_lookup(&begun, &thread);
	if (!from)
		return 0;
	if (failed_only && result >= 0)
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
	open->result = result;
	get_current_comm(open->comm, sizeof(open->comm));
	if (probe_read_user_str(open->path, sizeof(open->path), from->path) < 0)
		open->path[0] = 0;
	ringbuf_submit(open, 0);
forget:
	map_delete(&begun, &thread);
	return 0;
}
