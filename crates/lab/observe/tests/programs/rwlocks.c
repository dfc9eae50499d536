/* Two threads have a lock for writing, and want that of the other: one to read, one to write. A third one wants to write, too. With an
 * argument other processes may share the locks. */
#include <pthread.h>

static pthread_rwlock_t a, b;
static pthread_barrier_t all;

static void *ab(void *unused)
{
	pthread_rwlock_wrlock(&a);
	pthread_barrier_wait(&all);
	pthread_rwlock_rdlock(&b);
	return unused;
}

static void *ba(void *unused)
{
	pthread_rwlock_wrlock(&b);
	pthread_barrier_wait(&all);
	pthread_rwlock_wrlock(&a);
	return unused;
}

static void *other(void *unused)
{
	pthread_barrier_wait(&all);
	pthread_rwlock_wrlock(&b);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_rwlockattr_t kind;
	pthread_t first, second, third;

	(void)argv;
	pthread_rwlockattr_init(&kind);
	if (argc > 1)
		pthread_rwlockattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&a, &kind);
	pthread_rwlock_init(&b, &kind);
	pthread_barrier_init(&all, 0, 3);
	pthread_create(&first, 0, ab, 0);
	pthread_create(&second, 0, ba, 0);
	pthread_create(&third, 0, other, 0);
	pthread_join(first, 0);
	return 0;
}
