/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_look.c: reads records, namespaces and processes.
 *
 * A process belongs to the pod whose network namespace it is in. Where the agent sees no process of
 * a pod, the kernel shows it no queue pairs of that pod either: they are unknown.
 */
#include "railheadd/watch/transport_look.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cni/protocol/env.h"
#include "cni/record/part.h"
#include "lib/base/array.h"
#include "lib/device/rdma.h"
#include "lib/net/addr.h"
#include "lib/sys/exec.h"
#include "lib/sys/fs.h"
#include "plugins/stale.h"
#include "railheadd/watch/look.h"
#include "rdma/device/device.h"

#define RAILS_OF_POD_MAX 64
#define ADDRS_OF_POD_MAX 1024
#define CHECK_MS         20000 /* one pod is checked in a look */

/* A pod, and where it is. */
struct place {
	struct transport_pod *pod;
	const struct transport_pod *before; /* NULL: it is new */
	struct netns ns;
	int rail[RAILS_OF_POD_MAX]; /* numbers of interfaces */
	size_t n_rails;
	bool has_more_rails;
	struct addr_info *addr; /* owned: all of the namespace */
	size_t n_addrs;
	uint32_t pid; /* the largest process of it; 0: none is visible */
	uint64_t pages;
};

struct transport_look {
	struct ctx ctx;
	const struct transport_table *before;
	uint32_t limit; /* Mbit/s */
	struct netns host;
	struct nl *nl, *rdma; /* of the host */
	enum rdma_mode mode;
	struct transport_table found;
	struct place *place; /* one for each pod of found */
	size_t n_sockets;    /* of all pods so far */
	uint32_t pid;        /* the last process of a queue pair, and its place; NULL: none */
	struct place *of_pid;
	bool has_checked;
	struct err *e;
	bool failed; /* e is set */
};

static void look_clear(struct transport_look *l)
{
	for (size_t i = 0; i < l->found.n; i++) {
		netns_close(&l->place[i].ns);
		free(l->place[i].addr);
	}
	free(l->place);
	transport_clear(&l->found);
	nl_release(l->nl);
	nl_release(l->rdma);
	netns_close(&l->host);
}

static struct place *place_of(const struct transport_look *l, struct netns_id id)
{
	for (size_t i = 0; i < l->found.n; i++)
		if (netns_same(l->place[i].ns.id, id))
			return &l->place[i];
	return NULL;
}

/* ---- pods that hold rails ---- */

/* An interface of a pod in mode exclusive, whose device is in the pod, too. */
struct own_port {
	struct nl *rdma;
	struct link_info link;
	bool found;
};

/* The kernel names no interface of a port of InfiniBand. */
static int match_own_port(const struct rdma_port *p, void *arg)
{
	struct own_port *own = arg;

	own->found |=
		p->ifindex ? p->ifindex == own->link.ifindex : own->link.addr.len == HW_ADDR_MAX;
	return own->found;
}

static int match_own_device(const struct rdma_link *d, void *arg)
{
	struct own_port *own = arg;
	struct err ignored;

	return nl_rdma_ports(own->rdma, d->index, match_own_port, own, &ignored) == 0 && own->found;
}

static bool has_own_device(struct transport_look *l, const struct netns *ns, struct nl *nl,
			   const char *ifname)
{
	auto_nl struct nl *rdma = NULL;
	struct own_port own = { 0 };
	struct err ignored;

	if (nl_rdma_open_in(ns, &l->host, &rdma, &ignored) ||
	    nl_link_by_name(nl, ifname, &own.link, &ignored))
		return false;
	own.rdma = rdma;
	return nl_rdma_list(rdma, match_own_device, &own, &ignored) == 0 && own.found;
}

static bool is_rail(struct transport_look *l, const struct netns *ns, const char *ifname)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_serving port;
	struct err ignored;

	if (nl_open_in(ns, &l->host, &nl, &ignored))
		return false;
	if (l->mode == RDMA_EXCLUSIVE && has_own_device(l, ns, nl, ifname))
		return true;
	const struct rdma_view view = { &l->ctx, &l->host, ns, l->nl, nl, l->rdma };

	return rdma_of_netdev(&view, ifname, &port, &ignored) == 0;
}

/* NULL: there is no memory. */
static struct place *add_place(struct transport_look *l, const struct record *r, struct netns *ns)
{
	const struct cni_pod pod = cni_args_pod(r->args);
	struct transport_pod *p;
	struct place *at;
	struct err why;

	if (ARRAY_GROW(l->place, l->found.n, TRANSPORT_PODS_MAX, "pods with rails", l->e))
		return NULL;
	at = &l->place[l->found.n];
	p = transport_add(&l->found, l->e);
	if (!p)
		return NULL;
	(void)snprintf(p->ns, sizeof(p->ns), "%s", pod.ns);
	(void)snprintf(p->name, sizeof(p->name), "%s", pod.name);
	(void)snprintf(p->container, sizeof(p->container), "%s", r->key.container);
	if (cni_args_get(r->args, "K8S_POD_UID", p->uid, sizeof(p->uid), &why) != 1)
		p->uid[0] = '\0';
	*at = (struct place){ .pod = p, .before = transport_find(l->before, p), .ns = *ns };
	ns->fd = -1;
	return at;
}

static int add_rail(struct transport_look *l, const struct record *r)
{
	auto_netns struct netns ns = { .fd = -1 };
	struct place *at;
	struct err why;

	/* A path that leads to another namespace by now says nothing of this pod. */
	if (!r->ifindex || netns_open(r->netns, &ns, &why) || !netns_same(ns.id, r->netns_id) ||
	    !is_rail(l, &ns, r->key.ifname))
		return 0;
	at = place_of(l, ns.id);
	if (!at && l->found.n == TRANSPORT_PODS_MAX) {
		l->found.left_out++;
		return 0;
	}
	if (!at && !(at = add_place(l, r, &ns)))
		return -1;
	if (at->n_rails < RAILS_OF_POD_MAX)
		at->rail[at->n_rails++] = r->ifindex;
	else
		at->has_more_rails = true;
	return 0;
}

static int on_transport_record(const struct ctx *place, const struct record *r, void *arg)
{
	struct transport_look *l = arg;

	/* Those of another place are of the plugin rdma, which makes no interface. */
	if (place != &l->ctx || !r->tree || r->name_mismatch || r->adding || r->deleting)
		return 0;
	for (size_t i = 0; i < record_parts(r) && !l->failed; i++) {
		struct record part;

		record_part(r, i, &part);
		l->failed = add_rail(l, &part) != 0;
	}
	return l->failed;
}

/* ---- processes ---- */

static uint64_t pages_of(const struct ctx *ctx, const char *pid)
{
	auto_free char *text = NULL;
	char path[PATH_MAX];
	struct err ignored;

	(void)snprintf(path, sizeof(path), "%.4000s/%.16s/statm", ctx->proc, pid);
	if (fs_read_at(AT_FDCWD, path, 256, &text, &ignored) < 0)
		return 0;
	/* The second number is the resident part. */
	const char *space = strchr(text, ' ');

	return space ? strtoull(space, NULL, 10) : 0;
}

static struct place *place_of_process(const struct transport_look *l, const char *pid)
{
	auto_netns struct netns ns = { .fd = -1 };
	char path[PATH_MAX];
	struct err ignored;

	(void)snprintf(path, sizeof(path), "%.4000s/%.16s/ns/net", l->ctx.proc, pid);
	return netns_open(path, &ns, &ignored) ? NULL : place_of(l, ns.id);
}

static int find_processes(struct transport_look *l)
{
	auto_fs_names struct fs_names names = { 0 };

	if (fs_names_at(AT_FDCWD, l->ctx.proc, FS_NAMES_MAX, &names, l->e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		uint64_t pid, pages;
		struct place *at;

		if (parse_u64(names.name[i], 1, INT_MAX, &pid))
			continue;
		at = place_of_process(l, names.name[i]);
		pages = at ? pages_of(&l->ctx, names.name[i]) : 0;
		if (at && (!at->pid || pages > at->pages)) {
			at->pid = (uint32_t)pid;
			at->pages = pages;
		}
	}
	return 0;
}

/* ---- connections ---- */

static int on_addr(const struct addr_info *a, void *arg)
{
	struct place *at = arg;
	struct err ignored;

	if (ARRAY_GROW(at->addr, at->n_addrs, ADDRS_OF_POD_MAX, "addresses", &ignored)) {
		transport_miss(at->pod, ADDRS_OF_POD_MAX, "addresses");
		return 1;
	}
	at->addr[at->n_addrs++] = *a;
	return 0;
}

static const struct addr_info *own_address(const struct place *at, struct ip ip)
{
	for (size_t i = 0; i < at->n_addrs; i++)
		if (ip_equal(at->addr[i].addr.addr, ip))
			return &at->addr[i];
	return NULL;
}

static bool is_loopback(struct ip ip)
{
	return ip.family == IP_V4 ? ip.v >> 24 == 127 : ip.v == 1;
}

static int on_pod_flow(const struct tcp_flow *f, void *arg)
{
	struct place *at = arg;
	const struct addr_info *local = own_address(at, f->local);
	bool rail = false;

	if (is_loopback(f->local) || own_address(at, f->remote))
		return 0;
	for (size_t i = 0; local && i < at->n_rails; i++)
		rail |= at->rail[i] == local->ifindex;
	transport_count(at->pod, at->before, f, rail);
	return 0;
}

/* Connections of addresses and rails that are not known would count as others. */
static void read_flows(struct transport_look *l, struct place *at, struct err *e)
{
	auto_nl struct nl *nl = NULL, *tcp = NULL;

	at->pod->at = ctx_mono_ms();
	at->pod->ms = at->before ? at->pod->at - at->before->at : 0;
	at->pod->complete = nl_open_in(&at->ns, &l->host, &nl, e) == 0 &&
			    nl_addr_list(nl, 0, on_addr, at, e) == 0 &&
			    nl_tcp_open_in(&at->ns, &l->host, &tcp, e) == 0 &&
			    nl_tcp_list(tcp, on_pod_flow, at, e) == 0;
	l->n_sockets += at->pod->n_sockets;
	if (at->has_more_rails)
		transport_miss(at->pod, RAILS_OF_POD_MAX, "rails");
	else if (l->n_sockets > TRANSPORT_SOCKETS_ALL)
		transport_miss(at->pod, TRANSPORT_SOCKETS_ALL, "connections in all pods");
	if (*at->pod->missed) {
		l->n_sockets -= at->pod->n_sockets;
		at->pod->n_sockets = 0;
		at->pod->complete = false;
	}
}

/* If no pod could be read, something is wrong with this kernel, or with the rights of the agent. */
static int read_all_flows(struct transport_look *l)
{
	struct err why = { 0 };
	bool any = !l->found.n;

	for (size_t i = 0; i < l->found.n; i++) {
		why = (struct err){ 0 };
		read_flows(l, &l->place[i], &why);
		any |= l->place[i].pod->complete || *l->place[i].pod->missed;
	}
	return any ? 0 : err_pass(l->e, &why);
}

/* ---- queue pairs ---- */

struct qps {
	struct transport_look *l;
	struct nl *nl;
	bool all; /* of every device */
};

static int on_qp(const struct rdma_qp *q, void *arg)
{
	struct qps *x = arg;
	struct transport_look *l = x->l;
	char pid[16];

	if (q->state != RDMA_QP_RTR && q->state != RDMA_QP_RTS)
		return 0;
	if (!q->pid) {
		x->all = false;
		return 0;
	}
	if (q->pid != l->pid) {
		(void)snprintf(pid, sizeof(pid), "%u", q->pid);
		l->pid = q->pid;
		l->of_pid = place_of_process(l, pid);
	}
	if (l->of_pid)
		l->of_pid->pod->qps = QPS_SEEN;
	return 0;
}

static int on_device_of_qps(const struct rdma_link *d, void *arg)
{
	struct qps *x = arg;
	struct err ignored;

	if (nl_rdma_qps(x->nl, d->index, on_qp, x, &ignored))
		x->all = false;
	return 0;
}

/* True if all queue pairs of this namespace were seen. */
static bool read_qps(struct transport_look *l, struct nl *nl)
{
	struct qps x = { l, nl, true };
	struct err ignored;

	return nl_rdma_list(nl, on_device_of_qps, &x, &ignored) == 0 && x.all;
}

static bool read_qps_in(struct transport_look *l, const struct netns *ns)
{
	auto_nl struct nl *rdma = NULL;
	struct err ignored;

	return nl_rdma_open_in(ns, &l->host, &rdma, &ignored) == 0 && read_qps(l, rdma);
}

static void find_qps(struct transport_look *l)
{
	bool any = false, all = true;

	for (size_t i = 0; i < l->found.n; i++)
		any |= transport_needs_qps(l->place[i].pod, l->place[i].before, l->limit);
	if (any && l->mode == RDMA_SHARED)
		all = read_qps(l, l->rdma);
	for (size_t i = 0; i < l->found.n; i++) {
		struct place *at = &l->place[i];
		bool need = transport_needs_qps(at->pod, at->before, l->limit);
		bool seen = l->mode == RDMA_SHARED || !need ? all : read_qps_in(l, &at->ns);

		if (!need)
			at->pod->qps = QPS_SEEN;
		else if (at->pod->qps == QPS_UNKNOWN && seen && at->pid)
			at->pod->qps = QPS_NONE;
	}
}

/* ---- the likely cause ---- */

/* `railctl rdma check` of the largest process, in a program beside this one. */
static int run_check(const void *arg)
{
	char path[PATH_MAX], netns[64];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("railctl"));

	if (n <= 0)
		return 1;
	path[n] = '\0';
	char *name = strrchr(path, '/');

	if (!name)
		return 1;
	memcpy(name + 1, "railctl", sizeof("railctl"));
	(void)snprintf(netns, sizeof(netns), "/proc/%u/ns/net", *(const uint32_t *)arg);
	(void)execv(path, (char *[]){ name + 1, "rdma", "check", "--netns", netns, "--interval",
				      "0", "--json", NULL });
	return 1;
}

static void set_cause(struct transport_pod *p, const struct json *finding)
{
	(void)snprintf(p->cause, sizeof(p->cause), "%.250s: %.140s", json_text(finding, "value"),
		       json_text(finding, "consequence"));
}

/* A setting of NCCL counts before all, because it alone proves that NCCL takes TCP. */
static void take_cause(struct transport_pod *p, const struct json *findings)
{
	static const char *const checks[] = { "devices", "rail",    "port",        "gid",
					      "uverbs",  "memlock", "nccl-version" };

	json_each (f, findings) {
		const char *check = json_text(f, "check"), *state = json_text(f, "state");
		const bool fails = strcmp(state, "fail") == 0;

		if ((fails && strcmp(check, "nccl-hca") == 0) ||
		    (strcmp(check, "nccl-net") == 0 && strcmp(state, "warn") == 0)) {
			p->forced = true;
			set_cause(p, f);
			return;
		}
		for (size_t i = 0; fails && !*p->cause && i < ARRAY_SIZE(checks); i++)
			if (strcmp(check, checks[i]) == 0)
				set_cause(p, f);
	}
}

static void find_cause(struct transport_look *l, struct place *at)
{
	const struct exec_req req = { .path = "railctl",
				      .run = run_check,
				      .arg = &at->pid,
				      .envp = environ,
				      .timeout_ms = CHECK_MS };
	auto_clean(exec_kill) struct exec_child child = { .out_fd = -1 };
	struct exec_result result = { 0 };
	auto_json struct json *tree = NULL;
	struct err why = { 0 };

	if (at->before->checked) {
		memcpy(at->pod->cause, at->before->cause, sizeof(at->pod->cause));
		at->pod->forced = at->before->forced;
		at->pod->checked = true;
		return;
	}
	if (l->has_checked)
		return;
	l->has_checked = at->pod->checked = true;
	if (exec_start(&req, &child, &why) || exec_finish(&child, &result, &why) ||
	    json_parse(result.output, result.len, "findings", &tree, &why))
		(void)snprintf(at->pod->cause, sizeof(at->pod->cause),
			       "unknown, \"railctl rdma check\" failed: %.300s", why.msg);
	else
		take_cause(at->pod, json_get(tree, "findings"));
	free(result.output);
}

/* ---- all of it ---- */

static int open_all(struct transport_look *l)
{
	struct rdma_sys sys;
	struct err why;

	if (netns_open_self(&l->host, l->e) || nl_open(&l->nl, l->e))
		return -1;
	if (nl_rdma_open(&l->rdma, &why))
		return why.code == ERR_NOTFOUND ? 1 : err_pass(l->e, &why);
	if (nl_rdma_sys_get(l->rdma, &sys, l->e))
		return -1;
	l->mode = sys.mode;
	return 0;
}

static int look_at_pods(struct transport_look *l)
{
	const int rc = open_all(l);

	/* 1: a kernel without RDMA has no rails. */
	if (rc)
		return rc < 0 ? -1 : 0;
	if (stale_each(&l->ctx, NULL, on_transport_record, l, l->e) || l->failed ||
	    (l->found.n && find_processes(l)))
		return -1;
	if (read_all_flows(l))
		return -1;
	find_qps(l);
	/* A check takes time, and must not keep the namespace of a pod that ends. */
	for (size_t i = 0; i < l->found.n; i++)
		netns_close(&l->place[i].ns);
	for (size_t i = 0; i < l->found.n; i++) {
		struct place *at = &l->place[i];
		struct transport_pod *p = at->pod;

		if (at->before && p->qps == QPS_NONE &&
		    (transport_over(p->rails, p->ms, l->limit) ||
		     transport_over(p->other, p->ms, l->limit)))
			find_cause(l, at);
		transport_judge(p, at->before, l->limit);
	}
	return 0;
}

int transport_look_main(const struct transport_table *before, uint32_t limit)
{
	struct err e;
	auto_clean(look_clear) struct transport_look l = {
		.before = before, .limit = limit, .host.fd = -1, .e = &e
	};

	ctx_init(&l.ctx, "railheadd");
	if (look_at_pods(&l))
		return look_print(NULL, &e);
	auto_json struct json *look = json_new_object();

	if (!look || transport_add_to(look, &l.found, true)) {
		(void)err_nomem(&e);
		return look_print(NULL, &e);
	}
	return look_print(look, NULL);
}
