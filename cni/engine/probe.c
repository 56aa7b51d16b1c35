/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c: sends the probes through a packet socket, and collects the answers. */
#include "cni/engine/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/ctx.h"

#define DRAIN_MAX 1024 /* frames; a busy link must not hold the ADD */

struct probe_state {
	const struct probe_link *link;
	const struct probe_question *question;
	size_t n, n_open;           /* all, and those without an answer */
	struct address_user *users; /* one for each address; family IP_NONE: nobody has it */
	int fd;
};

/* ARP, solicitations and advertisements; all else of a busy link stays in the kernel. */
static int set_filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (unsigned)(SKF_AD_OFF + SKF_AD_PROTOCOL)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_ARP, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 0, 6),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6), /* next header */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 40), /* type */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ND_NEIGHBOR_SOLICIT, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ND_NEIGHBOR_ADVERT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, PROBE_MSG_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog prog = { ARRAY_SIZE(code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, (socklen_t)sizeof(prog));
}

/* The interface hears a group of Ethernet addresses as long as the socket lives. */
static int join_group(int fd, int ifindex, const uint8_t group[MAC_LEN])
{
	struct packet_mreq m = { .mr_ifindex = ifindex,
				 .mr_type = PACKET_MR_MULTICAST,
				 .mr_alen = MAC_LEN };

	memcpy(m.mr_address, group, MAC_LEN);
	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, (socklen_t)sizeof(m));
}

/* Answers to a solicitation from :: go to all nodes; others' solicitations to its group. If our own
 * address asks, it gets the answer. */
static int join_groups(const struct probe_state *a)
{
	static const uint8_t all_nodes[MAC_LEN] = { 0x33, 0x33, 0, 0, 0, 1 };
	struct probe_msg m;

	for (size_t i = 0; i < a->n; i++) {
		const struct probe_question *q = &a->question[i];

		if (q->addr.family != IP_V6 || q->from.family)
			continue;
		probe_make(q, a->link->mac, &m);
		if (join_group(a->fd, a->link->ifindex, m.to) ||
		    join_group(a->fd, a->link->ifindex, all_nodes))
			return -1;
	}
	return 0;
}

static int probe_open_socket(struct probe_state *a, struct err *e)
{
	/* ETH_P_ALL: also of an interface whose frames all go on to another one */
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_ALL),
					.sll_ifindex = a->link->ifindex };

	/* Protocol 0: it receives nothing before it has its filter. */
	a->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (a->fd < 0 || set_filter(a->fd) ||
	    bind(a->fd, (const void *)&at, (socklen_t)sizeof(at)) || join_groups(a))
		return err_set(e, ERR_KERNEL, errno, "probe: open a socket on %s", a->link->name);
	return 0;
}

static int send_probes(const struct probe_state *a, struct err *e)
{
	char text[IP_STR_LEN];

	for (size_t i = 0; i < a->n; i++) {
		struct probe_msg m;
		struct sockaddr_ll to = { .sll_family = AF_PACKET,
					  .sll_ifindex = a->link->ifindex,
					  .sll_halen = MAC_LEN };
		if (a->users[i].addr.family)
			continue;
		probe_make(&a->question[i], a->link->mac, &m);
		to.sll_protocol = htons(m.protocol);
		memcpy(to.sll_addr, m.to, MAC_LEN);
		if (sendto(a->fd, m.data, m.len, 0, (const void *)&to, (socklen_t)sizeof(to)) < 0)
			return err_set(e, ERR_KERNEL, errno, "probe: ask for %s on %s",
				       ip_format(a->question[i].addr, text), a->link->name);
	}
	return 0;
}

static bool is_answer(const struct probe_question *q, const struct address_user *c)
{
	return ip_equal(q->addr, c->addr) && !(c->probes && q->from.family);
}

/* 0: one frame less; 1: none is waiting. */
static int receive_frame(struct probe_state *a, struct err *e)
{
	struct sockaddr_ll from = { .sll_family = AF_PACKET };
	struct address_user c;
	struct probe_msg m;
	socklen_t size = sizeof(from);
	ssize_t n = recvfrom(a->fd, m.data, sizeof(m.data), MSG_DONTWAIT, (void *)&from, &size);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	if (n < 0)
		return err_set(e, ERR_KERNEL, errno, "probe: listen on %s", a->link->name);
	m.len = (size_t)n;
	m.protocol = ntohs(from.sll_protocol);
	/* Frames of our own, and uses of our own address, are no conflict. */
	if (from.sll_pkttype == PACKET_OUTGOING || from.sll_halen != MAC_LEN ||
	    memcmp(from.sll_addr, a->link->mac, MAC_LEN) == 0 ||
	    !probe_read(&m, from.sll_addr, &c) || memcmp(c.mac, a->link->mac, MAC_LEN) == 0)
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		if (a->users[i].addr.family || !is_answer(&a->question[i], &c))
			continue;
		a->users[i] = c;
		a->n_open--;
	}
	return 0;
}

/* Read what is there already: this process may have waited for a processor past the deadline. */
static int drain(struct probe_state *a, struct err *e)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < DRAIN_MAX; i++)
		rc = receive_frame(a, e);
	return rc < 0 ? -1 : 0;
}

static bool is_open(const struct probe_state *a, size_t n)
{
	size_t n_open = 0;

	for (size_t i = 0; i < n; i++)
		n_open += a[i].n_open;
	return n_open > 0;
}

/* Listens on all links until each question has its answer. */
static int listen_until(struct probe_state *a, size_t n, int64_t deadline_ms, struct err *e)
{
	struct pollfd p[PROBE_LINKS_MAX];

	while (is_open(a, n)) {
		int64_t left = deadline_ms - ctx_mono_ms();

		for (size_t i = 0; i < n; i++) {
			p[i] = (struct pollfd){ .fd = a[i].n_open ? a[i].fd : -1,
						.events = POLLIN };
			if (left <= 0 && a[i].n_open && drain(&a[i], e))
				return -1;
		}
		if (left <= 0)
			return 0;
		if (poll(p, (nfds_t)n, (int)left) < 0 && errno != EINTR)
			return err_set(e, ERR_KERNEL, errno, "probe: wait on %s", a->link->name);
		for (size_t i = 0; i < n; i++)
			if (a[i].n_open && receive_frame(&a[i], e) < 0)
				return -1;
	}
	return 0;
}

static int ask_round(struct probe_state *a, size_t n, int round, struct err *e)
{
	/* A round that began late has its whole time. */
	const int64_t deadline = ctx_mono_ms() + PROBE_ROUND_MS;

	for (size_t i = 0; i < n; i++)
		if (round < a[i].link->rounds && send_probes(&a[i], e))
			return -1;
	return listen_until(a, n, deadline, e);
}

/* Users to the front, in the order of the questions. Returns their number. */
static int collect_users(struct address_user *found, size_t n)
{
	int n_used = 0;

	for (size_t i = 0; i < n; i++)
		if (found[i].addr.family)
			found[n_used++] = found[i];
	return n_used;
}

int probe_run_all(struct probe_inquiry *q, size_t n, struct err *e)
{
	struct probe_state a[PROBE_LINKS_MAX];
	int rc = 0, rounds = 0;

	for (size_t i = 0; i < n; i++) {
		a[i] = (struct probe_state){ &q[i].link, q[i].questions, q[i].n,
					     q[i].n,     q[i].found,     -1 };
		memset(q[i].found, 0, q[i].n * sizeof(*q[i].found));
		rounds = q[i].link.rounds > rounds ? q[i].link.rounds : rounds;
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = probe_open_socket(&a[i], e);
	for (int i = 0; rc == 0 && is_open(a, n) && i < rounds; i++)
		rc = ask_round(a, n, i, e);
	for (size_t i = 0; i < n; i++) {
		if (a[i].fd >= 0)
			(void)close(a[i].fd);
		q[i].n_found = collect_users(q[i].found, q[i].n);
	}
	return rc;
}
