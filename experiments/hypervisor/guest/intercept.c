/*
 * Intercepts a system call in one of the ways that the kernel offers, and counts what that takes:
 *
 *     intercept WAY CALLS
 *
 * A child calls getppid in a loop. It prints the calls that gave what the way makes of them, the context switches of both
 * processes, and the nanoseconds; or the step that the kernel refused, and its error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* What an intercepted getppid gives; no process has this number. */
#define ANSWER 99999999

/* Below all that the linker and the loader map, so that the rest of the program can be exempt from dispatch. */
#define PAGE ((unsigned char *)0x10000)

static const struct way {
	const char *name;
	unsigned int action;	/* of a seccomp filter */
	int request;		/* of ptrace, which runs up to the next stop */
} ways[] = {
	{ "native" },
	{ "allow", SECCOMP_RET_ALLOW },
	{ "errno", SECCOMP_RET_ERRNO | EPERM },
	{ "dispatch" },
	{ "trap", SECCOMP_RET_TRAP },
	{ "notify", SECCOMP_RET_USER_NOTIF },
	{ "sysemu", 0, PTRACE_SYSEMU },
	{ "trace", SECCOMP_RET_TRACE, PTRACE_CONT },
	{ "syscall", 0, PTRACE_SYSCALL },
};

static struct {
	int listener;
	long right;
	char refused[64];
} *shared;

static void need(int holds, const char *step)
{
	if (holds)
		return;
	/* If the child ends early, its own reason is there already. */
	if (!shared->refused[0])
		snprintf(shared->refused, sizeof(shared->refused), "%s: %s", step, strerrorname_np(errno));
	_exit(1);
}

static int is(const struct way *way, const char *name)
{
	return strcmp(way->name, name) == 0;
}

static void answer(int signal, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = ANSWER;
}

static void filter(unsigned int action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	int flags = action == SECCOMP_RET_USER_NOTIF ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;

	shared->listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	need(shared->listener >= 0, "seccomp");
}

/* A getppid on a page of its own. */
static long (*place_call(void))(void)
{
	static const unsigned char code[] = { 0xb8, SYS_getppid, 0, 0, 0, 0x0f, 0x05, 0xc3 };
	void *page = mmap(PAGE, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	need(page == PAGE, "mmap");
	memcpy(page, code, sizeof(code));
	return (long (*)(void))page;
}

static void child(const struct way *way, long calls)
{
	static char blocked = SYSCALL_DISPATCH_FILTER_BLOCK;
	struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO };
	long (*call)(void) = place_call();
	long wanted = is(way, "native") || is(way, "allow") ? getppid() : is(way, "errno") ? -EPERM : ANSWER;
	pid_t self = getpid();
	long i;

	sigaction(SIGSYS, &action, NULL);
	if (way->request)
		need(ptrace(PTRACE_TRACEME) == 0, "PTRACE_TRACEME");
	if (way->action)
		filter(way->action);
	if (is(way, "dispatch"))
		need(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, PAGE + 4096, 1UL << 47, &blocked) == 0,
		     "PR_SET_SYSCALL_USER_DISPATCH");
	syscall(SYS_kill, self, SIGSTOP);
	for (i = 0; i < calls; i++)
		shared->right += call() == wanted;
	syscall(SYS_kill, self, SIGSTOP);
}

static void set(pid_t pid, size_t offset, long value)
{
	need(ptrace(PTRACE_POKEUSER, pid, offset, value) == 0, "PTRACE_POKEUSER");
}

static void stop(pid_t pid)
{
	int status;

	need(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "the child ended");
}

static void step(pid_t pid, int request)
{
	need(ptrace(request, pid, 0, 0) == 0, "ptrace");
	stop(pid);
}

/* The call itself is not executed: its number is replaced, which PTRACE_SYSEMU does on its own. */
static void intercept(const struct way *way, pid_t pid)
{
	step(pid, way->request);
	if (way->request != PTRACE_SYSEMU)
		set(pid, offsetof(struct user_regs_struct, orig_rax), -1);
	if (way->request == PTRACE_SYSCALL)
		step(pid, PTRACE_SYSCALL);
	set(pid, offsetof(struct user_regs_struct, rax), ANSWER);
}

static void trace(const struct way *way, pid_t pid, long calls)
{
	need(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL) == 0, "PTRACE_SETOPTIONS");
	while (calls--)
		intercept(way, pid);
	step(pid, PTRACE_CONT);
}

static void notify(pid_t pid, long calls)
{
	struct seccomp_notif request;
	struct seccomp_notif_resp response;

	kill(pid, SIGCONT);
	while (calls--) {
		memset(&request, 0, sizeof(request));
		need(ioctl(shared->listener, SECCOMP_IOCTL_NOTIF_RECV, &request) == 0, "SECCOMP_IOCTL_NOTIF_RECV");
		response = (struct seccomp_notif_resp){ .id = request.id, .val = ANSWER };
		need(ioctl(shared->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) == 0, "SECCOMP_IOCTL_NOTIF_SEND");
	}
	stop(pid);
}

static long switches(pid_t pid)
{
	char name[64], line[128];
	long count, sum = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	file = fopen(name, "r");
	need(file != NULL, name);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %ld", &count) == 1)
			sum += count;
	fclose(file);
	return sum;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void watch(const struct way *way, pid_t pid, long calls)
{
	long before, start;

	stop(pid);
	before = switches(pid) + switches(getpid());
	start = now();
	if (way->request) {
		trace(way, pid, calls);
	} else if (is(way, "notify")) {
		notify(pid, calls);
	} else {
		kill(pid, SIGCONT);
		stop(pid);
	}
	start = now() - start;
	printf("%ld %ld %ld\n", shared->right, switches(pid) + switches(getpid()) - before, start);
	fflush(stdout);
}

int main(int count, char **words)
{
	const struct way *way = ways;
	cpu_set_t cpu;
	pid_t pid, watcher;
	int status;

	if (count != 3)
		return 2;
	while (!is(way, words[1]))
		if (++way == ways + sizeof(ways) / sizeof(ways[0]))
			return 2;
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	watcher = fork();
	if (watcher == 0) {
		/* The listener of a filter is a file of both. */
		pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			child(way, atol(words[2]));
			_exit(0);
		}
		watch(way, pid, atol(words[2]));
		kill(pid, SIGKILL);
		_exit(0);
	}
	waitpid(watcher, &status, 0);
	if (status != 0)
		printf("%s\n", shared->refused);
	return 0;
}
