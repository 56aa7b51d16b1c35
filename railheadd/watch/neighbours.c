/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.c: the sockets of the interfaces, and the looks. */
#include "railheadd/watch/neighbours.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "railheadd/watch/look.h"
#include "railheadd/watch/memory.h"
#include "railheadd/watch/neighbour_look.h"
#include "railheadd/watch/neighbour_table.h"

/* Frames that one turn of the loop takes from a socket: others have a turn, too. */
#define FRAMES_MAX 16
/* A sender of conflicting frames must not fill the log, ms. */
#define TELL_EVERY 600000
/* The ages in the memory may be so old, ms; a new neighbour is written at once. */
#define SAVE_EVERY 600000

/* A socket. The table of ports may be replaced at each look, so it finds its port by name. */
struct listener {
	struct neighbour_watch *watch;
	char ifname[IFNAME_LEN];
	int ifindex, fd;
	bool switched, wanted;
	struct event *readable;
};

struct neighbour_watch {
	struct neighbour_watch_conf conf;
	struct looks looks;
	struct neighbour_table table;
	struct memory memory;
	int64_t saved; /* ms: when the memory was last written */
	struct listener *listener[NEIGHBOUR_PORTS_MAX];
	uint64_t wrong; /* frames that are not LLDP */
};

static struct neighbour_clock clock_now(const struct neighbour_watch *w)
{
	const struct ctx *ctx = w->conf.ctx;

	return (struct neighbour_clock){ ctx_since_boot(ctx) / 1000000,
					 ctx->now(ctx->clock) / 1000000000 };
}

static void save_neighbours(struct neighbour_watch *w)
{
	struct neighbour_clock c = clock_now(w);
	struct err e;

	w->saved = c.now;
	if (memory_save(&w->memory, neighbour_table_known(&w->table, c), &e))
		log_warn(&w->conf.ctx->log, "neighbours: a restart forgets what is known: %s",
			 e.msg);
}

/* ---- frames ---- */

static void tell_news(struct neighbour_watch *w, struct neighbour_port *p, enum neighbour_news news,
		      int64_t now)
{
	const struct lldp_frame *held = &p->of.held.frame, *other = &p->of.other.frame;

	if (news == NEIGHBOUR_NEW) {
		log_info(&w->conf.ctx->log, "neighbours: rail %u (%s): port %s of %s", p->rail,
			 p->ifname, held->port_name,
			 *held->system_name ? held->system_name : held->chassis);
		save_neighbours(w);
	}
	if (news == NEIGHBOUR_CONFLICT && (!p->told || now - p->told > TELL_EVERY)) {
		p->told = now;
		log_warn(&w->conf.ctx->log,
			 "neighbours: rail %u (%s): frames of two senders: %s (%s), and %s (%s); "
			 "the first one counts",
			 p->rail, p->ifname, held->chassis, held->port, other->chassis,
			 other->port);
	}
}

static struct neighbour_port *port_of(const struct listener *l)
{
	struct neighbour_table *t = &l->watch->table;

	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->port[i].ifname, l->ifname) == 0)
			return &t->port[i];
	return NULL;
}

static void on_frame(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;
	struct neighbour_port *p = port_of(l);
	uint8_t data[ETH_FRAME_LEN];

	(void)what;
	for (unsigned i = 0; i < FRAMES_MAX; i++) {
		struct sockaddr_ll from = { .sll_family = AF_PACKET };
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(fd, data, sizeof(data), MSG_DONTWAIT, (void *)&from, &size);
		enum neighbour_news news = NEIGHBOUR_SAME;
		int64_t now = clock_now(l->watch).now;
		struct err e;

		/* ENETDOWN comes once when the interface goes down. */
		if (n < 0)
			return;
		/* The socket also sees frames that a program of this host sends. */
		if (!p || from.sll_pkttype == PACKET_OUTGOING)
			continue;
		if (neighbour_table_hear(&l->watch->table, p,
					 (struct neighbour_data){ data, (size_t)n, now }, &news,
					 &e) < 0)
			l->watch->wrong++;
		tell_news(l->watch, p, news, now);
	}
}

/* ---- sockets ---- */

static void listener_free(struct listener *l)
{
	if (!l)
		return;
	if (l->readable)
		event_free(l->readable);
	if (l->fd >= 0)
		(void)close(l->fd);
	free(l);
}

/* Where a software switch takes all frames, only a socket for all protocols sees them before. */
static int filter_lldp(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LLDP_ETHERTYPE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, ETH_FRAME_LEN),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { ARRAY_SIZE(code), code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int open_socket(struct listener *l, struct err *e)
{
	const struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(l->switched ? ETH_P_ALL : LLDP_ETHERTYPE),
		.sll_ifindex = l->ifindex,
	};
	/* The group of the nearest bridge: IEEE 802.1AB, table 7-1. */
	const struct packet_mreq group = { .mr_ifindex = l->ifindex,
					   .mr_type = PACKET_MR_MULTICAST,
					   .mr_alen = 6,
					   .mr_address = { 1, 0x80, 0xc2, 0, 0, 0x0e } };

	/* Protocol 0: it receives nothing before it has its filter. */
	l->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0 || filter_lldp(l->fd) ||
	    bind(l->fd, (const void *)&at, (socklen_t)sizeof(at)) ||
	    setsockopt(l->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group, sizeof(group))) {
		err_set(e, ERR_KERNEL, errno, "cannot listen by %s", l->ifname);
		return errno == EPERM ? err_hint(e, "the agent needs CAP_NET_RAW") : -1;
	}
	return 0;
}

static struct listener *listener_new(struct neighbour_watch *w, const struct neighbour_port *p,
				     struct err *e)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (!l) {
		(void)err_nomem(e);
		return NULL;
	}
	*l = (struct listener){
		.watch = w, .ifindex = p->ifindex, .fd = -1, .switched = p->switched
	};
	memcpy(l->ifname, p->ifname, IFNAME_LEN);
	if (open_socket(l, e)) {
		listener_free(l);
		return NULL;
	}
	l->readable = event_new(w->conf.base, l->fd, EV_READ | EV_PERSIST, on_frame, l);
	if (!l->readable || event_add(l->readable, NULL)) {
		(void)err_nomem(e);
		listener_free(l);
		return NULL;
	}
	return l;
}

static bool listens_to(const struct listener *l, const struct neighbour_port *p)
{
	return l && l->ifindex == p->ifindex && l->switched == p->switched &&
	       strcmp(l->ifname, p->ifname) == 0;
}

static int listen_to(struct neighbour_watch *w, const struct neighbour_port *p, struct err *e)
{
	struct listener **free_one = NULL;

	for (size_t i = 0; i < NEIGHBOUR_PORTS_MAX; i++) {
		if (listens_to(w->listener[i], p)) {
			w->listener[i]->wanted = true;
			return 0;
		}
		if (!w->listener[i] && !free_one)
			free_one = &w->listener[i];
	}
	if (!free_one)
		return err_set(e, ERR_CONFIG, 0, "more than %d interfaces", NEIGHBOUR_PORTS_MAX);
	*free_one = listener_new(w, p, e);
	if (!*free_one)
		return -1;
	(*free_one)->wanted = true;
	return 0;
}

/* A socket for each port that is present and can hear LLDP, and no other. The last error is
 * returned. */
static int match_listeners(struct neighbour_watch *w, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < NEIGHBOUR_PORTS_MAX; i++)
		if (w->listener[i])
			w->listener[i]->wanted = false;
	for (const struct neighbour_port *p = w->table.port; p < w->table.port + w->table.n; p++)
		if (p->present && !*p->facts.guid && listen_to(w, p, e))
			rc = -1;
	for (size_t i = 0; i < NEIGHBOUR_PORTS_MAX; i++) {
		if (w->listener[i] && !w->listener[i]->wanted) {
			listener_free(w->listener[i]);
			w->listener[i] = NULL;
		}
	}
	return rc;
}

/* ---- looks ---- */

/* Ports without a socket are an error of a look that counts. */
static int take_ports(void *arg, const struct json *look, struct err *e)
{
	struct neighbour_watch *w = arg;

	if (neighbour_table_take(&w->table, look, e))
		return -1;
	(void)!match_listeners(w, e);
	return 0;
}

static void on_look_end(void *arg)
{
	struct neighbour_watch *w = arg;

	if (w->conf.report && w->looks.n)
		w->conf.report(w->conf.arg, neighbour_table_rails(&w->table, clock_now(w)));
	if (clock_now(w).now - w->saved > SAVE_EVERY)
		save_neighbours(w);
}

static int look_in_neighbour_child(const void *arg)
{
	const struct neighbour_watch *w = arg;

	return neighbour_look_main(w->conf.ctx);
}

/* ---- begin, end, status ---- */

static int load_neighbours(void *arg, const struct json *list, struct err *e)
{
	struct neighbour_watch *w = arg;

	return neighbour_table_load(&w->table, list, clock_now(w), e);
}

int neighbour_watch_new(const struct neighbour_watch_conf *conf, struct neighbour_watch **out,
			struct err *e)
{
	struct neighbour_watch *w = calloc(1, sizeof(*w));
	const struct looks_conf looks = { .base = conf->base,
					  .ctx = conf->ctx,
					  .topic = "neighbours",
					  .what = "interfaces",
					  .every = conf->every,
					  .deadline_ms = conf->deadline_ms,
					  .run = look_in_neighbour_child,
					  .take = take_ports,
					  .ended = on_look_end,
					  .arg = w };

	if (!w)
		return err_nomem(e);
	w->conf = *conf;
	if (looks_begin(&w->looks, &looks, e)) {
		neighbour_watch_free(w);
		return -1;
	}
	w->memory = (struct memory){ .ctx = conf->ctx, .name = "neighbours" };
	w->saved = clock_now(w).now;
	if (memory_load(&w->memory, load_neighbours, w, e))
		log_warn(&conf->ctx->log, "neighbours: what was known of them is lost: %s", e->msg);
	*out = w;
	return 0;
}

void neighbour_watch_free(struct neighbour_watch *w)
{
	if (!w)
		return;
	if (w->memory.ctx)
		save_neighbours(w);
	for (size_t i = 0; i < NEIGHBOUR_PORTS_MAX; i++)
		listener_free(w->listener[i]);
	looks_end(&w->looks);
	memory_clear(&w->memory);
	neighbour_table_clear(&w->table);
	free(w);
}

int neighbour_watch_status(const struct neighbour_watch *w, struct json *obj, struct err *e)
{
	struct json *o = w ? json_add_object(obj, "neighbours") : NULL;

	if (!w)
		return json_add_bool(obj, "neighbours", false) ? err_nomem(e) : 0;
	return !o || looks_add_status(&w->looks, o) ||
			       json_add_int(o, "malformed", (int64_t)w->wrong) ||
			       neighbour_table_add_status(&w->table, clock_now(w).now, o)
		       ? err_nomem(e)
		       : 0;
}
