/* The floor: the least that a machine can do is to boot and to power off. Process 1 of its initramfs. */

#include <sys/reboot.h>
#include <unistd.h>

int main(void)
{
	reboot(RB_POWER_OFF);
	/* Not reached: process 1 must not return. */
	for (;;)
		pause();
}
