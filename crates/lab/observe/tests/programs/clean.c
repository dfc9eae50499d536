/* Four threads take two mutexes and a reader-writer lock in the same order, again and again, until they are killed. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t c = PTHREAD_RWLOCK_INITIALIZER;
static volatile long count;

static void *work(void *unused)
{
	(void)unused;
	for (int turn = 0;; turn++) {
		if (turn % 4)
			pthread_rwlock_rdlock(&c);
		else
			pthread_rwlock_wrlock(&c);
		pthread_rwlock_unlock(&c);
		pthread_mutex_lock(&a);
		pthread_mutex_lock(&b);
		count++;
		pthread_mutex_unlock(&b);
		pthread_mutex_unlock(&a);
	}
	return 0;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, work, 0);
	pthread_join(threads[0], 0);
	return 0;
}
