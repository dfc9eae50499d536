/* How often functions of the kernel are called. */

#include "watch.h"

#if defined(__TARGET_ARCH_x86_64)
struct registers {
	u64 others[16];
	u64 ip;
};
#elif defined(__TARGET_ARCH_aarch64)
struct registers {
	u64 others[32];
	u64 ip;
};
#endif

struct {
	NUMBER(type, PERCPU_HASH);
	NUMBER(max_entries, 4096);
	TYPE(key, u64);
	TYPE(value, u64);
} calls SEC(".maps");

SEC("kprobe")
int called(struct registers *registers)
{
	u64 ip = registers->ip;
	u64 none = 0;
	u64 *count;

	if (!is_watched())
		return 0;
	count = element(&calls, &ip, &none);
	if (count)
		*count += 1;
	return 0;
}
