/* Two threads take two mutexes in opposite order; a third one joins the first. With an argument they are robust. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t a, b;
static pthread_barrier_t both;
static pthread_t first;

static void *ab(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&a);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&b);
	return 0;
}

static void *ba(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&b);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&a);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t kind;
	pthread_t second;

	(void)argv;
	pthread_mutexattr_init(&kind);
	if (argc > 1)
		pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&a, &kind);
	pthread_mutex_init(&b, &kind);
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&first, 0, ab, 0);
	pthread_create(&second, 0, ba, 0);
	pthread_join(first, 0);
	return 0;
}
