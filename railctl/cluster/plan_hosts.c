/* SPDX-License-Identifier: Apache-2.0 */
/* plan_hosts.c: a number of each node within its group, which is the offset of its NICs in the
 * subnets of all rails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/parse.h"
#include "railctl/cluster/plan.h"

#define SAID_MAX 3u /* addresses of a rail that an agent says */

/* An address on a rail, and who has it. */
struct host_address {
	struct ip ip;
	uint32_t rail;
	const char *who;
};

struct hosts {
	struct plan *p;
	uint64_t first, last;         /* numbers of a group */
	struct host_address *address; /* sorted, when all are there */
	size_t n_addresses;
	struct host_group {
		bool unheard;  /* a node of it has said no addresses */
		uint64_t next; /* all numbers below have an owner */
	} * group;
};

static void hosts_clear(struct hosts *h)
{
	free(h->address);
	free(h->group);
}

/* ---- addresses ---- */

bool plan_next_address(const char **list, struct ip_prefix *out)
{
	char text[PREFIX_STR_LEN];
	size_t len;

	do {
		len = strcspn(*list, " ");
		(void)snprintf(text, sizeof(text), "%.*s", (int)len, *list);
		*list += len + ((*list)[len] == ' ');
	} while (len && ip_parse_prefix(text, out));
	return len > 0;
}

static struct ip host_ip(const struct plan *p, size_t pin, uint32_t rail, uint64_t number)
{
	struct ip ip = rail_plan_leaf(&p->made, rail, p->pin[pin].group).subnet.addr;

	ip.v += number;
	return ip;
}

struct ip plan_host_address(const struct plan *p, size_t pin, uint32_t rail)
{
	const struct ip_prefix subnet = rail_plan_leaf(&p->made, rail, p->pin[pin].group).subnet;
	const struct fabric_node *n = p->host[pin].node;
	bool managed = false;
	struct ip_prefix a;

	for (size_t i = 0; n && i < n->n; i++) {
		const char *list = n->port[i].rail == rail ? n->port[i].addresses : "";

		managed = managed || (n->port[i].rail == rail && *n->port[i].by);
		while (plan_next_address(&list, &a))
			if (ip_in_prefix(subnet, a.addr))
				return a.addr;
	}
	if (managed || !p->host[pin].number)
		return (struct ip){ .family = IP_NONE };
	return host_ip(p, pin, rail, p->host[pin].number);
}

static int add_host_address(struct hosts *h, struct host_address x, struct err *e)
{
	if (x.ip.family == IP_NONE)
		return 0;
	if (ARRAY_GROW(h->address, h->n_addresses, SIZE_MAX / sizeof(x), "addresses", e))
		return -1;
	h->address[h->n_addresses++] = x;
	return 0;
}

/* Also of nodes that the plan leaves alone, and of rails that another program manages. */
static int add_said_addresses(struct hosts *h, const struct fabric_node *n, struct err *e)
{
	for (const struct fabric_port *x = n->port; x < n->port + n->n; x++) {
		const char *list = x->addresses;
		struct ip_prefix a;

		while (x->member == 0 && plan_next_address(&list, &a))
			if (ip_in_prefix(h->p->made.ask.supernet, a.addr) &&
			    add_host_address(h, (struct host_address){ a.addr, x->rail, n->name },
					     e))
				return -1;
	}
	return 0;
}

static int compare_ips(const void *a, const void *b)
{
	return ip_cmp(((const struct host_address *)a)->ip, ((const struct host_address *)b)->ip);
}

static int compare_addresses(const void *a, const void *b)
{
	const int rc = compare_ips(a, b);

	return rc ? rc
		  : strcmp(((const struct host_address *)a)->who,
			   ((const struct host_address *)b)->who);
}

static int add_addresses(struct hosts *h, struct err *e)
{
	const struct plan *p = h->p;

	for (size_t i = 0; i < p->cables.n; i++)
		if (add_said_addresses(h, &p->cables.node[i], e))
			return -1;
	for (uint32_t r = 0; r < p->file.rails; r++) {
		for (uint32_t g = 0; g < p->groups; g++) {
			const struct ip gateway = rail_plan_leaf(&p->made, r, g).gateway;

			if (add_host_address(h, (struct host_address){ gateway, r, "the leaf" }, e))
				return -1;
		}
		for (size_t i = 0; i < p->n_pins; i++)
			if (p->host[i].number &&
			    add_host_address(h,
					     (struct host_address){ plan_host_address(p, i, r), r,
								    p->pin[i].node },
					     e))
				return -1;
	}
	if (h->n_addresses)
		qsort(h->address, h->n_addresses, sizeof(*h->address), compare_addresses);
	return 0;
}

static void find_twice(const struct hosts *h)
{
	char text[IP_STR_LEN];

	for (size_t i = 1; i < h->n_addresses; i++) {
		const struct host_address *x = &h->address[i - 1], *y = &h->address[i];
		struct finding *f;

		if (compare_ips(x, y) != 0 || compare_addresses(x, y) == 0)
			continue;
		f = plan_add(h->p, "twice", FINDING_FAIL);
		finding_set_subject(f, "%s and %s", x->who, y->who);
		finding_set_value(f, "rail %u: %s", y->rail, ip_format(y->ip, text));
		finding_set_reason(f, "both have this address, or one of them by its number");
		finding_set_remedy(f, "give one of them another address, and remove its "
				      "annotation " PLAN_HOST);
	}
}

/* ---- numbers ---- */

/* No rail has it for another host. */
static bool is_free(const struct hosts *h, size_t pin, uint64_t number)
{
	for (uint32_t r = 0; r < h->p->file.rails; r++) {
		const struct host_address key = { .ip = host_ip(h->p, pin, r, number) };
		const struct host_address *x =
			bsearch(&key, h->address, h->n_addresses, sizeof(*h->address), compare_ips);

		if (x && strcmp(x->who, h->p->pin[pin].node) != 0)
			return false;
	}
	return true;
}

static void read_pinned(const struct hosts *h, size_t i)
{
	const struct pin *x = &h->p->pin[i];
	const char *text = x->label != PIN_NONE ? plan_host_of(h->p, x->node) : NULL;
	struct finding *f;

	if (!text || parse_u64(text, h->first, h->last, &h->p->host[i].number) == 0)
		return;
	f = plan_add_node(h->p, "host", FINDING_FAIL, x);
	finding_set_value(f, "%s=%.64s", PLAN_HOST, text);
	finding_set_reason(f, "the annotation is not a number from %llu to %llu",
			   (unsigned long long)h->first, (unsigned long long)h->last);
	finding_set_remedy(f, "remove the annotation, or set \"nodesPerGroup\" as it was");
}

/* An address counts if the node has it for itself, and no other program made it. */
static bool take_said_number(const struct hosts *h, size_t i)
{
	struct plan_host *host = &h->p->host[i];

	for (size_t k = 0; host->node && k < host->node->n; k++) {
		const uint32_t rail = host->node->port[k].rail;
		u128 number;

		if (rail >= h->p->file.rails || *host->node->port[k].by)
			continue;
		number = plan_host_address(h->p, i, rail).v - host_ip(h->p, i, rail, 0).v;
		if (number >= h->first && number <= h->last && is_free(h, i, (uint64_t)number)) {
			host->number = (uint64_t)number;
			return true;
		}
	}
	return false;
}

static void take_lowest_number(const struct hosts *h, size_t i)
{
	const struct pin *x = &h->p->pin[i];
	uint64_t *next = &h->group[x->group].next;
	struct finding *f;

	for (*next = *next ? *next : h->first; *next <= h->last; (*next)++)
		if (is_free(h, i, *next)) {
			h->p->host[i].number = (*next)++;
			return;
		}
	f = plan_add_node(h->p, "full", FINDING_FAIL, x);
	finding_set_reason(f, "other hosts have all numbers of its group");
	finding_set_remedy(f, "set \"nodesPerGroup\" before the first plan is applied");
}

/* An agent says three addresses of a rail at most. */
static bool says_a_part(const struct fabric_node *n)
{
	struct ip_prefix a;

	for (const struct fabric_port *x = n->port; x < n->port + n->n; x++) {
		const char *list = x->addresses;
		unsigned said = 0;

		while (plan_next_address(&list, &a))
			said++;
		if (x->cut || said >= SAID_MAX)
			return true;
	}
	return false;
}

/* Where no agent listens, it is no finding that one does not. */
static void find_unheard(const struct hosts *h)
{
	struct plan *p = h->p;

	for (size_t i = 0; i < p->n_pins; i++) {
		struct finding *f;

		if (p->pin[i].group == PIN_NONE ||
		    (p->host[i].node ? !says_a_part(p->host[i].node) : p->host[i].number != 0))
			continue;
		h->group[p->pin[i].group].unheard = true;
		if (!p->cables.n)
			continue;
		f = plan_add_node(p, "unheard", FINDING_UNKNOWN, &p->pin[i]);
		finding_set_reason(f, "its agent has not said all addresses of its NICs: no node "
				      "of its group gets a new one");
		finding_set_remedy(f, "look at its agent, or name the node in \"leaveAlone\"");
	}
}

int plan_hosts(struct plan *p, struct err *e)
{
	auto_clean(hosts_clear) struct hosts h = { .p = p };
	const struct rail_leaf leaf = rail_plan_leaf(&p->made, 0, 0);

	p->host = calloc(p->n_pins + 1, sizeof(*p->host));
	h.group = calloc(p->groups + 1, sizeof(*h.group));
	if (!p->host || !h.group)
		return err_nomem(e);
	h.first = (uint64_t)(leaf.hosts.first.v - leaf.subnet.addr.v);
	h.last = h.first + p->made.ask.leaf - 1;
	for (size_t i = 0; i < p->n_pins; i++) {
		p->host[i].node = plan_cables_of(p, p->pin[i].node);
		read_pinned(&h, i);
	}
	if (add_addresses(&h, e))
		return -1;
	find_twice(&h);
	find_unheard(&h);
	for (size_t i = 0; i < p->n_pins; i++)
		if (p->pin[i].group != PIN_NONE && !p->host[i].number && !take_said_number(&h, i) &&
		    !h.group[p->pin[i].group].unheard)
			take_lowest_number(&h, i);
	return 0;
}
