/* What every program here needs of BPF: bpf-helpers(7), Documentation/bpf/. */

#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))

/* A map is described by its BTF: pointers to arrays of so many elements, and to types. */
#define NUMBER(name, value) int (*name)[value]
#define TYPE(name, of) of *name

enum { HASH = 1, PERF_EVENT_ARRAY = 4, PERCPU_HASH = 5, PERCPU_ARRAY = 6, STACK_TRACE = 7, LRU_HASH = 9, RINGBUF = 27 };

static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*map_delete)(void *map, const void *key) = (void *)3;
static u64 (*ktime_get_ns)(void) = (void *)5;
static u32 (*get_cpu)(void) = (void *)8;
static u64 (*get_current_pid_tgid)(void) = (void *)14;
static long (*get_current_comm)(void *into, u32 size) = (void *)16;
static u64 (*perf_event_read)(void *map, u64 cpu) = (void *)22;
static long (*get_stackid)(void *context, void *map, u64 flags) = (void *)27;
static long (*probe_read_kernel)(void *into, u32 size, const void *from) = (void *)113;
static long (*probe_read_user_str)(void *into, u32 size, const void *from) = (void *)114;
static long (*probe_read_kernel_str)(void *into, u32 size, const void *from) = (void *)115;
static void *(*ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*ringbuf_submit)(void *data, u64 flags) = (void *)132;

/* The field of a structure of the running kernel, wherever that has it: its place comes from the kernel's BTF. */
#define FIELD(from, field) __builtin_preserve_access_index(&(from)->field)

/* TASK_COMM_LEN */
#define COMM 16

/* Helpers that read memory are for programs that say so. */
char terms[] SEC("license") = "Dual MIT/GPL";

/* What there was no room for. */
struct {
	NUMBER(type, PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, u64);
} lost SEC(".maps");

static void count_lost(void)
{
	u32 first = 0;
	u64 *count = map_lookup(&lost, &first);

	if (count)
		*count += 1;
}

/* The element of a map that has one for each CPU, made of zeros if there was none. */
static void *element(void *map, const void *key, const void *zeros)
{
	void *found = map_lookup(map, key);

	if (found)
		return found;
	/* Another CPU may make it at the same moment: that is as good. */
	map_update(map, key, zeros, 0);
	found = map_lookup(map, key);
	if (!found)
		count_lost();
	return found;
}
