/* LOOPS system calls: what is planted is a difference of their number. */

#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	for (long i = 0; i < LOOPS; i++)
		syscall(SYS_getppid);
	return 0;
}
