/* Two processes make 300 children each, one of which makes a thread; argument: how the children exit. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	int code = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread;

	int second = fork();
	for (int i = 0; i < 300; i++) {
		int child = fork();
		if (child == 0)
			_exit(code);
		waitpid(child, 0, 0);
	}
	if (second == 0) {
		pthread_create(&thread, 0, nothing, 0);
		pthread_join(thread, 0);
		return 0;
	}
	wait(0);
	return 7;
}
