/* Parent and child each wait for a word of the other. */
#include <unistd.h>

int main(void)
{
	int there[2], back[2];
	char word;

	if (pipe(there) || pipe(back))
		return 1;
	if (fork() == 0) {
		close(there[1]);
		close(back[0]);
		return read(there[0], &word, 1);
	}
	close(there[0]);
	close(back[1]);
	return read(back[0], &word, 1);
}
