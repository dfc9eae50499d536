/* Handles a thousand SIGSEGVs, as a runtime with a garbage collector does. */
#include <signal.h>
#include <sys/mman.h>

static char *page;

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, 0);
	for (int i = 0; i < 1000; i++) {
		mprotect(page, 4096, PROT_READ);
		*(volatile char *)page = 1;
	}
	return 0;
}
