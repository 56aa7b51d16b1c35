/* SPDX-License-Identifier: Apache-2.0 */
/* ipam.c: the plugin railhead-ipam: between the CNI protocol and ipam/alloc/alloc.h. */
#include "plugins/ipam/ipam.h"

#include <limits.h>
#include <string.h>

#include "ipam/alloc/agent_client.h"
#include "ipam/alloc/alloc.h"
#include "ipam/lease/audit.h"
#include "ipam/alloc/crash_handler.h"
#include "ipam/peers/hostlocal.h"
#include "plugins/ipam/master.h"
#include "plugins/ipam/resolv.h"
#include "lib/net/addr.h"
#include "lib/sys/safe_path.h"

static int open_store(const struct cni_call *call, const char *data_dir, bool create,
		      struct ipam *out, struct err *e)
{
	char dir[PATH_MAX];
	struct err why;

	if (ipam_dir(&call->ctx, data_dir, dir, sizeof(dir), e))
		return -1;
	if (data_dir && ipam_dir_check(&call->ctx, data_dir, &why)) {
		*e = why;
		/* it was always refused: then there is nothing to release either */
		if (!create && ipam_dir_has_no_store(dir))
			e->code = ERR_NOTFOUND;
		return -1;
	}
	if (crash_handler_install(dir, e))
		return -1;
	return ipam_open(&call->ctx, dir, create, out, e);
}

/* ---- audit: losing a line is worth a warning, not the pod ---- */

static void write_audit(const struct cni_call *call, const char *path, const struct json *journal)
{
	struct err e;

	if (path && audit_write(&call->ctx, path, journal, &e))
		log_warn(&call->ctx.log, "%s", e.msg);
}

static void audit_refused(const struct cni_call *call, const struct ipam_conf *conf,
			  const struct request *r, const struct err *why)
{
	char text[IP_STR_LEN] = "", label[KEY_SCOPE_MAX + 32];
	struct refusal refusal = { "ADD", text, "", &r->owner, why };

	if (!conf->audit_log)
		return;
	if (r->n_want)
		ip_format(r->want[0], text);
	if (conf->n_pools)
		refusal.pool = conf->pools[0];
	else if (conf->fixed.n)
		refusal.pool =
			key_scope_log(conf->fixed.sets[0].items[0].scope, label, sizeof(label));
	auto_json struct json *journal = audit_refusal_line(&refusal);
	write_audit(call, conf->audit_log, journal);
}

/* ---- the result ---- */

static int ipam_add_routes(struct cni_result *res, const struct json *routes, unsigned group,
			   struct err *e)
{
	json_each (item, routes) {
		struct cni_route r;

		if (cni_route_decode(item, "routes", &r, e))
			return -1;
		r.group = group;
		if (cni_result_add_route(res, &r, e))
			return -1;
	}
	return 0;
}

static int add_grants(struct cni_result *res, const struct alloc_result *a, struct err *e)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct source *s = a->grants[i].source;
		struct cni_ip ip = { .interface = -1,
				     .address = { a->grants[i].ip, s->subnet.len },
				     .gateway = s->gateway,
				     .probe = a->grants[i].probe,
				     .group = s->group };

		if (cni_result_add_ip(res, &ip, e) || ipam_add_routes(res, s->routes, s->group, e))
			return -1;
	}
	return 0;
}

/* Before anything is assigned. */
static int refuse_extras(const struct json *addresses, struct err *e)
{
	json_each (item, addresses) {
		struct ipam_extra x;

		if (ipam_conf_extra(item, "ipam.addresses", &x, e))
			return -1;
		int own = nl_addr_is_own(x.address.addr, e);
		if (own)
			return own < 0 ? -1 : overlap_refuse_of_node(x.address.addr, e);
	}
	return 0;
}

static int add_extras(struct cni_result *res, const struct json *addresses, struct err *e)
{
	json_each (item, addresses) {
		struct ipam_extra x;

		if (ipam_conf_extra(item, "ipam.addresses", &x, e))
			return -1;
		struct cni_ip ip = { .interface = -1, .address = x.address, .gateway = x.gateway };
		if (cni_result_add_ip(res, &ip, e))
			return -1;
	}
	return 0;
}

static int read_dns(const char *path, struct json **out, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = safe_read_public(path, RESOLV_MAX, &text, e);

	if (len < 0 || resolv_parse(text, (size_t)len, out, e))
		return err_wrap(e, "ipam.resolvConf: %.256s", path);
	return 0;
}

static int print_result(const struct cni_call *call, const struct ipam_conf *conf,
			const struct alloc_result *a, const struct json *dns, struct err *e)
{
	auto_result struct cni_result res = { .dns = dns ? dns : conf->dns };

	if (add_grants(&res, a, e) || add_extras(&res, conf->addresses, e) ||
	    ipam_add_routes(&res, conf->routes, 0, e))
		return -1;
	return cni_emit_result(call, &res, e);
}

/* ---- the commands ---- */

/* The runtime did not get the result: it does not know what to delete. */
static void ipam_take_back(const struct cni_call *call, struct ipam *m,
			   const struct ipam_conf *conf, const struct request *r)
{
	auto_json struct json *journal = NULL;
	struct err e;

	if (alloc_del(m, &r->owner, conf->audit_log ? &journal : NULL, &e))
		log_warn(&call->ctx.log, "take the addresses back: %s", e.msg);
	write_audit(call, conf->audit_log, journal);
}

static int ipam_allocate(const struct cni_call *call, const struct ipam_conf *conf,
			 const struct request *r, struct err *e)
{
	const bool old = call->conf.version < CNI_030;
	const struct alloc_add add = { .conf = conf,
				       .request = r,
				       .one_per_family = old,
				       .need = agent_client_need,
				       .need_address = agent_client_need_address,
				       .probes = !old && request_probes(DELEGATE_PROBE_MARK),
				       .node = nl_addr_is_own };
	auto_ipam struct ipam m = { .store = NULL };
	auto_alloc struct alloc_result a = { .n = 0 };
	auto_json struct json *journal = NULL, *dns = NULL;

	if ((conf->resolv_conf && read_dns(conf->resolv_conf, &dns, e)) ||
	    refuse_extras(conf->addresses, e))
		return -1;
	if (!ipam_conf_has_source(conf) && r->n_want)
		return err_set(e, ERR_CONFIG, 0,
			       "an IP address is requested, and ipam has no source of addresses");
	if (!ipam_conf_has_source(conf))
		return print_result(call, conf, &a, dns, e);
	const int64_t since = ctx_since_boot(&call->ctx);
	int rc = open_store(call, conf->data_dir, true, &m, e) ||
		 alloc_add(&m, &add, &a, conf->audit_log ? &journal : NULL, e);
	agent_client_tell(&call->ctx, HINT_ADD, since, rc ? e : NULL);
	if (rc)
		return -1;
	write_audit(call, conf->audit_log, journal);
	if (print_result(call, conf, &a, dns, e) == 0)
		return 0;
	if (!a.repeated)
		ipam_take_back(call, &m, conf, r);
	return -1;
}

/* In whereabouts it is the gateway of further addresses, which are not recorded anywhere. */
static int refuse_gateway(const struct cni_call *call, const struct ipam_conf *conf, struct err *e)
{
	char value[64];

	if (!conf->whereabouts ||
	    cni_args_get(call->env.args, "GATEWAY", value, sizeof(value), e) == 0)
		return 0;
	err_set(e, ERR_ENV, 0, "CNI_ARGS: GATEWAY is not supported");
	return err_hint(e, "give ipam.gateway, or ipam.addresses with a gateway");
}

/* The caller probed the addresses of its ADD, and no host has them. */
static int clear_probes(const struct cni_call *call, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	struct ipam_conf conf;
	struct request r;

	ipam_conf_paths(&call->conf, &conf);
	request_owner(&call->env, &call->conf, &r);
	return open_store(call, conf.data_dir, false, &m, e) || alloc_probed(&m, &r.owner, e) ? -1
											      : 0;
}

/* Another project's macvlan ignores "routing" and answers success: the pod would have no rules. */
static int check_keys(const struct cni_call *call, struct err *e)
{
	if (cni_check_keys(call, "ipam.", false, e))
		return -1;
	if (getenv(DELEGATE_CALLER) || cni_conf_check_keys(&call->conf, true, e) == 0)
		return 0;
	return err_hint(
		e,
		"the caller of railhead-ipam is not a program of railhead, which may have a "
		"prefix: \"rh-%.64s\"",
		call->conf.type);
}

static int ipam_add(const struct cni_call *call, struct err *e)
{
	auto_ipam_conf struct ipam_conf conf = { .n_pools = 0 };
	auto_master struct master master = { .n = 0 };
	struct request r;

	if (request_probes(DELEGATE_PROBE_FREE))
		return clear_probes(call, e);
	if (ipam_conf_decode(&call->conf, &conf, e) ||
	    request_load(&call->env, &call->conf, &r, e) ||
	    (r.guid && ipam_conf_only_guids(&conf, e)) || check_keys(call, e) ||
	    refuse_gateway(call, &conf, e))
		return -1;
	if (conf.match_master && master_load(call, &master, e))
		return -1;
	conf.master = conf.match_master ? &master.view : NULL;
	if (ipam_allocate(call, &conf, &r, e)) {
		audit_refused(call, &conf, &r, e);
		return -1;
	}
	return 0;
}

/* For DEL and GC: 1 when there is no store, and so nothing to do. They create nothing (CNI-145). */
static int ipam_open_existing(const struct cni_call *call, const struct ipam_conf *conf,
			      struct ipam *out, struct err *e)
{
	if (open_store(call, conf->data_dir, false, out, e) == 0)
		return 0;
	return e->code == ERR_NOTFOUND ? 1 : -1;
}

/*
 * If host-local made the attachment before the node changed to railhead-ipam, the runtime still
 * calls only this program. A file that cannot be removed is not an error: its address is not
 * assigned.
 */
static void release_files(const struct cni_call *call, const struct ipam_conf *conf)
{
	auto_hostlocal struct hostlocal files = { .dir = -1 };
	struct err e;

	if (hostlocal_open(&call->ctx, conf->data_dir, call->conf.name, &files, &e) ||
	    hostlocal_release(&files, call->env.container, call->env.ifname, &e))
		log_warn(&call->ctx.log, "%s", e.msg);
}

static int ipam_del(const struct cni_call *call, struct err *e)
{
	struct ip conflict[SOURCE_SETS_MAX];
	const size_t n_conflict = request_conflicts(conflict, SOURCE_SETS_MAX);
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *journal = NULL;
	struct ipam_conf conf;
	struct request r;

	ipam_conf_paths(&call->conf, &conf);
	request_owner(&call->env, &call->conf, &r);
	const int64_t since = ctx_since_boot(&call->ctx);
	int rc = ipam_open_existing(call, &conf, &m, e);
	if (rc < 0)
		return -1;
	const struct alloc_del what = { &r.owner, conflict, n_conflict, !r.guid };
	if (rc == 0 && alloc_del_conflict(&m, &what, conf.audit_log ? &journal : NULL, e))
		return -1;
	if (rc == 0)
		agent_client_tell(&call->ctx, HINT_DEL, since, NULL);
	write_audit(call, conf.audit_log, journal);
	if (!r.guid)
		release_files(call, &conf);
	return 0;
}

static int check_shown(const struct cni_call *call, struct ipam *m, const struct request *r,
		       struct err *e)
{
	auto_result struct cni_result prev = { .n_ips = 0 };
	struct alloc_check c = { .owner = &r->owner };

	/* The result of an attachment has addresses, and not the GUID. */
	if (!call->conf.prev_result || r->guid)
		return alloc_check(m, &c, e);
	if (cni_result_parse(call->conf.prev_result, "prevResult", call->conf.version, &prev, e))
		return -1;
	auto_free struct ip *shown = calloc(prev.n_ips + 1, sizeof(*shown));
	if (!shown)
		return err_nomem(e);
	for (size_t i = 0; i < prev.n_ips; i++)
		shown[i] = prev.ips[i].address.addr;
	c.shown = shown;
	c.n = prev.n_ips;
	return alloc_check(m, &c, e);
}

static int ipam_check(const struct cni_call *call, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	struct ipam_conf conf;
	struct request r;

	ipam_conf_paths(&call->conf, &conf);
	request_owner(&call->env, &call->conf, &r);
	if (!r.guid && ipam_conf_is_guid_only(&call->conf))
		return 0;
	int rc = ipam_open_existing(call, &conf, &m, e);
	if (rc < 0)
		return -1;
	if (rc)
		return err_set(e, ERR_STATE, 0, "container %.64s holds no address: %s",
			       call->env.container, "there is no store");
	return check_shown(call, &m, &r, e);
}

/* First what the addresses need, then what the GUIDs need. */
static int check_sources(struct ipam *m, struct ipam_conf *conf, struct err *e)
{
	if (ipam_conf_has_source(conf) && alloc_status(m, conf, agent_client_need, e))
		return -1;
	if (!conf->guid_pool)
		return 0;
	return ipam_conf_only_guids(conf, e) || alloc_status(m, conf, agent_client_need, e) ? -1
											    : 0;
}

static int ipam_status(const struct cni_call *call, struct err *e)
{
	auto_ipam_conf struct ipam_conf conf = { .n_pools = 0 };
	auto_ipam struct ipam m = { .store = NULL };

	if (ipam_conf_decode(&call->conf, &conf, e))
		return -1;
	if (open_store(call, conf.data_dir, true, &m, e) == 0 && check_sources(&m, &conf, e) == 0)
		return 0;
	/* the specification's word for it; what is wrong is in the message */
	if (e->code == ERR_STORE)
		e->code = ERR_UNAVAILABLE;
	return -1;
}

/* ---- GC: the list is searched once for every lease ---- */

struct attachment {
	const char *container, *ifname;
};

struct attachments {
	struct attachment *items;
	size_t n;
};

static int compare_attachments(const void *a, const void *b)
{
	const struct attachment *x = a, *y = b;
	int c = strcmp(x->container, y->container);

	return c ? c : strcmp(x->ifname, y->ifname);
}

static bool is_attached(const char *container, const char *ifname, const void *arg)
{
	const struct attachments *valid = arg;
	const struct attachment want = { container, ifname };

	return bsearch(&want, valid->items, valid->n, sizeof(want), compare_attachments) != NULL;
}

static int load_attachments(const struct json *list, struct attachments *out, struct err *e)
{
	out->items = calloc(json_len(list) + 1, sizeof(*out->items));
	if (!out->items)
		return err_nomem(e);
	json_each (item, list) {
		out->items[out->n++] = (struct attachment){ json_str(json_get(item, "containerID")),
							    json_str(json_get(item, "ifname")) };
	}
	qsort(out->items, out->n, sizeof(*out->items), compare_attachments);
	return 0;
}

static int ipam_collect(const struct cni_call *call, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *journal = NULL;
	struct attachments valid = { .n = 0 };
	struct ipam_conf conf;

	if (!call->conf.valid) /* no information is not the same as nothing (CNI-076) */
		return 0;
	ipam_conf_paths(&call->conf, &conf);
	int rc = ipam_open_existing(call, &conf, &m, e);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (load_attachments(call->conf.valid, &valid, e))
		return -1;
	const struct alloc_gc job = { call->conf.name, is_attached, &valid };
	rc = alloc_gc(&m, &job, conf.audit_log ? &journal : NULL, e);
	free(valid.items);
	write_audit(call, conf.audit_log, journal);
	return rc;
}

static int ipam_gc(const struct cni_call *call, struct err *e)
{
	int rc = ipam_collect(call, e);

	agent_client_repair(&call->ctx);
	return rc;
}

static int ipam_main(void)
{
	static const struct cni_plugin plugin = {
		.name = "railhead-ipam",
		.add = ipam_add,
		.del = ipam_del,
		.check = ipam_check,
		.gc = ipam_gc,
		.status = ipam_status,
	};

	return cni_main(&plugin);
}

const struct delegate_builtin ipam_builtin = {
	.type = "railhead-ipam",
	.mark = railhead_ipam_mark,
	.run = ipam_main,
};
