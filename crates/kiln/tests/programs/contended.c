/*
 * A thread waits for a lock of the kernel, once and for at least 20 ms: another one writes from a page that
 * nobody gives it, and holds the lock of the file meanwhile.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static int file;
static char *missing;
static volatile int waiter;

static void check(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static void *hold(void *unused)
{
	check(pwrite(file, missing, 1, 0) == 1, "pwrite");
	return unused;
}

static void *wait_for_it(void *unused)
{
	waiter = syscall(SYS_gettid);
	check(pwrite(file, "x", 1, 1) == 1, "pwrite");
	return unused;
}

/* In the kernel, where nothing but the lock wakes it. */
static int waits(void)
{
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", waiter);
	stat = fopen(path, "r");
	if (!stat)
		return 0;
	fscanf(stat, "%*d (%*[^)]) %c", &state);
	fclose(stat);
	return state == 'D';
}

int main(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage zero = { 0 };
	struct uffd_msg fault;
	pthread_t holder, other;
	int faults = syscall(SYS_userfaultfd, O_CLOEXEC);

	check(faults >= 0, "userfaultfd");
	file = memfd_create("contended", 0);
	check(file >= 0, "memfd_create");
	missing = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	area.range = (struct uffdio_range){ (unsigned long)missing, PAGE };
	zero.range = area.range;
	check(!ioctl(faults, UFFDIO_API, &api) && !ioctl(faults, UFFDIO_REGISTER, &area), "userfaultfd");

	pthread_create(&holder, 0, hold, 0);
	check(read(faults, &fault, sizeof(fault)) == sizeof(fault), "read");
	pthread_create(&other, 0, wait_for_it, 0);
	while (!waiter || !waits())
		usleep(1000);
	usleep(20000);
	check(!ioctl(faults, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");
	pthread_join(holder, 0);
	pthread_join(other, 0);
	return 3;
}
