/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.c serve PORT: accept connections at all addresses of both families. Prints "ready", and then
 * the address of each client.
 * tcp.c probe ADDRESS PORT: does ADDRESS accept a connection within a second, as a kubelet with
 * tcpSocket asks? Exit status 0: yes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PROBE_MS = 1000 };

static int serve(unsigned short port)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(fd, 8) != 0) {
		perror("serve");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (;;) {
		struct sockaddr_in6 from = { .sin6_family = 0 };
		socklen_t size = sizeof(from);
		char text[INET6_ADDRSTRLEN];
		int client = accept(fd, (struct sockaddr *)&from, &size);

		if (client < 0)
			return 1;
		if (inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof(text)))
			puts(text);
		close(client);
	}
}

/* An address of IPv4 is written as one of IPv6: ::ffff:10.1.0.5. */
static int probe(const char *address, unsigned short port)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	char mapped[INET6_ADDRSTRLEN];
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(error);

	(void)snprintf(mapped, sizeof(mapped), "%s%s",
		       strchr(address, ':') ? "" : "::ffff:", address);
	if (fd < 0 || inet_pton(AF_INET6, mapped, &to.sin6_addr) != 1) {
		fprintf(stderr, "%s is not an address\n", address);
		return 2;
	}
	if ((connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0 && errno != EINPROGRESS) ||
	    (poll(&p, 1, PROBE_MS) == 1 &&
	     getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0))
		error = errno;
	else if (!p.revents)
		error = ETIMEDOUT;
	if (error)
		fprintf(stderr, "%s: %s\n", address, strerror(error));
	return error ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long port = argc > 2 ? strtoul(argv[argc - 1], NULL, 10) : 0;

	if (argc == 3 && port && strcmp(argv[1], "serve") == 0)
		return serve((unsigned short)port);
	if (argc == 4 && port && strcmp(argv[1], "probe") == 0)
		return probe(argv[2], (unsigned short)port);
	fprintf(stderr, "usage: tcp serve PORT | tcp probe ADDRESS PORT\n");
	return 2;
}
