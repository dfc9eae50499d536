/* TCP between two machines: `wire serve`, and `wire ADDRESS`, which prints MiB a second and microseconds of a round trip. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT 5001
#define MEBIBYTES 64
#define ROUND_TRIPS 1000

static char buffer[1 << 20];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* The first byte says what comes: a stream, which is answered when it ends, or round trips. */
static void answer(int socket)
{
	char first;
	ssize_t count;

	read(socket, &first, 1);
	while ((count = read(socket, buffer, sizeof(buffer))) > 0)
		if (first == 'r')
			write(socket, buffer, count);
	write(socket, "", 1);
	close(socket);
}

static int serve(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int one = 1, listening = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(listening, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (bind(listening, (void *)&address, sizeof(address)) || listen(listening, 8))
		return 1;
	for (;;)
		answer(accept(listening, NULL, NULL));
}

static int connected(const char *text, const char *what)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int one = 1, connection = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, text, &address.sin_addr);
	while (connect(connection, (void *)&address, sizeof(address)))
		usleep(100000);
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	write(connection, what, 1);
	return connection;
}

static double stream(const char *address)
{
	int connection = connected(address, "s");
	double begin = now();

	for (int count = 0; count < MEBIBYTES; count++)
		write(connection, buffer, sizeof(buffer));
	shutdown(connection, SHUT_WR);
	read(connection, buffer, 1);
	close(connection);
	return MEBIBYTES / (now() - begin);
}

static double round_trip(const char *address)
{
	int connection = connected(address, "r");
	double begin = now();

	for (int count = 0; count < ROUND_TRIPS; count++) {
		write(connection, buffer, 1);
		read(connection, buffer, 1);
	}
	close(connection);
	return (now() - begin) / ROUND_TRIPS * 1e6;
}

int main(int count, char **arguments)
{
	if (!strcmp(arguments[1], "serve"))
		return serve();
	printf("%f ", stream(arguments[1]));
	printf("%f\n", round_trip(arguments[1]));
}
