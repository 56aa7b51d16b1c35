/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay.c: delay MS PORT ADDRESS TO: accept connections at PORT and connect each to port TO of
 * ADDRESS (IPv4). Each byte arrives MS milliseconds later, in both directions.
 *
 * It stands for a slow network, because not every kernel has netem. It prints a line when it
 * accepts connections. SIGTERM ends it with its connections, if it leads its process group.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Bytes that arrived together. A pipe takes a part in one write: it is no longer than PIPE_BUF. */
struct part {
	int64_t due; /* CLOCK_MONOTONIC, ns */
	size_t len;
	char data[4000];
};

static int64_t delay_ns;

static void die(const char *what)
{
	fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void wait_until(int64_t due)
{
	struct timespec t = { .tv_sec = due / INT64_C(1000000000),
			      .tv_nsec = due % INT64_C(1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* The child ends with the proxy. */
static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void receive(int from, int to)
{
	struct part p;
	ssize_t n;

	while ((n = recv(from, p.data, sizeof(p.data), 0)) > 0) {
		p.due = now() + delay_ns;
		p.len = (size_t)n;
		if (write(to, &p, sizeof(p)) != (ssize_t)sizeof(p))
			return;
	}
}

static void deliver(int from, int to)
{
	struct part p;

	while (read(from, &p, sizeof(p)) == (ssize_t)sizeof(p)) {
		wait_until(p.due);
		for (size_t at = 0; at < p.len;) {
			ssize_t n = send(to, p.data + at, p.len - at, MSG_NOSIGNAL);

			if (n <= 0)
				return;
			at += (size_t)n;
		}
	}
}

/* One direction of a connection: its end arrives later, too. */
static void carry(int from, int to)
{
	int ends[2];

	if (pipe(ends))
		die("pipe");
	if (child() == 0) {
		close(ends[0]);
		receive(from, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	deliver(ends[0], to);
	(void)shutdown(to, SHUT_WR);
	(void)shutdown(from, SHUT_RD);
}

static void serve(int client, const struct sockaddr_in *server)
{
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	(void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (s < 0 || connect(s, (const struct sockaddr *)server, sizeof(*server)))
		_exit(1);
	if (child() == 0) {
		carry(s, client);
		pause();
	}
	carry(client, s);
	/* The other direction may go on, as after half a close. */
	pause();
}

static int listener(const char *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)strtol(port, NULL, 10)) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(s, (struct sockaddr *)&at, sizeof(at)) || listen(s, 64))
		die("listen");
	return s;
}

int main(int argc, char **argv)
{
	struct sockaddr_in server = { .sin_family = AF_INET };
	int s, client;

	if (argc != 5 || inet_pton(AF_INET, argv[3], &server.sin_addr) != 1) {
		fprintf(stderr, "usage: delay MS PORT ADDRESS TO\n");
		return 2;
	}
	delay_ns = strtol(argv[1], NULL, 10) * INT64_C(1000000);
	server.sin_port = htons((uint16_t)strtol(argv[4], NULL, 10));
	(void)signal(SIGCHLD, SIG_IGN);
	s = listener(argv[2]);
	printf("ready\n");
	fflush(stdout);
	while ((client = accept(s, NULL, NULL)) >= 0) {
		if (child() == 0) {
			close(s);
			serve(client, &server);
		}
		close(client);
	}
	die("accept");
}
