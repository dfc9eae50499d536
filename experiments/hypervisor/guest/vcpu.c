/*
 * Enters a virtual CPU of KVM, which leaves again with an OUT:
 *
 *     vcpu EXITS
 *
 * Prints the exits with the right port, and the nanoseconds; or the step that the kernel refused, and its error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#define PORT 0x10

static int need(int result, const char *step)
{
	if (result < 0) {
		printf("%s: %s\n", step, strerrorname_np(errno));
		exit(0);
	}
	return result;
}

/* A virtual CPU in real mode, which is about to execute the code at address 0. */
static int make(int machine)
{
	struct kvm_regs registers = { .rflags = 2 };
	struct kvm_sregs segments;
	int cpu = need(ioctl(machine, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");

	need(ioctl(cpu, KVM_GET_SREGS, &segments), "KVM_GET_SREGS");
	segments.cs.base = 0;
	segments.cs.selector = 0;
	need(ioctl(cpu, KVM_SET_SREGS, &segments), "KVM_SET_SREGS");
	need(ioctl(cpu, KVM_SET_REGS, &registers), "KVM_SET_REGS");
	return cpu;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(int count, char **words)
{
	static const unsigned char code[] = { 0xe6, PORT, 0xeb, 0xfc };	/* out; jump back */
	struct kvm_userspace_memory_region region = { .memory_size = 4096 };
	long i, right = 0, start, exits = count == 2 ? atol(words[1]) : 0;
	int kvm = need(open("/dev/kvm", O_RDWR), "/dev/kvm");
	int machine = need(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_run *run;
	int cpu;

	memcpy(memory, code, sizeof(code));
	region.userspace_addr = (long)memory;
	need(ioctl(machine, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
	cpu = make(machine);
	run = mmap(NULL, need(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE"), PROT_READ | PROT_WRITE,
		   MAP_SHARED, cpu, 0);
	start = now();
	for (i = 0; i < exits; i++) {
		need(ioctl(cpu, KVM_RUN, 0), "KVM_RUN");
		right += run->exit_reason == KVM_EXIT_IO && run->io.port == PORT;
	}
	printf("%ld %ld\n", right, now() - start);
	return 0;
}
