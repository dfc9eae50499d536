/* What is allocated from each cache of the slab allocator. */

#include "watch.h"

#define NAME 32

struct kmem_cache {
	const char *name;
	u32 size;
} __attribute__((preserve_access_index));

struct cache {
	char name[NAME];
};

struct allocated {
	u64 objects;
	u64 bytes;
};

struct {
	NUMBER(type, PERCPU_HASH);
	NUMBER(max_entries, 4096);
	TYPE(key, struct cache);
	TYPE(value, struct allocated);
} caches SEC(".maps");

/* Where kmem:kmalloc has how much it gave. */
volatile const u32 kmalloc_bytes;

static void add(struct cache *cache, u64 bytes)
{
	struct allocated none = {};
	struct allocated *sum = element(&caches, cache, &none);

	if (!sum)
		return;
	sum->objects += 1;
	sum->bytes += bytes;
}

/* kmem:kmem_cache_alloc as it is raised: the third argument is the cache. */
SEC("raw_tp")
int allocate(u64 *arguments)
{
	struct kmem_cache *cache = (struct kmem_cache *)arguments[2];
	struct cache key = {};
	const char *name = 0;
	u32 size = 0;

	if (!is_watched())
		return 0;
	probe_read_kernel(&name, sizeof(name), FIELD(cache, name));
	probe_read_kernel(&size, sizeof(size), FIELD(cache, size));
	probe_read_kernel_str(key.name, sizeof(key.name), name);
	add(&key, size);
	return 0;
}

/* kmem:kmalloc, which does not name its cache: an empty name with the size of its objects. */
SEC("tracepoint")
int allocate_bytes(void *event)
{
	struct cache key = {};
	u64 bytes = 0;

	if (!is_watched())
		return 0;
	probe_read_kernel(&bytes, sizeof(bytes), event + kmalloc_bytes);
	*(u64 *)&key.name[8] = bytes;
	add(&key, bytes);
	return 0;
}
