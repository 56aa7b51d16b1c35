/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c serve PORT: accept one connection, and send and receive until killed.
 * stream.c both ADDRESS PORT: the client of it. load ADDRESS PORT: the same, but send only one byte
 * of each 64 KiB that come, as a reader of files does.
 * Prints "ready" when the connection is there. IPv4 alone.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Far below what an emulated processor can do: 26 Mbit/s. */
enum { PIECE = 1 << 16, PAUSE_US = 20000 };
static char bytes[PIECE];

static int serve(struct sockaddr_in at)
{
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) != 0 || listen(fd, 1) != 0)
		return -1;
	return accept(fd, NULL, NULL);
}

static int join(struct sockaddr_in to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 ? fd : -1;
}

static int send_on(int fd)
{
	while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		(void)usleep(PAUSE_US);
	return 0;
}

static int receive_on(int fd, bool answers)
{
	while (recv(fd, bytes, sizeof(bytes), MSG_WAITALL) > 0 &&
	       (!answers || send(fd, bytes, 1, MSG_NOSIGNAL) == 1))
		;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long port = argc > 2 ? strtoul(argv[argc - 1], NULL, 10) : 0;
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((unsigned short)port) };
	bool serves = argc == 3 && strcmp(argv[1], "serve") == 0;
	bool loads = argc == 4 && strcmp(argv[1], "load") == 0;
	pid_t child = -1;
	int fd;

	if (!port || (!serves && (argc != 4 || inet_pton(AF_INET, argv[2], &at.sin_addr) != 1))) {
		fprintf(stderr, "usage: stream serve PORT | stream both|load ADDRESS PORT\n");
		return 2;
	}
	fd = serves ? serve(at) : join(at);
	if (fd < 0) {
		perror("stream");
		return 1;
	}
	puts("ready");
	(void)fflush(stdout);
	if (!loads && (child = fork()) < 0)
		return 1;
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		return send_on(fd);
	}
	return receive_on(fd, loads);
}
