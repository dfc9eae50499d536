/* Which programs make processes and threads, execute and end. */

#include "watch.h"

struct program {
	char comm[COMM];
};

struct numbers {
	u64 processes;
	u64 threads;
	u64 executed;
	u64 ended;
};

struct {
	NUMBER(type, PERCPU_HASH);
	NUMBER(max_entries, 4096);
	TYPE(key, struct program);
	TYPE(value, struct numbers);
} programs SEC(".maps");

static struct numbers *of_current(void)
{
	struct program program = {};
	struct numbers none = {};

	if (!is_watched())
		return 0;
	get_current_comm(program.comm, sizeof(program.comm));
	return element(&programs, &program, &none);
}

/* task:task_newtask */
SEC("tracepoint")
int new_task(void *event)
{
	struct numbers *numbers = of_current();

	if (!numbers)
		return 0;
	if (new_task_flags_of(event) & CLONE_THREAD)
		numbers->threads += 1;
	else
		numbers->processes += 1;
	return 0;
}

/* sched:sched_process_exec, with the new name. */
SEC("tracepoint")
int executed(void *event)
{
	struct numbers *numbers = of_current();

	if (numbers)
		numbers->executed += 1;
	return 0;
}

/* sched:sched_process_exit, of each thread. */
SEC("tracepoint")
int ended(void *event)
{
	struct numbers *numbers = of_current();

	if (numbers)
		numbers->ended += 1;
	return 0;
}
