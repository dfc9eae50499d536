/*
 * Prints what the clocks show to a process: the seconds of the monotonic, boot and real time, the nanoseconds of reading
 * the monotonic time by way of the vDSO and by a system call, and those of a sleep up to 10 ms from now.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS 20000
#define SLEEP_NS 10000000

static long long nanoseconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long cost(int (*read)(clockid_t, struct timespec *))
{
	long long start = nanoseconds(CLOCK_MONOTONIC);
	struct timespec time;
	int i;

	for (i = 0; i < CALLS; i++)
		read(CLOCK_MONOTONIC, &time);
	return (nanoseconds(CLOCK_MONOTONIC) - start) / CALLS;
}

static int by_system_call(clockid_t clock, struct timespec *time)
{
	return syscall(SYS_clock_gettime, clock, time);
}

/* The end is a time of this process's own clock, which the kernel must convert. */
static long long sleep_until(void)
{
	long long start = nanoseconds(CLOCK_MONOTONIC), end = start + SLEEP_NS;
	struct timespec time = { end / 1000000000, end % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
	return nanoseconds(CLOCK_MONOTONIC) - start;
}

int main(void)
{
	printf("%lld %lld %lld %lld %lld %lld\n", nanoseconds(CLOCK_MONOTONIC) / 1000000000,
	       nanoseconds(CLOCK_BOOTTIME) / 1000000000, nanoseconds(CLOCK_REALTIME) / 1000000000, cost(clock_gettime),
	       cost(by_system_call), sleep_until());
	return 0;
}
