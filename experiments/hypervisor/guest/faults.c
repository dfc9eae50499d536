/*
 * Decides what a page of another memory shows, as a kernel in user space must for its processes:
 *
 *     faults WAY COUNT
 *
 * Each page of the memory has its own number in it. A window shows it from the end to the beginning, if the way can place
 * pages, and each page is decided on when it is first touched, or written to. Prints the pages that are right, the mappings
 * and the KiB of page tables that this made, the nanoseconds, and the error that ended it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIZE 4096L

/* Linux 6.8; the headers may be older. */
#ifndef UFFDIO_MOVE
#define UFFD_FEATURE_MOVE (1 << 16)
struct uffdio_move {
	__u64 dst, src, len, mode;
	__s64 move;
};
#define UFFDIO_MOVE _IOWR(UFFDIO, 0x05, struct uffdio_move)
#endif

static long pages;
static int file, userfault;
static char *memory;
static char *window;
static int (*resolve)(long page);
static struct {
	long right, mappings, tables, start;
} count;

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static long mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	long lines = 0;
	int c;

	while ((c = getc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

static long tables(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	long kib = 0;

	while (fgets(line, sizeof(line), status))
		sscanf(line, "VmPTE: %ld", &kib);
	fclose(status);
	return kib;
}

static void begin(void)
{
	count.mappings = mappings();
	count.tables = tables();
	count.start = now();
}

static void end(const char *error)
{
	long time = now() - count.start;

	printf("%ld %ld %ld %ld %s\n", count.right, mappings() - count.mappings, tables() - count.tables, time, error);
	fflush(stdout);
	_exit(0);
}

static void need(int holds)
{
	if (!holds)
		end(strerrorname_np(errno));
}

static char *map(int protection, int flags)
{
	void *address = mmap(NULL, pages * SIZE, protection, flags, flags & MAP_ANONYMOUS ? -1 : file, 0);

	need(address != MAP_FAILED);
	return address;
}

static long reversed(long page)
{
	return pages - 1 - page;
}

static int by_mmap(long page)
{
	return mmap(window + page * SIZE, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
		    reversed(page) * SIZE) == MAP_FAILED;
}

static int by_mprotect(long page)
{
	return mprotect(window + page * SIZE, SIZE, PROT_READ | PROT_WRITE);
}

static int by_copy(long page)
{
	struct uffdio_copy copy = {
		.dst = (long)window + page * SIZE, .src = (long)memory + reversed(page) * SIZE, .len = SIZE,
	};

	return ioctl(userfault, UFFDIO_COPY, &copy);
}

static int by_move(long page)
{
	struct uffdio_move move = {
		.dst = (long)window + page * SIZE, .src = (long)memory + reversed(page) * SIZE, .len = SIZE,
	};

	return ioctl(userfault, UFFDIO_MOVE, &move);
}

static int by_continue(long page)
{
	struct uffdio_continue go = { .range = { (long)window + page * SIZE, SIZE } };

	return ioctl(userfault, UFFDIO_CONTINUE, &go);
}

static int by_wp(long page)
{
	struct uffdio_writeprotect lift = { .range = { (long)window + page * SIZE, SIZE } };

	return ioctl(userfault, UFFDIO_WRITEPROTECT, &lift);
}

static const struct way {
	const char *name;
	int (*resolve)(long page);
	int writes;
	int mode;		/* of userfaultfd */
	long features;
} ways[] = {
	{ "mmap", by_mmap },
	{ "remap_file_pages" },
	{ "mprotect", by_mprotect, 1 },
	{ "copy", by_copy, 0, UFFDIO_REGISTER_MODE_MISSING },
	{ "move", by_move, 0, UFFDIO_REGISTER_MODE_MISSING, UFFD_FEATURE_MOVE },
	{ "continue", by_continue, 0, UFFDIO_REGISTER_MODE_MINOR, UFFD_FEATURE_MINOR_SHMEM },
	{ "wp", by_wp, 1, UFFDIO_REGISTER_MODE_WP, UFFD_FEATURE_PAGEFAULT_FLAG_WP },
};

static void on_signal(int signal, siginfo_t *info, void *context)
{
	need(resolve(((char *)info->si_addr - window) / SIZE) == 0);
}

static void *serve(void *unused)
{
	struct uffd_msg message;

	while (read(userfault, &message, sizeof(message)) == sizeof(message))
		need(resolve((message.arg.pagefault.address - (long)window) / SIZE) == 0);
	return NULL;
}

static void watch(const struct way *way)
{
	struct uffdio_api api = { .api = UFFD_API, .features = way->features };
	struct uffdio_register area = { .range = { (long)window, pages * SIZE }, .mode = way->mode };
	struct uffdio_writeprotect protect = { .range = area.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	pthread_t thread;

	userfault = syscall(SYS_userfaultfd, O_CLOEXEC);
	need(userfault >= 0);
	need(ioctl(userfault, UFFDIO_API, &api) == 0);
	need(ioctl(userfault, UFFDIO_REGISTER, &area) == 0);
	if (way->mode == UFFDIO_REGISTER_MODE_WP)
		need(ioctl(userfault, UFFDIO_WRITEPROTECT, &protect) == 0);
	need(pthread_create(&thread, NULL, serve, NULL) == 0);
}

static void number(char *area)
{
	long page;

	for (page = 0; page < pages; page++)
		*(volatile long *)(area + page * SIZE) = page;
}

/* What is there before the first fault. */
static void prepare(const struct way *way)
{
	int private = way->mode & (UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP);
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	file = memfd_create("memory", 0);
	need(file >= 0 && ftruncate(file, pages * SIZE) == 0);
	memory = way->mode == UFFDIO_REGISTER_MODE_MISSING ? map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
							    : map(PROT_READ | PROT_WRITE, MAP_SHARED);
	number(memory);
	if (private)
		window = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	else if (way->resolve == by_mmap)
		window = map(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
	else
		window = map(way->resolve == by_mprotect ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED);
	if (way->mode == UFFDIO_REGISTER_MODE_WP)
		number(window);
	sigaction(SIGSEGV, &action, NULL);
	resolve = way->resolve;
	if (way->mode)
		watch(way);
}

static int is_right(const struct way *way, long page)
{
	volatile long *shown = (long *)(window + page * SIZE);
	int places = !way->writes && way->resolve != by_continue;

	if (!way->resolve)
		need(remap_file_pages((void *)shown, SIZE, 0, reversed(page), 0) == 0);
	if (*shown != (places ? reversed(page) : page))
		return 0;
	if (way->writes)
		*shown = -1;
	return !way->writes || *shown == -1;
}

int main(int words, char **word)
{
	const struct way *way = ways;
	long page, stride;

	if (words != 3)
		return 2;
	while (strcmp(way->name, word[1]) != 0)
		if (++way == ways + sizeof(ways) / sizeof(ways[0]))
			return 2;
	/* Neighbours with the same protection would become one mapping. */
	stride = way->resolve == by_mprotect ? 2 : 1;
	pages = atol(word[2]) * stride;
	prepare(way);
	begin();
	for (page = 0; page < pages; page += stride)
		count.right += is_right(way, page);
	end("-");
}
