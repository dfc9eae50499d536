/* Parent and child lock two files, which are its arguments, in opposite order. */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int turn[2], turned[2], mine;
	char word = 0;

	if (argc != 3 || pipe(turn) || pipe(turned))
		return 1;
	mine = fork() == 0;
	int first = open(argv[1 + mine], O_RDWR | O_CREAT, 0600);
	int second = open(argv[2 - mine], O_RDWR | O_CREAT, 0600);
	flock(first, LOCK_EX);
	/* Both have theirs before either wants the other. */
	if (write(mine ? turn[1] : turned[1], &word, 1) != 1 || read(mine ? turned[0] : turn[0], &word, 1) != 1)
		return 1;
	close(turn[0]), close(turn[1]), close(turned[0]), close(turned[1]);
	return flock(second, LOCK_EX);
}
