/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.c: `railctl ipam lease list` and `release`, and `ipam who`: show leases and whose an
 * address is, and give one back by hand.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/alloc/agent_client.h"
#include "lib/base/guid.h"
#include "plugins/prepared/prepared.h"
#include "railctl/ipam/ipam.h"

/* ---- list ---- */

static struct out_cell lease_pod(const struct cmd_run *r, const struct json *lease,
				 char buf[LIST_TEXT_LEN])
{
	const char *ns = json_text(lease, "namespace");

	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%s%s%s", ns, *ns ? "/" : "", json_text(lease, "pod"));
	return (struct out_cell){ buf, OUT_PLAIN };
}

static struct out_cell lease_state(const struct json *n)
{
	const char *state = json_str(n);

	return (struct out_cell){ state,
				  state && strcmp(state, "leased") == 0 ? OUT_GOOD : OUT_FAINT };
}

static const struct list_column columns[] = {
	{ .title = "ADDRESS", 0, "guid", .other = "address" },
	{ .title = "FROM", OUT_SHRINK | OUT_SPARE, "pool", .other = "scope" },
	{ .title = "NETWORK", OUT_SHRINK | OUT_SPARE, "network" },
	{ .title = "CONTAINER", OUT_SHRINK | OUT_ID, "container" },
	{ .title = "IFNAME", 0, "ifname" },
	{ .title = "POD", OUT_SHRINK | OUT_SPARE, .cell = lease_pod },
	{ .title = "AGE", OUT_RIGHT, "since", .cell = list_age },
	{ .title = "STATE", 0, "state", .word = lease_state },
	{ .title = NULL },
};

static int list_leases(struct cmd_run *r, const struct lease_filter *f, struct json **out,
		       struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	int rc = ctl_open_ipam(r, false, &m, e);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return admin_leases(&m, f, out, e);
	*out = json_new_array();
	return *out ? 0 : err_nomem(e);
}

static int lease_list(struct cmd_run *r, struct err *e)
{
	const struct lease_filter f = {
		.pool = opt_get(&r->opts, "pool"),
		.network = opt_get(&r->opts, "network"),
		.ns = opt_get(&r->opts, "namespace"),
		.resting = opt_is_set(&r->opts, "resting"),
	};
	auto_json struct json *list = NULL;

	if (list_leases(r, &f, &list, e))
		return -1;
	return ctl_show_rows(r, columns, list, "No leases", e);
}

static const struct opt list_opts[] = {
	{ "pool", "NAME", "only leases of this pool", 0 },
	{ "network", "NAME", "only leases of attachments of this network", 0 },
	{ "namespace", "NS", "only leases of pods in this namespace", 0 },
	{ "resting", NULL, "also resting addresses, with their last owner", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const list_examples[] = {
	"railctl ipam lease list --pool rail0",
	"railctl ipam lease list --namespace team-a --json",
	NULL,
};

const struct cmd cmd_lease_list = {
	.name = "list",
	.summary = "list the addresses of containers",
	.about = "FROM is the pool or another source of the address. STATE stale: it was leased "
		 "before the last reboot, and the next ADD or DEL releases it.",
	.opts = { list_opts },
	.examples = list_examples,
	.run = lease_list,
};

/* ---- release ---- */

static void ipam_describe_lease(const struct json *lease, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s of %s: network %s, container %.64s, %s",
		       json_text(lease, "address"), json_text(lease, "scope"),
		       json_text(lease, "network"), json_text(lease, "container"),
		       json_text(lease, "ifname"));
}

/* Exactly one lease must match. Then the filter names its whole owner. */
static int choose_lease(const struct cmd_run *r, struct lease_filter *f, const struct json *list,
			struct err *e)
{
	const char *address = r->opts.words[0];
	char line[512];

	if (json_len(list) == 0) {
		err_set(e, ERR_NOTFOUND, 0, "%.64s is not leased%s%.100s%s%.200s", address,
			f->pool ? " in pool " : "", f->pool ? f->pool : "",
			f->network ? " to network " : "", f->network ? f->network : "");
		return err_hint(e, "\"railctl ipam lease list\" shows all leases");
	}
	if (json_len(list) > 1) {
		err_set(e, ERR_CONFIG, 0,
			"%.64s is leased %zu times: choose one with --pool or --network", address,
			json_len(list));
		json_each (lease, list) {
			ipam_describe_lease(lease, line, sizeof(line));
			err_hint(e, "%s", line);
		}
		return -1;
	}
	const struct json *lease = json_first(list);
	f->pool = json_str(json_get(lease, "pool")) ? json_text(lease, "pool") : "";
	f->network = json_text(lease, "network");
	f->container = json_text(lease, "container");
	f->ifname = json_text(lease, "ifname");
	return 0;
}

static int release_lease(struct cmd_run *r, const struct lease_filter *f, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	uint64_t n = 0;
	int rc = ctl_open_ipam(r, false, &m, e);

	if (rc < 0 || (rc == 0 && admin_release(&m, f, &n, NULL, e)))
		return -1;
	if (n == 0)
		return err_set(e, ERR_NOTFOUND, 0, "%.64s has been released meanwhile",
			       r->opts.words[0]);
	return 0;
}

/* No pool has an IPv6 address that is written as a GUID is: 0000::/8 is reserved. */
static int parse_address(const char *text, struct ip *out)
{
	struct guid g;

	if (guid_parse(text, &g))
		return ip_parse(text, out);
	*out = guid_gid(g);
	return 0;
}

static int lease_release(struct cmd_run *r, struct err *e)
{
	struct lease_filter f = { .pool = opt_get(&r->opts, "pool"),
				  .network = opt_get(&r->opts, "network") };
	auto_json struct json *list = NULL;
	char line[512];

	if (parse_address(r->opts.words[0], &f.address))
		return cmd_usage(r, e, "\"%.64s\" is neither an IP address nor a GUID",
				 r->opts.words[0]);
	if (list_leases(r, &f, &list, e) || choose_lease(r, &f, list, e) || release_lease(r, &f, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, list, e);
	ipam_describe_lease(json_first(list), line, sizeof(line));
	out_line(&r->out, OUT_PLAIN, "Released %s.", line);
	return 0;
}

static const struct opt release_opts[] = {
	{ "pool", "NAME", "the lease in this pool", 0 },
	{ "network", "NAME", "the lease of an attachment of this network", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const release_examples[] = {
	"railctl ipam lease release 10.1.0.1",
	"railctl ipam lease release 10.1.0.1 --pool rail0",
	NULL,
};

const struct cmd cmd_lease_release = {
	.name = "release",
	.words = "ADDRESS",
	.summary = "release a lease, without a question",
	.about = "The container keeps the address on its interface, so make sure that the "
		 "container is gone. If several pools or networks have a lease of the address, an "
		 "option must select one.",
	.opts = { release_opts },
	.examples = release_examples,
	.min_words = 1,
	.max_words = 1,
	.run = lease_release,
};

/* ---- who ---- */

static void print_lease(const struct cmd_run *r, const struct json *lease)
{
	const struct out *o = &r->out;
	const char *ns = json_text(lease, "namespace"), *pod = json_text(lease, "pod"),
		   *since = json_text(lease, "since"), *state = json_text(lease, "state");
	char buf[LIST_TEXT_LEN];
	const char *age = list_age(r, json_get(lease, "since"), buf).text;

	out_pair(o, "Address", "%s", json_text_or(lease, "guid", json_text(lease, "address")));
	out_pair(o, "From", "%s", json_text(lease, "scope"));
	if (strcmp(state, "resting") == 0)
		out_pair(o, "State", "resting: no pod has it, and below is the last one");
	else
		out_pair(o, "State", "%s", state);
	if (*pod)
		out_pair(o, "Pod", "%s%s%s", ns, *ns ? "/" : "", pod);
	if (*json_text(lease, "claim"))
		out_pair(o, "Claim", "%s", json_text(lease, "claim"));
	out_pair(o, "Interface", "%s", json_text(lease, "ifname"));
	out_pair(o, "Network", "%s", json_text(lease, "network"));
	out_pair(o, "Container", "%s", json_text(lease, "container"));
	if (age)
		out_pair(o, "Since", "%s, %s ago", since, age);
}

/* One that rests has no pod. */
static bool lease_is_held(const struct json *leases)
{
	json_each (lease, leases) {
		if (strcmp(json_text(lease, "state"), "resting") != 0)
			return true;
	}
	return false;
}

/* The block of a shared pool says which node may have assigned the address. */
static void lease_print_pool(const struct cmd_run *r, const char *address, const char *here,
			     const struct json *p)
{
	const char *node = json_str(json_get(p, "node")), *pool = json_text(p, "pool");

	if (!node)
		out_line(&r->out, OUT_PLAIN, "Shared pool %s: no node has its block.", pool);
	else if (strcmp(node, here) == 0)
		out_line(&r->out, OUT_PLAIN, "Shared pool %s: its block is of this node.", pool);
	else
		out_line(&r->out, OUT_GOOD, "Shared pool %s: ask node %s: railctl ipam who %s",
			 pool, node, address);
}

static void print_elsewhere(const struct cmd_run *r, const char *address, const struct json *found,
			    const struct err *why)
{
	const struct json *pools = json_get(found, "pools");

	out_line(&r->out, OUT_WARN, "No pod of this node has %s.", address);
	if (!found)
		out_line(&r->out, OUT_PLAIN, "Other nodes are not known: %s.", why->msg);
	else if (!json_len(pools))
		out_line(&r->out, OUT_PLAIN,
			 "No shared pool has it. Pools of one node, or with slices, are known on "
			 "their nodes only.");
	json_each (p, pools)
		lease_print_pool(r, address, json_text(found, "here"), p);
}

/* Without an agent nothing is known of other nodes, and the command goes on. */
static int look_elsewhere(struct cmd_run *r, struct ip ip, struct json *out, struct err *e)
{
	const char *address = r->opts.words[0];
	auto_json struct json *found = NULL;
	struct err why = { .code = 0 };
	char text[IP_STR_LEN];
	int rc;

	r->status = CMD_FAILED;
	/* The pool of a GUID has its GID. */
	rc = agent_client_find(&r->ctx, ip_format(ip, text), &found, &why);
	if (!r->out.json)
		print_elsewhere(r, address, rc ? NULL : found, &why);
	if (rc ? json_add_str(out, "error", why.msg) : json_add_copy(out, "cluster", found))
		return err_nomem(e);
	return 0;
}

/* To a claim's rails its UID is the container, which no other command shows. */
static int lease_add_claims(const struct cmd_run *r, struct json *leases, struct err *e)
{
	char name[PREPARED_NAME_LEN];

	for (size_t i = 0; i < json_len(leases); i++) {
		struct json *lease = json_at_mut(leases, i);

		if (strcmp(json_text(lease, "network"), PREPARED_NETWORK) == 0 &&
		    json_add_known(lease, "claim",
				   prepared_claim_name(&r->ctx, NULL, json_text(lease, "container"),
						       name)))
			return err_nomem(e);
	}
	return 0;
}

static int who(struct cmd_run *r, struct err *e)
{
	const char *address = r->opts.words[0];
	auto_json struct json *answer = json_new_object(), *list = NULL;
	struct lease_filter f = { .resting = true };

	if (parse_address(address, &f.address))
		return cmd_usage(r, e, "\"%.64s\" is neither an IP address nor a GUID", address);
	if (list_leases(r, &f, &list, e) || lease_add_claims(r, list, e))
		return -1;
	if (!answer || json_add_str(answer, "address", address) ||
	    json_add_copy(answer, "leases", list))
		return err_nomem(e);
	json_each (lease, list) {
		if (!r->out.json)
			print_lease(r, lease);
	}
	if (!lease_is_held(list) && look_elsewhere(r, f.address, answer, e))
		return -1;
	return r->out.json ? out_json(&r->out, answer, e) : 0;
}

static const char *const who_examples[] = {
	"railctl ipam who 10.1.0.1",
	"railctl ipam who 10.1.0.1 --json",
	NULL,
};

const struct cmd cmd_ipam_who = {
	.name = "who",
	.words = "ADDRESS",
	.summary = "say which pod has an address or a GUID",
	.about = "It shows the pod, its interface, and since when. If no pod of this node has the "
		 "address, the node agent names the node that may have assigned it. Exit status "
		 "1: no pod of this node has it.",
	.examples = who_examples,
	.min_words = 1,
	.max_words = 1,
	.run = who,
};
