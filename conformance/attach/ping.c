/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ping.c: does ADDRESS answer an ICMP echo within 3 seconds? Exit status 0: yes. The suite has its
 * own program, so it needs no package. It sends up to 6 requests, because a new link may drop some.
 * With SOURCE they carry this address of the caller.
 */
#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TRIES = 6, WAIT_MS = 500 };

struct target {
	struct sockaddr_storage addr;
	socklen_t size;
	int family;
};

static int parse(const char *text, struct target *t)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&t->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&t->addr;

	memset(t, 0, sizeof(*t));
	t->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	t->addr.ss_family = (sa_family_t)t->family;
	t->size = t->family == AF_INET ? sizeof(*v4) : sizeof(*v6);
	if (t->family == AF_INET)
		return inet_pton(AF_INET, text, &v4->sin_addr) == 1 ? 0 : -1;
	return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1 ? 0 : -1;
}

static unsigned short checksum(const unsigned char *p, size_t len)
{
	unsigned sum = 0;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (unsigned)p[i] << 8 | p[i + 1];
	sum = (sum >> 16) + (sum & 0xffff);
	sum += sum >> 16;
	return htons((unsigned short)~sum);
}

/* Same layout in both families; the kernel fills in ICMPv6's checksum. */
static int send_echo(int fd, const struct target *t, int seq)
{
	struct icmphdr h = { .type = t->family == AF_INET ? ICMP_ECHO : ICMP6_ECHO_REQUEST };

	h.un.echo.id = htons((unsigned short)getpid());
	h.un.echo.sequence = htons((unsigned short)seq);
	if (t->family == AF_INET) {
		unsigned char bytes[sizeof(h)] = { 0 };

		memcpy(bytes, &h, sizeof(h));
		h.checksum = checksum(bytes, sizeof(bytes));
	}
	return sendto(fd, &h, sizeof(h), 0, (const struct sockaddr *)&t->addr, t->size) < 0 ? -1
											    : 0;
}

static int is_reply(const unsigned char *p, ssize_t n, const struct target *t)
{
	size_t skip = t->family == AF_INET ? (size_t)(p[0] & 15) * 4 : 0;
	struct icmphdr h;

	if (n < (ssize_t)(skip + sizeof(h)))
		return 0;
	memcpy(&h, p + skip, sizeof(h));
	return h.type == (t->family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) &&
	       ntohs(h.un.echo.id) == (unsigned short)getpid();
}

static int wait_reply(int fd, const struct target *t)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned char buf[1024];

	while (poll(&p, 1, WAIT_MS) == 1)
		if (is_reply(buf, recv(fd, buf, sizeof(buf), 0), t))
			return 0;
	return -1;
}

int main(int argc, char **argv)
{
	struct target t, source;
	int fd;

	if (argc < 2 || argc > 3 || parse(argv[1], &t) != 0 ||
	    (argc == 3 && parse(argv[2], &source) != 0)) {
		fprintf(stderr, "usage: ping ADDRESS [SOURCE]\n");
		return 2;
	}
	fd = socket(t.family, SOCK_RAW, t.family == AF_INET ? IPPROTO_ICMP : (int)IPPROTO_ICMPV6);
	if (fd < 0) {
		perror("socket");
		return 2;
	}
	if (argc == 3 && bind(fd, (const struct sockaddr *)&source.addr, source.size) != 0) {
		perror(argv[2]);
		return 2;
	}
	for (int i = 0; i < TRIES; i++) {
		if (send_echo(fd, &t, i) != 0)
			usleep(WAIT_MS * 100);
		else if (wait_reply(fd, &t) == 0)
			return 0;
	}
	fprintf(stderr, "%s does not answer\n", argv[1]);
	return 1;
}
