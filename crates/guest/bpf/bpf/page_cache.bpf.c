/* How processes use the page cache. */

#include "watch.h"

struct numbers {
	u64 accessed;
	u64 added;
	u64 dirtied;
	u64 buffers_dirtied;
	char comm[COMM];
};

struct {
	NUMBER(type, PERCPU_HASH);
	NUMBER(max_entries, 8192);
	TYPE(key, u32);
	TYPE(value, struct numbers);
} processes SEC(".maps");

static struct numbers *of_current(void)
{
	u32 process = current_process();
	struct numbers none = {};
	struct numbers *found;

	if (!is_watched())
		return 0;
	found = element(&processes, &process, &none);
	if (found)
		get_current_comm(found->comm, sizeof(found->comm));
	return found;
}

#define COUNT(what, section)                              \
	SEC(section)                                      \
	int what##_now(void *event)                       \
	{                                                 \
		struct numbers *numbers = of_current();   \
		if (numbers)                              \
			numbers->what += 1;               \
		return 0;                                 \
	}

/* folio_mark_accessed() */
COUNT(accessed, "kprobe")
/* filemap:mm_filemap_add_to_page_cache */
COUNT(added, "tracepoint")
/* writeback:writeback_dirty_folio */
COUNT(dirtied, "tracepoint")
/* mark_buffer_dirty() */
COUNT(buffers_dirtied, "kprobe")
