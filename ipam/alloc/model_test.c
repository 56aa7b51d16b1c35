/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_test.c: many random calls against a model that is too simple to be wrong: a table of
 * addresses.
 *
 * MODEL_STEPS sets how many (20,000), MODEL_SEED where the same sequence of numbers begins (1).
 */
#include "ipam/testing/ipam.h"

#define COOLDOWN   (5 * SECOND)
#define CONTAINERS 40
#define PODS       30 /* containers 30 to 39 are second sandboxes of pods 0 to 9 */
#define NETWORKS   3
#define ADDRESSES  64

/* One set each of up to two sources; the third network is dual stack. */
static const struct {
	const char *name, *conf;
	bool strict, sticky;
	const char *ranges[2][2]; /* what each set gives, in the order of its sources */
} networks[NETWORKS] = {
	{ "plain",
	  "{\"subnet\":\"10.0.0.0/28\",\"cooldown\":5,\"sticky\":true}",
	  false,
	  true,
	  { { "10.0.0.2-10.0.0.14" } } },
	{ "strict",
	  "{\"subnet\":\"10.0.1.0/28\",\"cooldown\":5,\"strictCooldown\":true}",
	  true,
	  false,
	  { { "10.0.1.2-10.0.1.14" } } },
	{ "dual",
	  "{\"ranges\":[[{\"subnet\":\"10.0.2.0/29\"},{\"subnet\":\"10.0.3.0/29\"}],"
	  "[{\"subnet\":\"fd00::/124\"}]],\"cooldown\":5}",
	  false,
	  false,
	  { { "10.0.2.2-10.0.2.6", "10.0.3.2-10.0.3.6" }, { "fd00::2-fd00::f" } } },
};

struct address {
	struct ip ip;
	int source;    /* index into ranges[set] */
	int holder;    /* container, -1: nobody */
	int last;      /* the pod that had it last, -1: nobody */
	int64_t since; /* released; 0: never used */
};

struct set {
	struct address items[ADDRESSES];
	size_t n;
};

/* What sticks to a pod, in order: addresses of a network's first set. */
struct claims {
	struct address *items[ADDRESSES];
	size_t n;
};

struct model {
	struct fixture w;
	struct set sets[NETWORKS][2];
	struct claims claims[NETWORKS][PODS];
	bool dead[CONTAINERS]; /* its namespace is gone, and no DEL came */
	uint64_t seed;
};

static struct model model;

/* Every fourth one is of a plugin without records. */
static bool has_record(int container)
{
	return container % 4 != 0;
}

static uint64_t mark(const struct ctx *ctx, const struct owner *o)
{
	(void)ctx;
	return has_record((int)strtol(o->container + 1, NULL, 10)) ? 1 : 0;
}

static void look(const struct ctx *ctx, const struct owner *o, struct holder_view *out)
{
	int container = (int)strtol(o->container + 1, NULL, 10);

	out->mark = mark(ctx, o);
	out->state = !out->mark              ? HOLDER_UNRECORDED
		     : model.dead[container] ? HOLDER_GONE
					     : HOLDER_MAY_LIVE;
}

static const struct holder_ops holders = { look, mark };

static unsigned random_below(struct model *m, unsigned n)
{
	m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(m->seed >> 33) % n;
}

static void load_set(struct set *s, const char *const ranges[2])
{
	for (int i = 0; i < 2 && ranges[i]; i++) {
		struct ip_range r;

		ck_assert_int_eq(ip_parse_range(ranges[i], &r), 0);
		for (; ip_cmp(r.first, r.last) <= 0; r.first.v++)
			s->items[s->n++] = (struct address){ r.first, i, -1, -1, 0 };
	}
}

static struct address *held_by(struct set *s, int container)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->items[i].holder == container)
			return &s->items[i];
	}
	return NULL;
}

static bool rested(const struct model *m, const struct address *a)
{
	return a->holder < 0 && a->since <= m->w.now - COOLDOWN;
}

/* The best that is left: smaller is better. -1: it cannot be given. */
static int64_t rank(const struct model *m, int net, const struct address *a)
{
	if (a->holder >= 0)
		return -1;
	if (rested(m, a))
		return (a->source ? INT64_MAX / 4 : 0) + a->since / 4;
	return networks[net].strict
		       ? -1
		       : INT64_MAX / 2 + (a->source ? INT64_MAX / 4 : 0) + a->since / 4;
}

static int64_t best_rank(const struct model *m, int net, const struct set *s)
{
	int64_t best = -1;

	for (size_t i = 0; i < s->n; i++) {
		int64_t r = rank(m, net, &s->items[i]);
		if (r >= 0 && (best < 0 || r < best))
			best = r;
	}
	return best;
}

static struct address *find(struct set *s, const char *text)
{
	struct ip ip;

	ck_assert_msg(ip_parse(text, &ip) == 0, "%s", text);
	for (size_t i = 0; i < s->n; i++) {
		if (ip_equal(s->items[i].ip, ip))
			return &s->items[i];
	}
	return NULL;
}

/* The address that a pod of a sticky network must get: the first of its own that is free. */
static struct address *sticky_of(struct model *m, int net, int container)
{
	const struct claims *c = &m->claims[net][container % PODS];

	for (size_t i = 0; networks[net].sticky && i < c->n; i++) {
		if (c->items[i]->holder < 0)
			return c->items[i];
	}
	return NULL;
}

static void drop_claim(struct claims *c, const struct address *a)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->items[i] != a)
			c->items[n++] = c->items[i];
	}
	c->n = n;
}

/* What a sandbox of the pod holds stays the pod's; of the rest only the new address does. */
static void claim(struct model *m, int net, int pod, struct address *a)
{
	struct claims *c = &m->claims[net][pod];
	size_t n = 0;

	for (int other = 0; other < PODS; other++) {
		if (other != pod)
			drop_claim(&m->claims[net][other], a);
	}
	for (size_t i = 0; i < c->n; i++) {
		if (c->items[i]->holder >= 0 && c->items[i]->holder % PODS == pod)
			c->items[n++] = c->items[i];
	}
	c->n = n;
	for (size_t i = 0; i < n; i++) {
		if (c->items[i] == a)
			return;
	}
	c->items[c->n++] = a;
}

/* Of another sandbox of the pod, which is proved gone. */
static bool inherits(const struct model *m, const struct address *a, int container)
{
	int h = a->holder;

	return h >= 0 && h != container && h % PODS == container % PODS && m->dead[h] &&
	       has_record(h);
}

/* What ADD releases before it chooses. Returns one of them, NULL for none. */
static struct address *release_inherited(struct model *m, struct set *s, int container)
{
	struct address *own = NULL;

	for (size_t i = 0; i < s->n; i++) {
		if (!inherits(m, &s->items[i], container))
			continue;
		s->items[i].holder = -1;
		s->items[i].since = m->w.now;
		own = &s->items[i];
	}
	return own;
}

static void give(struct model *m, int net, struct set *s, int container, const char *text)
{
	struct address *own = release_inherited(m, s, container);
	struct address *a = find(s, text), *want = sticky_of(m, net, container);

	ck_assert_msg(a != NULL, "%s is not of network %s", text, networks[net].name);
	ck_assert_msg(a->holder < 0, "%s given twice: container %d holds it", text, a->holder);
	if (want)
		ck_assert_msg(a == want, "sticky: %s is not the pod's own address", text);
	else if (own)
		ck_assert_msg(a->last == container % PODS && a->since == m->w.now,
			      "%s is not of the pod's earlier sandbox", text);
	else
		ck_assert_msg(rank(m, net, a) == best_rank(m, net, s), "%s is not the best one",
			      text);
	a->holder = container;
	a->last = container % PODS;
	if (networks[net].sticky)
		claim(m, net, container % PODS, a);
}

static bool can_give(const struct model *m, int net, int container)
{
	for (int i = 0; i < 2; i++) {
		const struct set *s = &m->sets[net][i];
		bool inherited = false;

		for (size_t k = 0; k < s->n; k++)
			inherited = inherited || inherits(m, &s->items[k], container);
		if (s->n && !inherited && best_rank(m, net, s) < 0)
			return false;
	}
	return true;
}

static const char *call_add(struct model *m, int net, int container)
{
	char id[16], args[64];

	(void)snprintf(id, sizeof(id), "c%d", container);
	(void)snprintf(args, sizeof(args), "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p%d",
		       container % PODS);
	m->w.network = networks[net].name;
	return w_add(&m->w, networks[net].conf, id, args);
}

static void step_add(struct model *m, int net, int container)
{
	struct address *v4 = held_by(&m->sets[net][0], container);
	struct address *v6 = held_by(&m->sets[net][1], container);
	m->dead[container] = false;
	const char *got = call_add(m, net, container);
	char first[64], *second;

	if (*got == '!') {
		ck_assert_msg(!v4 && strncmp(got, "!101", 4) == 0, "%s", got);
		ck_assert_msg(!can_give(m, net, container), "%s", got);
		return;
	}
	(void)snprintf(first, sizeof(first), "%s", got);
	second = strchr(first, ' ');
	if (second)
		*second++ = '\0';
	ck_assert_int_eq(second != NULL, m->sets[net][1].n > 0);
	if (v4) { /* again: the same */
		ck_assert_ptr_eq(find(&m->sets[net][0], first), v4);
		ck_assert(!second || find(&m->sets[net][1], second) == v6);
		return;
	}
	give(m, net, &m->sets[net][0], container, first);
	if (second)
		give(m, net, &m->sets[net][1], container, second);
}

static void let_go(struct model *m, int net, int container, int64_t since)
{
	for (int i = 0; i < 2; i++) {
		struct address *a = held_by(&m->sets[net][i], container);
		if (a) {
			a->holder = -1;
			a->since = since;
		}
	}
}

static void step_del(struct model *m, int net, int container)
{
	char id[16];

	(void)snprintf(id, sizeof(id), "c%d", container);
	m->w.network = networks[net].name;
	w_del(&m->w, id);
	let_go(m, net, container, m->w.now);
}

/* Its namespace goes, with the address in it; the lease stays. */
static void step_die(struct model *m, int container)
{
	m->dead[container] = true;
}

static bool keep_odd(const char *container, const char *ifname, const void *arg)
{
	(void)ifname;
	(void)arg;
	return (container[strlen(container) - 1] - '0') % 2;
}

static void step_gc(struct model *m, int net)
{
	const struct alloc_gc gc = { networks[net].name, keep_odd, NULL };

	ck_assert_int_eq(alloc_gc(&m->w.m, &gc, NULL, &m->w.e), 0);
	for (int c = 0; c < CONTAINERS; c += 2) {
		if (!has_record(c) || m->dead[c])
			let_go(m, net, c, m->w.now);
	}
}

/* All is free. */
static void step_boot(struct model *m)
{
	fixture_boot(&m->w, BOOT_2);
	m->w.network = "nobody";
	w_del(&m->w, "nobody");
}

static void step(struct model *m)
{
	int net = (int)random_below(m, NETWORKS), container = (int)random_below(m, CONTAINERS);
	unsigned what = random_below(m, 1000);

	m->w.now += random_below(m, 1000) * (SECOND / 1000) + 1;
	if (what < 500)
		step_add(m, net, container);
	else if (what < 560)
		step_die(m, container);
	else if (what < 995)
		step_del(m, net, container);
	else if (what < 998)
		step_gc(m, net);
	else if (what < 999)
		m->w.now += 10 * SECOND;
	else
		w_sound(&m->w);
}

START_TEST(allocation_agrees_with_the_model)
{
	struct model *m = &model;
	unsigned steps = testing_number("MODEL_STEPS", 20000);

	m->seed = testing_number("MODEL_SEED", 1);
	fixture_open(&m->w);
	m->w.m.holders = &holders;
	for (int net = 0; net < NETWORKS; net++) {
		for (int i = 0; i < 2; i++)
			load_set(&m->sets[net][i], networks[net].ranges[i]);
	}
	for (unsigned i = 0; i < steps; i++)
		step(m);
	w_sound(&m->w);
	step_boot(m);
	w_sound(&m->w);
	struct json *list = NULL;
	const struct lease_filter all = { .pool = NULL };
	ck_assert_int_eq(admin_leases(&m->w.m, &all, &list, &m->w.e), 0);
	ck_assert_uint_eq(json_len(list), 0);
	json_free(list);
	fixture_close(&m->w);
}
END_TEST

TEST_PROGRAM("model", allocation_agrees_with_the_model)
