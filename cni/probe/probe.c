/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c: sends the probes through a packet socket, and collects the answers. */
#include "cni/probe/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

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

static int open_socket(struct probe_state *a, struct err *e)
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

static int listen_until(struct probe_state *a, int64_t deadline_ms, struct err *e)
{
	struct pollfd p = { .fd = a->fd, .events = POLLIN };

	while (a->n_open) {
		int64_t left = deadline_ms - ctx_mono_ms();
		if (left <= 0)
			return drain(a, e);
		if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
			return err_set(e, ERR_KERNEL, errno, "probe: wait on %s", a->link->name);
		if (receive_frame(a, e) < 0)
			return -1;
	}
	return 0;
}

int probe_run(const struct probe_link *link, const struct probe_question *questions, size_t n,
	      struct address_user *found, struct err *e)
{
	struct probe_state a = { link, questions, n, n, found, -1 };
	int rc = open_socket(&a, e);
	auto_fd int fd = a.fd;

	(void)fd;
	memset(found, 0, n * sizeof(*found));
	for (int i = 0; rc == 0 && a.n_open && i < link->rounds; i++) {
		/* A round that began late has its whole time. */
		int64_t deadline = ctx_mono_ms() + PROBE_ROUND_MS;

		rc = send_probes(&a, e) || listen_until(&a, deadline, e) ? -1 : 0;
	}
	if (rc)
		return -1;

	int n_used = 0;

	/* Users to the front, in the order of the questions. */
	for (size_t i = 0; i < n; i++) {
		if (found[i].addr.family)
			found[n_used++] = found[i];
	}
	return n_used;
}
