// SPDX-License-Identifier: Apache-2.0
/*
 * Properties of random trees without NVLink: names change no answer, and a change of one link,
 * switch or NUMA node changes only the paths through it.
 */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/core/machine_build.h"
#include "topo/read/read.h"
#include "topo/testing/nccl.h"
#include "topo/nccl/write.h"

#define MACHINES 60
#define MAX_NODE 96

enum kind { CPU, SWITCH, GPU, NIC };

struct node {
	int parent; /* -1: a CPU */
	enum kind kind;
	uint16_t speed;
	uint8_t width;
	uint16_t device, sub; /* of a switch, Broadcom's */
	uint32_t mbps;
};

struct spec {
	struct node node[MAX_NODE]; /* before what is below it */
	int n;
	uint64_t seed;
};

static unsigned int pick(struct spec *s, unsigned int n)
{
	s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(s->seed >> 33) % n;
}

static void grow(struct spec *s, int parent, unsigned int depth)
{
	static const uint16_t speeds[] = { 30, 60, 120, 240 };
	static const uint16_t subs[] = { 0xa096, 0x0072, 0x1003, 0x1d25 };
	static const uint32_t rates[] = { 100000, 200000, 400000 };
	unsigned int n = 1 + pick(s, 4);

	for (unsigned int i = 0; i < n && s->n < MAX_NODE; i++) {
		int me = s->n++;
		bool deeper = depth < 4 && pick(s, 5) < 2;
		s->node[me] = (struct node){
			.parent = parent,
			.kind = deeper       ? SWITCH
				: pick(s, 2) ? GPU
					     : NIC,
			.speed = speeds[pick(s, 4)],
			.width = pick(s, 4) ? 16 : 8,
			.device = pick(s, 2) ? 0xc010 : 0xc030,
			.sub = subs[pick(s, 4)],
			.mbps = rates[pick(s, 3)],
		};
		if (deeper)
			grow(s, me, depth + 1);
	}
}

static void make_spec(struct spec *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->seed = seed;
	for (unsigned int cpus = 1 + pick(s, 3); cpus; cpus--) {
		int me = s->n++;
		s->node[me] = (struct node){ .parent = -1, .kind = CPU };
		grow(s, me, 0);
		if (s->n >= MAX_NODE - 1)
			break;
	}
}

/* ---- a topology file's machine of it ---- */

static void must(int rc)
{
	if (rc)
		ck_abort_msg("no memory");
}

static void add_cpu(struct topo_machine *m, int numa, uint32_t *out)
{
	struct err e;
	uint32_t cpu;

	must(topo_add_cpu(m, numa, &cpu, &e) || topo_add_root(m, "", out, &e));
	m->root[*out].cpu = cpu;
	memcpy(m->cpu[cpu].vendor, "AuthenticAMD", 13);
	memcpy(m->cpu[cpu].arch, "x86_64", 7);
}

static void add_device(struct topo_machine *m, const struct node *d, uint32_t pci)
{
	char name[16];
	uint32_t me;
	struct err e;

	if (d->kind == GPU) {
		must(topo_add_gpu(m, pci, &me, &e));
		m->gpu[me].sm = 90;
		m->gpu[me].rank = m->gpu[me].index;
	} else if (d->kind == NIC) {
		(void)snprintf(name, sizeof(name), "net%zu", m->n_hcas);
		must(topo_add_hca(m, name, &me, &e) || topo_add_port(&m->hca[me], 1, &e));
		m->hca[me].pci = pci;
		m->hca[me].dev = (int)me;
		m->hca[me].port[0].rate_mbps = d->mbps;
	}
}

static void add_pci(struct topo_machine *m, const struct node *d, struct pci_addr a, uint32_t *out)
{
	static const uint32_t classes[] = {
		[SWITCH] = 0x060400, [GPU] = 0x030200, [NIC] = 0x020700
	};
	struct err e;

	must(topo_add_pci(m, a, out, &e));
	struct topo_pci *p = &m->pci[*out];
	p->has_class = p->has_ids = true;
	p->class_code = classes[d->kind];
	p->vendor = p->sub_vendor = d->kind == SWITCH ? 0x1000 : 0x15b3;
	p->device = d->device;
	p->sub_device = d->sub;
	p->max = p->cur = (struct topo_pcie_link){ d->speed, d->width };
	p->kind = d->kind == SWITCH ? TOPO_UPSTREAM : TOPO_ENDPOINT;
	add_device(m, d, *out);
}

/* In a tree each function hangs on a port: of its root complex, or of the switch above. */
static uint32_t add_port(struct topo_machine *m, uint32_t above, uint32_t root, unsigned int n)
{
	struct err e;
	uint32_t port;

	must(topo_add_pci(m, (struct pci_addr){ n >> 8, (uint8_t)n, 1, 0 }, &port, &e));
	m->pci[port].root = root;
	m->pci[port].parent = above;
	return port;
}

/* Addresses and NUMA nodes from `first` on, addresses `step` apart. */
static void build_as(enum topo_source source, const struct spec *s, unsigned int first,
		     unsigned int step, struct topo_machine *m)
{
	uint32_t at[MAX_NODE], root = 0;
	int numa = (int)first;

	*m = (struct topo_machine){ .source = source };
	for (int i = 0; i < s->n; i++) {
		const struct node *d = &s->node[i];
		unsigned int n = first + (unsigned int)i * step;
		struct pci_addr a = { n >> 8, (uint8_t)n, 0, 0 };
		if (d->kind == CPU) {
			add_cpu(m, numa++, &root);
			continue;
		}
		uint32_t above = s->node[d->parent].kind == CPU ? TOPO_NONE : at[d->parent];
		if (source == TOPO_CAPTURE)
			above = add_port(m, above, root, n);
		add_pci(m, d, a, &at[i]);
		m->pci[at[i]].root = root;
		m->pci[at[i]].parent = above;
		m->pci[at[i]].numa = numa - 1;
	}
}

static void build(const struct spec *s, struct topo_machine *m)
{
	build_as(TOPO_NCCL_XML, s, 1, 1, m);
}

static void predict(const struct topo_machine *m, struct nccl_prediction *a)
{
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	struct err e;

	must(nccl_predict(m, NULL, &o, a, &e));
}

static bool same_path(const struct nccl_net_path *x, const struct nccl_net_path *y)
{
	return x->type == y->type && x->bw == y->bw && x->hops == y->hops;
}

START_TEST(names_change_nothing)
{
	unsigned int bad = 0, gpus = 0;

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		auto_topo_machine struct topo_machine m = { 0 }, other = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
		struct spec s;
		make_spec(&s, seed);
		build(&s, &m);
		build_as(TOPO_NCCL_XML, &s, 77, 5, &other);
		predict(&m, &a);
		predict(&other, &b);
		bad += !nccl_same(&a, &b);
		gpus += (unsigned int)a.n_gpus;
	}
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_gt(gpus, MACHINES);
}
END_TEST

START_TEST(written_and_read_back_is_the_same)
{
	unsigned int bad = 0;

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		auto_topo_machine struct topo_machine m = { 0 }, again = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
		auto_free char *text = NULL;
		struct spec s;
		struct err e;
		make_spec(&s, seed);
		build(&s, &m);
		if (topo_xml_write(&m, &(struct topo_xml_opts){ 0 }, &text, &e) || !m.n_gpus ||
		    !m.n_hcas)
			continue;
		must(topo_read_xml(text, strlen(text), &again, &e));
		predict(&m, &a);
		predict(&again, &b);
		bad += !nccl_same(&a, &b);
	}
	ck_assert_uint_eq(bad, 0);
}
END_TEST

/* ---- one change ---- */

static bool is_below(const struct spec *s, int i, int top)
{
	while (i >= 0 && i != top)
		i = s->node[i].parent;
	return i == top;
}

static int device(const struct spec *s, enum kind kind, unsigned int nth)
{
	int i = 0;

	for (;; i++) {
		if (s->node[i].kind == kind && !nth--)
			return i;
	}
}

static const struct nccl_net_path *path_to(const struct nccl_prediction *a, unsigned int gpu,
					   uint32_t hca)
{
	for (size_t n = 0; n < a->n_nets; n++) {
		if (a->net[n].hca == hca)
			return &a->gpu[gpu].path[n];
	}
	ck_abort_msg("net %u is gone", hca);
}

/* Of whichever order. */
static bool same_locals(const struct nccl_prediction *a, const struct nccl_prediction *b,
			unsigned int gpu)
{
	const struct nccl_gpu *x = &a->gpu[gpu], *y = &b->gpu[gpu];
	uint64_t in_x[2] = { 0 }, in_y[2] = { 0 };

	for (size_t i = 0; i < x->n_local; i++)
		in_x[a->net[x->local[i]].hca / 64] |= UINT64_C(1) << a->net[x->local[i]].hca % 64;
	for (size_t i = 0; i < y->n_local; i++)
		in_y[b->net[y->local[i]].hca / 64] |= UINT64_C(1) << b->net[y->local[i]].hca % 64;
	return !memcmp(in_x, in_y, sizeof(in_x));
}

/*
 * Ways that do not pass the link above `changed` are as they were; and a GPU none of whose ways
 * changed has the same nets to choose from.
 */
static unsigned int spilled(const struct spec *s, int changed, const struct nccl_prediction *a,
			    const struct nccl_prediction *b)
{
	unsigned int bad = 0;

	for (unsigned int g = 0; g < a->n_gpus; g++) {
		bool inside = is_below(s, device(s, GPU, g), changed), touched = false;
		for (unsigned int h = 0; h < a->n_nets; h++) {
			bool same = same_path(path_to(a, g, h), path_to(b, g, h));
			touched = touched || !same;
			bad += !same && inside == is_below(s, device(s, NIC, h), changed);
		}
		bad += !touched && !same_locals(a, b, g);
	}
	return bad;
}

/* A link that becomes narrower widens no path. */
static unsigned int widened(const struct nccl_prediction *a, const struct nccl_prediction *b)
{
	unsigned int bad = 0;

	for (size_t g = 0; g < a->n_gpus; g++) {
		for (size_t n = 0; n < a->n_nets; n++)
			bad += b->gpu[g].path[n].bw > a->gpu[g].path[n].bw;
	}
	return bad;
}

static unsigned int differs(const struct nccl_prediction *a, const struct nccl_prediction *b)
{
	return !nccl_same(a, b);
}

struct counts {
	unsigned int spilled, widened, changed;
};

static void change_one(const struct spec *before, int i, void (*change)(struct node *),
		       struct counts *c)
{
	auto_topo_machine struct topo_machine m = { 0 }, other = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
	struct spec after = *before;

	change(&after.node[i]);
	build(before, &m);
	build(&after, &other);
	predict(&m, &a);
	predict(&other, &b);
	c->spilled += spilled(before, i, &a, &b);
	c->widened += widened(&a, &b);
	c->changed += differs(&a, &b);
}

static void slower(struct node *d)
{
	d->speed = 15;
}

static void narrower(struct node *d)
{
	d->width = 1;
}

START_TEST(one_link)
{
	struct counts c = { 0 };

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		struct spec s;
		make_spec(&s, seed);
		int i = (int)pick(&s, (unsigned int)s.n);
		if (s.node[i].kind == CPU)
			continue;
		change_one(&s, i, slower, &c);
		change_one(&s, i, narrower, &c);
	}
	ck_assert_uint_eq(c.spilled, 0);
	ck_assert_uint_eq(c.widened, 0);
	ck_assert_uint_gt(c.changed, MACHINES / 2);
}
END_TEST

/* A switch's ids: only what is below it, or below the switch that it melts into, can change. */
static void other_ids(struct node *d)
{
	d->device = d->device == 0xc010 ? 0xc030 : 0xc010;
	d->sub = d->device == 0xc010 ? 0xa096 : 0x1003;
}

static unsigned int strange(const struct spec *s, int top, const struct nccl_prediction *a,
			    const struct nccl_prediction *b)
{
	unsigned int bad = 0;

	for (unsigned int g = 0; g < a->n_gpus; g++) {
		for (unsigned int n = 0; n < a->n_nets; n++) {
			const struct nccl_net_path *x = &a->gpu[g].path[n], *y = &b->gpu[g].path[n];
			bool near = is_below(s, device(s, GPU, g), top) ||
				    is_below(s, device(s, NIC, n), top);
			/* and what went over the host bridge still does */
			bad += (!near && !same_path(x, y)) ||
			       (x->type > NCCL_PXB) != (y->type > NCCL_PXB);
		}
	}
	return bad;
}

START_TEST(one_switch)
{
	unsigned int bad = 0, changed = 0;

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		auto_topo_machine struct topo_machine m = { 0 }, other = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
		struct spec s, after;
		make_spec(&s, seed);
		int i = (int)pick(&s, (unsigned int)s.n);
		if (s.node[i].kind != SWITCH)
			continue;
		after = s;
		other_ids(&after.node[i]);
		build(&s, &m);
		build(&after, &other);
		predict(&m, &a);
		predict(&other, &b);
		int top = s.node[s.node[i].parent].kind == SWITCH ? s.node[i].parent : i;
		bad += strange(&s, top, &a, &b);
		changed += differs(&a, &b);
	}
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_gt(changed, 0);
}
END_TEST

/* A function says it is on a NUMA node of its own: NCCL believes the last one below the root
 * complex only, and ways between others stay. */
static void move_one(const struct spec *s, int i, struct counts *c)
{
	auto_topo_machine struct topo_machine m = { 0 }, other = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
	uint32_t cpu, pci = 1;
	struct err e;

	build_as(TOPO_CAPTURE, s, 1, 1, &m);
	build_as(TOPO_CAPTURE, s, 1, 1, &other);
	must(topo_add_cpu(&other, 99, &cpu, &e));
	other.cpu[cpu] = other.cpu[0];
	other.cpu[cpu].numa = 99;
	for (int k = 0; k < i; k++)
		pci += s->node[k].kind == CPU ? 0 : 2;
	other.pci[pci].numa = 99;
	predict(&m, &a);
	predict(&other, &b);
	if (s->node[s->node[i].parent].kind == CPU)
		c->spilled += spilled(s, i, &a, &b);
	else
		c->spilled += differs(&a, &b);
	c->changed += differs(&a, &b);
}

START_TEST(one_numa_node)
{
	struct counts c = { 0 };

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		struct spec s;
		make_spec(&s, seed);
		int i = (int)pick(&s, (unsigned int)s.n);
		if (s.node[i].kind != CPU)
			move_one(&s, i, &c);
	}
	ck_assert_uint_eq(c.spilled, 0);
	ck_assert_uint_gt(c.changed, 0);
}
END_TEST

/* A tree is climbed to the same elements as its topology file has. */
START_TEST(trees_and_files_are_answered_alike)
{
	unsigned int bad = 0;

	for (uint64_t seed = 1; seed <= MACHINES; seed++) {
		auto_topo_machine struct topo_machine tree = { 0 }, file = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
		struct spec s;
		make_spec(&s, seed);
		/* a file has CPUs that nothing is below, and in its own order */
		for (int i = 1; i < s.n; i++) {
			if (s.node[i].kind == CPU)
				s.n = i;
		}
		build(&s, &file);
		build_as(TOPO_CAPTURE, &s, 1, 1, &tree);
		predict(&file, &a);
		predict(&tree, &b);
		bad += a.n_gpus && !nccl_same(&a, &b);
	}
	ck_assert_uint_eq(bad, 0);
}
END_TEST

TEST_PROGRAM("nccl_random", names_change_nothing, written_and_read_back_is_the_same, one_link,
	     one_switch, one_numa_node, trees_and_files_are_answered_alike)
