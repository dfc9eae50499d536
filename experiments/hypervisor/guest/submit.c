/*
 * Asks a file for something that takes long, and tells whether the caller sleeps:
 *
 *     submit OPERATION WAY
 *
 * The file belongs to a FUSE server, which holds back its next answer until the caller is back, for two seconds at most.
 * Prints "returns" or "sleeps", the nanoseconds until the call returned, and whether the result is right; or the step that
 * the kernel refused, and its error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fuse.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/tmp/slow"
#define PATH FOLDER "/file"
#define SIZE 4096
#define NODE 2
#define HOLD_MS 2000

static struct {
	volatile int holds, back, answered;
} *shared;

static void need(int holds, const char *step)
{
	if (holds)
		return;
	printf("%s: %s\n", step, strerrorname_np(errno));
	fflush(stdout);
	umount2(FOLDER, MNT_DETACH);
	_exit(0);
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The server. */

static struct fuse_attr attributes(long node)
{
	struct fuse_attr attributes = {
		.ino = node, .nlink = 1, .size = node == NODE ? SIZE : 0, .blksize = SIZE,
		.mode = node == NODE ? S_IFREG | 0644 : S_IFDIR | 0755,
	};

	return attributes;
}

/* Fills in the answer to a request, and gives its size or an error. */
static int respond(const struct fuse_in_header *request, void *answer)
{
	const struct fuse_init_in *init = (const void *)(request + 1);

	switch (request->opcode) {
	case FUSE_INIT:
		*(struct fuse_init_out *)answer = (struct fuse_init_out){
			.major = FUSE_KERNEL_VERSION, .minor = init->minor < 31 ? init->minor : 31,
			.max_readahead = SIZE, .max_write = SIZE, .flags = FUSE_ASYNC_READ | FUSE_ASYNC_DIO,
		};
		return sizeof(struct fuse_init_out);
	case FUSE_LOOKUP:
		*(struct fuse_entry_out *)answer = (struct fuse_entry_out){ .nodeid = NODE, .attr = attributes(NODE) };
		return sizeof(struct fuse_entry_out);
	case FUSE_GETATTR:
		*(struct fuse_attr_out *)answer = (struct fuse_attr_out){ .attr = attributes(request->nodeid) };
		return sizeof(struct fuse_attr_out);
	case FUSE_OPEN:
		memset(answer, 0, sizeof(struct fuse_open_out));
		return sizeof(struct fuse_open_out);
	case FUSE_READ:
		memset(answer, 'x', SIZE);
		return SIZE;
	default:
		return -ENOSYS;
	}
}

static void hold(void)
{
	long end = now() + HOLD_MS * 1000000L;

	shared->holds = 0;
	while (!shared->back && now() < end)
		usleep(1000);
	shared->answered = 1;
}

static void serve(int device)
{
	static char request[1 << 17] __attribute__((aligned(8)));
	static struct {
		struct fuse_out_header header;
		char body[SIZE];
	} answer;
	struct fuse_in_header *header = (void *)request;
	int size;

	while (read(device, request, sizeof(request)) > 0) {
		if (header->opcode == FUSE_FORGET || header->opcode == FUSE_BATCH_FORGET ||
		    header->opcode == FUSE_INTERRUPT)
			continue;
		if (shared->holds)
			hold();
		size = respond(header, answer.body);
		answer.header = (struct fuse_out_header){
			.unique = header->unique, .error = size < 0 ? size : 0,
			.len = sizeof(answer.header) + (size < 0 ? 0 : size),
		};
		if (write(device, &answer, answer.header.len) < 0)
			break;
	}
	_exit(0);
}

static void mount_slow(void)
{
	char options[64];
	int device = open("/dev/fuse", O_RDWR);

	need(device >= 0, "/dev/fuse");
	mkdir(FOLDER, 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	need(mount("slow", FOLDER, "fuse", 0, options) == 0, "mount");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(device);
	}
	close(device);
}

/* The caller. */

static struct statx status;
static char *buffer, *mapping;
static int file = AT_FDCWD;
static long start;

static void begin(void)
{
	shared->holds = 1;
	start = now();
}

/* The call has returned; whether the server had answered by then says if it slept. */
static void back(void)
{
	long time = now() - start;

	printf("%s %ld ", shared->answered ? "sleeps" : "returns", time);
	shared->back = 1;
}

static const struct operation {
	const char *name;
	int opcode;		/* of io_uring */
	int flags;		/* of the file that it needs, or -1 */
	long right;		/* what it gives; an open gives a number of a file */
} operations[] = {
	{ "statx", IORING_OP_STATX, -1, 0 },
	{ "open", IORING_OP_OPENAT, -1, -1 },
	{ "read", IORING_OP_READ, O_RDONLY, SIZE },
	{ "direct", IORING_OP_READ, O_RDONLY | O_DIRECT, SIZE },
	{ "populate", IORING_OP_MADVISE, O_RDONLY, 0 },
};

static long by_call(const struct operation *operation)
{
	long result;

	begin();
	switch (operation->opcode) {
	case IORING_OP_STATX:
		result = statx(AT_FDCWD, PATH, 0, STATX_SIZE, &status);
		break;
	case IORING_OP_OPENAT:
		result = open(PATH, O_RDONLY);
		break;
	case IORING_OP_READ:
		result = pread(file, buffer, SIZE, 0);
		break;
	default:
		result = madvise(mapping, SIZE, MADV_POPULATE_READ);
	}
	back();
	return result;
}

/* The only operation of the four that Linux' own AIO has for files. */
static long by_aio(void)
{
	struct iocb request = {
		.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = file, .aio_buf = (long)buffer, .aio_nbytes = SIZE,
	}, *requests = &request;
	aio_context_t context = 0;
	struct io_event event;

	need(syscall(SYS_io_setup, 1, &context) == 0, "io_setup");
	begin();
	need(syscall(SYS_io_submit, context, 1, &requests) == 1, "io_submit");
	back();
	need(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1, "io_getevents");
	return event.res;
}

static struct io_uring_sqe request_of(const struct operation *operation)
{
	struct io_uring_sqe request = { .opcode = operation->opcode, .fd = file };

	switch (operation->opcode) {
	case IORING_OP_STATX:
		request.addr = (long)PATH;
		request.len = STATX_SIZE;
		request.off = (long)&status;
		break;
	case IORING_OP_OPENAT:
		request.addr = (long)PATH;
		break;
	case IORING_OP_READ:
		request.addr = (long)buffer;
		request.len = SIZE;
		break;
	default:
		request.addr = (long)mapping;
		request.len = SIZE;
		request.fadvise_advice = MADV_POPULATE_READ;
	}
	return request;
}

static char *map_ring(int ring, size_t size, long offset)
{
	char *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);

	need(address != MAP_FAILED, "mmap");
	return address;
}

static long by_io_uring(const struct operation *operation, int flags)
{
	struct io_uring_params ring = { 0 };
	int fd = syscall(SYS_io_uring_setup, 1, &ring);
	struct io_uring_sqe *requests;
	char *queues;

	need(fd >= 0, "io_uring_setup");
	queues = map_ring(fd, 4096, IORING_OFF_SQ_RING);
	requests = (void *)map_ring(fd, 4096, IORING_OFF_SQES);
	requests[0] = request_of(operation);
	requests[0].flags = flags;
	*(unsigned int *)(queues + ring.sq_off.tail) = 1;
	begin();
	need(syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) == 1, "io_uring_enter");
	back();
	need(syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 0, "io_uring_enter");
	return ((struct io_uring_cqe *)(queues + ring.cq_off.cqes))->res;
}

static int is_right(const struct operation *operation, long result)
{
	switch (operation->opcode) {
	case IORING_OP_STATX:
		return result == 0 && status.stx_size == SIZE;
	case IORING_OP_OPENAT:
		return result >= 0 && read(result, buffer, SIZE) == SIZE;
	case IORING_OP_READ:
		return result == SIZE && buffer[SIZE - 1] == 'x';
	default:
		return result == 0 && mapping[SIZE - 1] == 'x';
	}
}

int main(int count, char **words)
{
	const struct operation *operation = operations;
	long result;

	if (count != 3)
		return 2;
	while (strcmp(operation->name, words[1]) != 0)
		if (++operation == operations + sizeof(operations) / sizeof(operations[0]))
			return 2;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mount_slow();
	if (operation->flags >= 0) {
		file = open(PATH, operation->flags);
		need(file >= 0, "open");
		mapping = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
		need(mapping != MAP_FAILED, "mmap");
	}
	if (strcmp(words[2], "call") == 0)
		result = by_call(operation);
	else if (strcmp(words[2], "aio") == 0)
		result = by_aio();
	else
		result = by_io_uring(operation, strcmp(words[2], "worker") == 0 ? IOSQE_ASYNC : 0);
	printf("%s\n", is_right(operation, result) ? "right" : "wrong");
	umount2(FOLDER, MNT_DETACH);
	return 0;
}
