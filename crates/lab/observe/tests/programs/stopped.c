/* A child stops itself; its parent sees that and lets it go on. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int status, child = fork();

	if (child == 0) {
		raise(SIGSTOP);
		return 5;
	}
	if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
		return 1;
	kill(child, SIGCONT);
	if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5)
		return 2;
	return 0;
}
