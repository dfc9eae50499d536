/* Crashes three calls deep, in an inlined one. */
#include <stdlib.h>

static inline __attribute__((always_inline)) int load(volatile int *place)
{
	return *place; /* the crash */
}

static __attribute__((noinline)) int middle(volatile int *place)
{
	return load(place) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return middle((volatile int *)(long)(argc - 1)) + rand();
}
