/*
 * Which processes are watched: a program with all that it starts, or everything.
 *
 * The tracepoints have the same fields in all kernels, at other places: the loader reads these from tracefs.
 */

#pragma once

#include "kiln.h"

#define CLONE_THREAD 0x10000

volatile const u32 everything;
volatile const u32 new_task_pid;
volatile const u32 new_task_flags;
volatile const u32 freed_task_pid;

struct {
	NUMBER(type, HASH);
	NUMBER(max_entries, 65536);
	TYPE(key, u32);
	TYPE(value, u8);
} watched SEC(".maps");

static u32 current_process(void)
{
	return get_current_pid_tgid() >> 32;
}

static int is_watched(void)
{
	u32 process = current_process();

	return everything || map_lookup(&watched, &process);
}

static u64 new_task_flags_of(void *event)
{
	u64 flags = 0;

	probe_read_kernel(&flags, sizeof(flags), event + new_task_flags);
	return flags;
}

/* task:task_newtask, in the parent. */
SEC("tracepoint")
int watch_child(void *event)
{
	u32 child = 0;
	u8 yes = 1;

	if (everything || !is_watched() || (new_task_flags_of(event) & CLONE_THREAD))
		return 0;
	probe_read_kernel(&child, sizeof(child), event + new_task_pid);
	if (map_update(&watched, &child, &yes, 0))
		count_lost();
	return 0;
}

/* sched:sched_process_free, once nothing is left of a thread; a process has the number of its first one, the last to go. */
SEC("tracepoint")
int forget_process(void *event)
{
	u32 task = 0;

	probe_read_kernel(&task, sizeof(task), event + freed_task_pid);
	map_delete(&watched, &task);
	return 0;
}
