/* SPDX-License-Identifier: Apache-2.0 */
/* alloc.c: ADD and STATUS: find the sets of sources, choose one address of each, assign them all.
 */
#include "ipam/alloc/alloc.h"

#include <stdio.h>
#include <string.h>

#include "ipam/alloc/priv.h"
#include "ipam/alloc/choose.h"
#include "ipam/alloc/sandbox.h"

#define STATUS_NEED_MS 1000

void alloc_result_clear(struct alloc_result *r)
{
	sources_clear(&r->pools);
	*r = (struct alloc_result){ 0 };
}

static int check_families(const struct source_sets *sets, struct err *e)
{
	int count[2] = { 0, 0 };

	for (size_t i = 0; i < sets->n; i++) {
		if (++count[sets->sets[i].items[0].subnet.addr.family == IP_V6] > 1)
			return err_set(
				e, ERR_CONFIG, 0,
				"cniVersion: results below 0.3.0 have one address of each "
				"family, but ipam asks for more; use cniVersion 0.3.0 or later");
	}
	return 0;
}

/* ---- choice ---- */

struct container_scan {
	struct addr_request *request;
	struct err *e;
	bool failed;
};

static int note_avoided(const char *key, const char *value, void *arg)
{
	struct container_scan *c = arg;
	struct key_list list;
	struct key_address a;

	if (key_list_parse(value, key, &list, c->e)) {
		c->failed = true;
		return 1;
	}
	for (size_t i = 0; i < list.n; i++) {
		if (key_parse_address(list.items[i].s, &a))
			continue;
		if (c->request->n_avoid == ALLOC_AVOID_MAX) {
			err_set(c->e, ERR_CONFIG, 0, "a container holds more than %d addresses",
				ALLOC_AVOID_MAX);
			c->failed = true;
			return 1;
		}
		c->request->avoid[c->request->n_avoid++] = a.ip;
	}
	return 0;
}

/* Two interfaces of a pod never get the same address, not even in different networks. */
static int load_avoided(struct lease_db *l, const struct owner *o, struct addr_request *request,
			struct err *e)
{
	struct container_scan scan = { .request = request, .e = e };
	struct key prefix;

	key_of_container(&prefix, o->container);
	if (lease_db_scan(l, &prefix, note_avoided, &scan, e))
		return -1;
	return scan.failed ? -1 : 0;
}

static int check_policy(struct lease_db *l, const struct source *s, const struct owner *o,
			struct err *e)
{
	uint64_t held = 0;

	if (s->blocks.shared && !s->blocks.uid)
		return block_refuse_alone(s, e);
	if (s->blocks.moves && block_refuse_nobody(s, o, e))
		return -1;
	if (!s->policy.namespaces && !s->policy.quota)
		return 0;
	if (s->policy.quota && lease_db_quota(l, s->scope, o->ns, &held, e))
		return -1;
	return policy_allows(&s->policy, s->label, o->ns, held, e);
}

/* The source is not used for this owner; the next one of the set is. */
static bool is_refusal(const struct err *e)
{
	return e->code == ERR_FORBIDDEN || e->code == ERR_CONFIG;
}

typedef int (*choose_fn)(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e);

/* A question to the node agent. */
struct alloc_lack {
	char pool[KEY_NAME_MAX + 1]; /* the pool that needs blocks; "": none does */
	struct ip ip;                /* the address whose block is needed; IP_NONE: any block */
	bool moves;                  /* the block of the pod is needed */
	bool unknown;                /* the node does not know the pool (yet) */
};

static void set_lacking(struct alloc_lack *lack, const struct source *s, struct ip ip)
{
	const struct ip any = { .family = IP_NONE };

	(void)snprintf(lack->pool, sizeof(lack->pool), "%s", key_pool_of(s->scope));
	lack->moves = s->blocks.moves;
	/* A certain address comes only with the block of its pod. */
	lack->ip = lack->moves ? any : ip;
}

/* The search for one address in one set. */
struct alloc_search {
	struct lease_db *l;
	const struct source_set *set;
	struct addr_request *request;
	struct holder_checks *checks;
	bool any_namespace;        /* ignore the policies of pools */
	struct alloc_lack lacking; /* output */
	struct err refusal;        /* the first refusal by a policy, if refused > 0 */
	size_t refused;
};

/* Tries the sources in order, except those that a policy forbids. 1 found, 0 none, -1 error. */
static int search_sources(struct alloc_search *h, choose_fn fn, struct addr_choice *out,
			  struct err *e)
{
	h->refused = 0;
	for (size_t i = 0; i < h->set->n; i++) {
		const struct source *s = &h->set->items[i];

		if (!h->any_namespace && check_policy(h->l, s, h->request->owner, e)) {
			if (!is_refusal(e))
				return -1;
			if (h->refused++ == 0)
				h->refusal = *e;
			continue;
		}
		int rc = fn(h->l, s, h->request, out, e);
		if (rc)
			return rc;
	}
	return 0;
}

/* The first source with blocks: the node agent is asked for more of them. */
static const struct source *find_lacking(const struct source_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->items[i].blocks.uid)
			return &set->items[i];
	}
	return NULL;
}

static int refuse_exhausted(struct alloc_search *h, struct err *e)
{
	const struct source *lacking = find_lacking(h->set);
	char names[400] = "";
	size_t len = 0;
	bool strict = false;

	if (h->refused == h->set->n)
		return err_pass(e, &h->refusal);
	if (lacking)
		set_lacking(&h->lacking, lacking, (struct ip){ .family = IP_NONE });
	/* Only the agent knows whether a pod gets one: STATUS has no pod. */
	if (h->lacking.moves && h->any_namespace)
		return 0;
	if (lacking && h->set->n == 1)
		return block_refuse(h->l, lacking, e);
	for (size_t i = 0; i < h->set->n && len < sizeof(names) - 2; i++) {
		const struct source *s = &h->set->items[i];

		if (i)
			len += (size_t)snprintf(names + len, sizeof(names) - len, ", ");
		len += alloc_describe(s, names + len, sizeof(names) - len);
		strict = strict || s->policy.strict;
	}
	err_set(e, ERR_EXHAUSTED, 0, "no address is left in %s", names);
	if (strict)
		err_hint(e, "addresses that still cool down are not assigned, because "
			    "strictCooldown is set");
	return err_hint(
		e,
		"`railctl ipam lease list` shows the owners; for more addresses use `railctl ipam "
		"pool set`, another pool, or a larger range");
}

/* The address of the pod's earlier sandbox, from whichever source. 1 found, 0 none. */
static int alloc_find_own(struct alloc_search *h, struct addr_choice *out, struct err *e)
{
	const struct source *s = sources_find(h->set, h->request->own);

	if (!s)
		return 0;
	if (check_policy(h->l, s, h->request->owner, e))
		return is_refusal(e) ? 0 : -1;
	return alloc_choose(h->l, s, h->request, out, e);
}

static int find_one(struct alloc_search *h, struct addr_choice *out, struct err *e)
{
	int rc = alloc_find_own(h, out, e);

	if (rc == 0)
		rc = search_sources(h, alloc_choose, out, e);
	if (rc == 0)
		rc = search_sources(h, alloc_choose_cooling, out, e);
	if (rc == 0)
		return refuse_exhausted(h, e);
	return rc < 0 ? -1 : 0;
}

/* Releases the addresses of this set that earlier sandboxes of the pod hold, if they are gone. */
static int take_over_sandboxes(struct alloc_search *h, struct err *e)
{
	const struct sandbox new = { h->l, h->request->owner, h->request->identity, h->checks };

	h->request->own = (struct ip){ .family = IP_NONE };
	for (size_t i = 0; i < h->set->n; i++) {
		struct ip ip;

		if (sandbox_take_over(&new, &h->set->items[i], &ip, e))
			return -1;
		if (ip.family && !h->request->own.family)
			h->request->own = ip;
	}
	return 0;
}

/* The requested address. The node agent is asked for its block, if it is of another node. */
static int find_wanted(struct alloc_search *h, struct addr_choice *out, struct err *e)
{
	const struct addr_request *r = h->request;
	const struct source *s = sources_find(h->set, r->want);
	int rc;

	if (check_policy(h->l, s, r->owner, e) ||
	    policy_allows_fixed(&s->policy, s->label, r->owner->ns, e))
		return -1;
	rc = alloc_choose_exactly(h->l, s, r, out, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	set_lacking(&h->lacking, s, r->want);
	return block_refuse_address(h->l, s, r->want, e);
}

/* Chooses one address of every set and assigns none. want NULL: no address is requested. */
static int choose_all(struct alloc_search *h, const struct source_sets *sets, const struct ip *want,
		      struct addr_choice *out, struct err *e)
{
	struct addr_request *r = h->request;

	for (size_t i = 0; i < sets->n; i++) {
		h->set = &sets->sets[i];
		r->want = want ? want[i] : (struct ip){ .family = IP_NONE };
		if (take_over_sandboxes(h, e))
			return -1;
		if (r->want.family) {
			if (find_wanted(h, &out[i], e))
				return -1;
		} else if (find_one(h, &out[i], e)) {
			return -1;
		}
		if (r->n_avoid < ALLOC_AVOID_MAX)
			r->avoid[r->n_avoid++] = out[i].ip;
	}
	return 0;
}

/* ---- ADD and STATUS ---- */

struct add_job {
	const struct alloc_add *add;
	struct alloc_result *out;
	struct holder_checks *checks;
	bool last;                 /* treat holders that are not checked as alive */
	struct alloc_lack lacking; /* output: as in struct alloc_search */
	char is_of[IDENTITY_LEN];  /* of the pod, or of the machine that it runs */
};

/* Two interfaces on a wire must not share a GUID, so that a pool has either GUIDs or addresses. */
static int check_kind(const struct source_sets *sets, bool guids, struct err *e)
{
	for (size_t i = 0; i < sets->n; i++) {
		for (size_t k = 0; k < sets->sets[i].n; k++) {
			const struct source *s = &sets->sets[i].items[k];

			if (source_has_guids(s) == guids)
				continue;
			err_set(e, ERR_CONFIG, 0, "%s has %s", s->label,
				guids ? "IP addresses, not GUIDs"
				      : "GUIDs of InfiniBand, not IP addresses");
			return err_hint(e,
					guids ? "a pool of GUIDs has a subnet in fe80::/64: "
						"`railctl ipam pool add NAME --guids FIRST-LAST`"
					      : "name it in ipam." CNI_CONF_GUID_POOL
						" of a network of ib-sriov: railhead-ib-sriov(8)");
		}
	}
	return 0;
}

static int grant_new(struct lease_db *l, const struct source_sets *sets, struct add_job *job,
		     struct err *e)
{
	const struct request *r = job->add->request;
	struct alloc_result *out = job->out;
	auto_overlap struct overlap overlap = { .node = job->add->node, .files = { .dir = -1 } };
	struct addr_request request = { .owner = &r->owner,
					.overlap = &overlap,
					.probes = job->add->probes };
	struct alloc_search h = { .l = l, .request = &request, .checks = job->checks };
	struct addr_choice choices[SOURCE_SETS_MAX];
	struct ip want[SOURCE_SETS_MAX] = { { .family = IP_NONE } };

	memcpy(request.identity, job->is_of, sizeof(request.identity));
	if (overlap_open(&overlap, l, job->add->conf->data_dir, r->owner.network, e) ||
	    alloc_match_wanted(sets, r, want, e) || load_avoided(l, &r->owner, &request, e))
		return -1;
	if (choose_all(&h, sets, want, choices, e)) {
		job->lacking = h.lacking;
		return -1;
	}
	if (job->checks->missing && !job->last)
		return err_set(e, ERR_AGAIN, 0, "an earlier sandbox of the pod must be checked");
	for (size_t i = 0; i < sets->n; i++) {
		if (lease_db_assign(l, &choices[i], &r->owner, e))
			return -1;
		out->grants[i] = (struct grant){ .ip = choices[i].ip, .source = choices[i].source };
	}
	out->n = sets->n;
	return 0;
}

/* The leases of shared pools say which addresses must be probed. */
static int load_probes(struct lease_db *l, struct alloc_result *out, struct err *e)
{
	for (size_t i = 0; i < out->n; i++) {
		struct grant *g = &out->grants[i];
		auto_lease struct lease rec = { .tree = NULL };
		int found;

		if (!g->source->blocks.shared || source_has_guids(g->source))
			continue;
		found = lease_db_of_address(l, g->source->scope, g->ip, &rec, e);
		if (found < 0)
			return -1;
		g->probe = found && rec.probe;
	}
	return 0;
}

static int add_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct add_job *job = arg;
	const struct ipam_conf *conf = job->add->conf;
	const struct request *r = job->add->request;
	struct alloc_held held;

	job->lacking = (struct alloc_lack){ .pool = "", .unknown = true };
	alloc_result_clear(job->out);
	if (conf->n_pools && alloc_pools(l, conf, &job->out->pools, job->lacking.pool, e))
		return -1;
	job->lacking.unknown = false;
	const struct source_sets *sets = conf->n_pools ? &job->out->pools : &conf->fixed;
	if (job->add->one_per_family && check_families(sets, e))
		return -1;
	if (conf->n_pools && check_kind(sets, conf->guids, e))
		return -1;
	if (alloc_load_held(l, &r->owner, &held, e))
		return -1;
	if (held.n ? alloc_return_held(sets, r, &held, job->out, e) : grant_new(l, sets, job, e))
		return -1;
	return load_probes(l, job->out, e);
}

/* Errors that may disappear if an earlier sandbox releases its address. */
static bool may_change(const struct err *e)
{
	return e->code == ERR_AGAIN || e->code == ERR_EXHAUSTED || e->code == ERR_BUSY ||
	       e->code == ERR_FORBIDDEN;
}

/* The transaction, and once more if an earlier sandbox may release its address. */
static int try_add(struct ipam *m, const struct ipam_job *job, struct err *e)
{
	struct add_job *arg = job->arg;
	int rc = ipam_run(m, job, e);

	if (rc && arg->checks->missing && may_change(e) && !arg->last) {
		(void)holder_checks_run(arg->checks, m->holders, m->ctx);
		arg->last = true;
		rc = ipam_run(m, job, e);
	}
	return rc;
}

/* A shared pool comes through the agent, which knows why it has not. */
static int ask_unknown(const struct ipam *m, alloc_need_fn need, const char *pool, int64_t wait_ms,
		       struct err *e)
{
	const struct agent_need what = { pool, NULL, 1, wait_ms, NULL };
	const struct err why = *e;

	if (need(m->ctx, &what, e) == 0)
		return 0;
	if (e->errnum) { /* no agent answers */
		const struct err unheard = *e;

		*e = why;
		(void)err_hint(e, "%s", unheard.msg);
	} else if (e->code == ERR_NOTFOUND) {
		e->code = ERR_CONFIG;
	}
	return -1;
}

/* The node agent gets what is lacking, or says why it cannot. */
static int ask_agent(const struct ipam *m, struct add_job *job, const struct alloc_lack *lack,
		     int64_t wait_ms, struct err *e)
{
	const struct alloc_add *add = job->add;
	char identity[IDENTITY_LEN];
	const struct agent_need need = { lack->pool, lack->moves ? identity : NULL, 1, wait_ms,
					 job->is_of };

	if (lack->unknown)
		return ask_unknown(m, add->need, lack->pool, wait_ms, e);
	if (lack->ip.family)
		return add->need_address(m->ctx, lack->pool, lack->ip, wait_ms, e);
	block_identity(&add->request->owner, identity);
	if (!add->need(m->ctx, &need, e))
		return 0;
	return lack->moves ? -1
			   : err_wrap(e, "pool %s: no block of this node has an address to assign",
				      lack->pool);
}

/*
 * The agent refuses the address of a virtual machine that a pod on this node has, and says which
 * machine the new pod runs. That pod may be gone without a DEL, which only this program can prove.
 */
static int add_for_machine(struct ipam *m, const struct ipam_job *job, struct err *e)
{
	const struct err why = *e;

	((struct add_job *)job->arg)->last = false;
	if (try_add(m, job, e) == 0)
		return 0;
	return err_pass(e, &why);
}

static bool has_agent(const struct alloc_add *add, const struct alloc_lack *lack)
{
	return *lack->pool && (lack->ip.family ? add->need_address != NULL : add->need != NULL);
}

static bool same_lack(const struct alloc_lack *a, const struct alloc_lack *b)
{
	return strcmp(a->pool, b->pool) == 0 && a->moves == b->moves && ip_equal(a->ip, b->ip);
}

/*
 * No block of this node has a free address, or the requested one: the node agent claims a block. Or
 * the pool is not known here: the agent may be about to learn of it. No
 * transaction is open meanwhile, so others use the store. With sticky pools each set needs a block
 * of its own: another one that is lacking means that the one before was used.
 */
static int add_with_blocks(struct ipam *m, const struct ipam_job *job, struct err *e)
{
	struct add_job *arg = job->arg;
	const int64_t end = ctx_mono_ms() + ALLOC_NEED_MS;
	int rc = try_add(m, job, e), blocks = 0;
	struct alloc_lack before = { .pool = "" };
	char is_of[IDENTITY_LEN];

	for (int tries = 0; rc && has_agent(arg->add, &arg->lacking) && tries < ALLOC_NEED_TRIES;
	     tries++) {
		const struct alloc_lack lack = arg->lacking;
		int64_t left = end - ctx_mono_ms();

		if (!same_lack(&lack, &before))
			blocks = tries = 0;
		before = lack;
		blocks += lack.ip.family != IP_NONE || lack.moves;
		if (left <= 0 || blocks > ALLOC_BLOCK_TRIES)
			break;
		memcpy(is_of, arg->is_of, sizeof(is_of));
		if (ask_agent(m, arg, &lack, left, e))
			return strcmp(is_of, arg->is_of) ? add_for_machine(m, job, e) : -1;
		rc = try_add(m, job, e);
	}
	return rc;
}

int alloc_add(struct ipam *m, const struct alloc_add *add, struct alloc_result *out,
	      struct json **journal, struct err *e)
{
	auto_alloc struct alloc_result r = { .n = 0 };
	auto_holder_checks struct holder_checks checks = { .n = 0 };
	struct add_job arg = { .add = add, .out = &r, .checks = &checks };

	_Static_assert(IDENTITY_LEN == AGENT_IDENTITY_LEN, "the agent answers with an identity");
	_Static_assert(LEASE_KEYS_MAX >= SOURCE_SETS_MAX, "an owner has all addresses of an ADD");
	block_identity(&add->request->owner, arg.is_of);
	const struct ipam_job job = { STORE_WRITE, "ADD", add_in_txn, &arg, journal };

	if (add_with_blocks(m, &job, e))
		return -1;
	*out = r;
	r = (struct alloc_result){ .n = 0 };
	return 0;
}

static int probed_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	struct key_list list;
	struct key_address a;

	if (lease_db_owned(l, arg, &list, e))
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		if (key_parse_address(list.items[i].s, &a) == 0 && lease_db_probed(l, &a, e))
			return -1;
	}
	return 0;
}

int alloc_probed(struct ipam *m, const struct owner *o, struct err *e)
{
	struct ipam_job job = { STORE_WRITE, "ADD", probed_in_txn, (void *)(uintptr_t)o, NULL };

	return ipam_run(m, &job, e);
}

struct status_job {
	const struct ipam_conf *conf;
	char missing[KEY_NAME_MAX + 1]; /* output: a pool */
};

/* As ADD, without an owner and without assigning. It chooses only if statusWhenFull is set. */
static int status_in_txn(struct lease_db *l, void *arg, struct err *e)
{
	static const struct owner nobody = { "", "", "", "", "", "" };
	struct status_job *job = arg;
	const struct ipam_conf *conf = job->conf;
	auto_sources struct source_sets pools = { .n = 0 };
	struct addr_request request = { .owner = &nobody, .probes = true };
	struct holder_checks none = { .n = 0 };
	struct alloc_search h = {
		.l = l, .request = &request, .checks = &none, .any_namespace = true
	};
	struct addr_choice choices[SOURCE_SETS_MAX];

	if (conf->n_pools &&
	    (alloc_pools(l, conf, &pools, job->missing, e) || check_kind(&pools, conf->guids, e)))
		return -1;
	if (!conf->status_when_full)
		return 0;
	return choose_all(&h, conf->n_pools ? &pools : &conf->fixed, NULL, choices, e);
}

int alloc_status(struct ipam *m, const struct ipam_conf *conf, alloc_need_fn need, struct err *e)
{
	struct status_job status = { .conf = conf };
	/* A writing transaction finds a store that cannot be written to. */
	struct ipam_job job = { STORE_WRITE, "STATUS", status_in_txn, &status, NULL };
	int rc = ipam_run(m, &job, e);
	bool unknown = rc && need && *status.missing;

	if (unknown && ask_unknown(m, need, status.missing, STATUS_NEED_MS, e) == 0)
		rc = ipam_run(m, &job, e);
	if (rc && (e->code == ERR_EXHAUSTED || (unknown && e->code == ERR_AGAIN)))
		e->code = ERR_UNAVAILABLE;
	return rc;
}
