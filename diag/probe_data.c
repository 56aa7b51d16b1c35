/* SPDX-License-Identifier: Apache-2.0 */
/* probe_data.c: reads character devices, limits, environment, DCB and counters of a pod. */
#include "diag/probe_data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/base/array.h"
#include "lib/device/rdma.h"
#include "lib/sys/fs.h"
#include "lib/sys/netns.h"

void probe_data_clear(struct probe_data *f)
{
	free(f->device);
	free(f->pkey);
	*f = (struct probe_data){ 0 };
}

/* ---- character devices ---- */

/* rdma_cm is known only by its name, so any number fits. */
static bool is_another(const struct stat *st, const struct rdma_chardev *c)
{
	if (!S_ISCHR(st->st_mode))
		return true;
	return c->major && (major(st->st_rdev) != c->major || minor(st->st_rdev) != c->minor);
}

static void probe_data_look_at(const struct probe_view *v, const struct rdma_chardev *c,
			       struct device_file *out)
{
	char path[PATH_MAX];
	struct stat st;

	*out = (struct device_file){ 0 };
	if (!*c->name)
		return;
	(void)snprintf(out->path, sizeof(out->path), "/dev/infiniband/%s", c->name);
	if (v->pid < 0)
		return;
	if (v->pid > 0)
		(void)snprintf(path, sizeof(path), "%s/%d/root%s", v->ctx->proc, v->pid, out->path);
	else
		(void)snprintf(path, sizeof(path), "%s/infiniband/%s", v->ctx->dev, c->name);
	if (stat(path, &st)) {
		out->access = errno == ENOENT || errno == ENOTDIR ? ACCESS_MISSING : ACCESS_UNKNOWN;
		return;
	}
	if (is_another(&st, c)) {
		out->access = ACCESS_WRONG;
		out->major = major(st.st_rdev);
		out->minor = minor(st.st_rdev);
		return;
	}
	out->access = ACCESS_THERE;
	if (v->pid)
		return;

	auto_fd int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	out->access = fd < 0 ? ACCESS_DENIED : ACCESS_OK;
	out->errnum = fd < 0 ? errno : 0;
}

/* ---- the process ---- */

#define PROC_FILE_MAX (4u << 20)

/* A file of the process in /proc. Returns its length; *text is NULL if it cannot be read. */
static ssize_t read_proc(const struct probe_view *v, const char *name, char **text, struct err *e)
{
	char path[PATH_MAX], who[16] = "self";
	struct err why;

	*text = NULL;
	if (v->pid < 0)
		return 0;
	if (v->pid > 0)
		(void)snprintf(who, sizeof(who), "%d", v->pid);
	(void)snprintf(path, sizeof(path), "%s/%s/%s", v->ctx->proc, who, name);

	ssize_t n = fs_read_at(AT_FDCWD, path, PROC_FILE_MAX, text, &why);

	if (n >= 0)
		return n;
	return why.code == ERR_NOMEM ? err_nomem(e) : 0;
}

/* The word after label in a line that begins with label. */
static bool find_word(const char *text, const char *label, char out[32])
{
	size_t len = strlen(label);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, label, len) != 0)
			continue;
		line += len;
		line += strspn(line, " \t");

		struct slice word = { line, strcspn(line, " \t\n") };

		return slice_copy(word, out, 32) == 0;
	}
	return false;
}

static int read_memlock(const struct probe_view *v, struct probe_data *f, struct err *e)
{
	auto_free char *text = NULL;
	char word[32];

	if (read_proc(v, "limits", &text, e) < 0)
		return -1;
	if (!text || !find_word(text, "Max locked memory", word))
		return 0;
	f->memlock = MEMLOCK_UNLIMITED;
	f->has_memlock = strcmp(word, "unlimited") == 0 ||
			 parse_u64(word, 0, UINT64_MAX - 1, &f->memlock) == 0;
	return 0;
}

#define CAP_IPC_LOCK 14

static int read_capabilities(const struct probe_view *v, struct probe_data *f, struct err *e)
{
	auto_free char *text = NULL;
	char word[32], *end;

	if (read_proc(v, "status", &text, e) < 0)
		return -1;
	if (!text || !find_word(text, "CapEff:", word))
		return 0;

	unsigned long long set = strtoull(word, &end, 16);

	f->ipc_lock = !*end && (set >> CAP_IPC_LOCK & 1);
	return 0;
}

#define CONF_MAX (1u << 20)

/*
 * A file that the process sees under that path. No link leads out of its root. Only a plain file is
 * opened: a pipe would block, and to open a device can start it (a watchdog). O_PATH opens nothing.
 */
static int read_own_file(const struct probe_view *v, const char *path, char **text, struct err *e)
{
	char root[PATH_MAX], again[32], who[16] = "self";
	struct err why;
	struct stat st;
	size_t len;

	*text = NULL;
	if (v->pid > 0)
		(void)snprintf(who, sizeof(who), "%d", v->pid);
	(void)snprintf(root, sizeof(root), "%s/%s/root", v->ctx->proc, who);

	auto_fd int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int at = dir < 0 ? -1 : fs_openat2(dir, path, O_PATH | O_CLOEXEC, RESOLVE_IN_ROOT);

	if (at < 0 || fstat(at, &st) || !S_ISREG(st.st_mode))
		return 0;
	(void)snprintf(again, sizeof(again), "/proc/self/fd/%d", at);

	auto_fd int fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fs_read_fd(fd, CONF_MAX, text, &len, &why) == 0)
		return 0;
	return why.code == ERR_NOMEM ? err_nomem(e) : 0;
}

/* "/root" for the user of the process; "": not known. NCCL asks getpwuid(), not $HOME. */
static int find_home(const struct probe_view *v, char out[PATH_MAX], struct err *e)
{
	auto_free char *status = NULL, *passwd = NULL;
	struct slice rest, line, field;
	char uid[32], word[32];

	*out = '\0';
	if (read_proc(v, "status", &status, e) < 0 || read_own_file(v, "/etc/passwd", &passwd, e))
		return -1;
	if (!status || !passwd || !find_word(status, "Uid:", uid))
		return 0;
	rest = (struct slice){ passwd, strlen(passwd) };
	while (!*out && slice_next(&rest, '\n', &line)) {
		bool same = false;

		for (int i = 0; i < 6 && slice_next(&line, ':', &field); i++) {
			if (i == 2)
				same = slice_copy(field, word, sizeof(word)) == 0 &&
				       strcmp(word, uid) == 0;
			if (i == 5 && same && slice_copy(field, out, PATH_MAX / 2))
				*out = '\0';
		}
	}
	return 0;
}

static int read_conf(const struct probe_view *v, const char *path, struct job_vars *out,
		     struct err *e)
{
	auto_free char *text = NULL;

	if (read_own_file(v, path, &text, e))
		return -1;
	if (text)
		job_vars_file(out, text, path);
	return 0;
}

/* In the order in which they count: NCCL_CONF_FILE or that of the user, then that of the system. */
static int read_confs(const struct probe_view *v, struct job_vars *out, struct err *e)
{
	const struct job_value *named = &out->var[JOB_NCCL_CONF_FILE];
	struct lib_version nccl = NCCL_VERSION_NEWEST;
	char path[PATH_MAX];

	if (v->nccl)
		nccl = *v->nccl;
	else if (out->library.is == JOB_LIBRARY_NAMED)
		nccl = out->library.version;
	if (named->set && lib_rule_holds(NCCL_HAS_CONF_FILE, nccl)) {
		(void)snprintf(path, sizeof(path), "%s", named->text);
	} else {
		if (find_home(v, path, e))
			return -1;
		if (*path)
			(void)strcat(path, "/.nccl.conf");
	}
	return (*path && read_conf(v, path, out, e)) || read_conf(v, "/etc/nccl.conf", out, e) ? -1
											       : 0;
}

int probe_read_library(const struct probe_view *v, struct job_vars *out, struct err *e)
{
	auto_free char *maps = NULL;

	if (read_proc(v, "maps", &maps, e) < 0)
		return -1;
	out->library = (struct job_library){ 0 };
	if (maps)
		job_vars_maps(out, maps);
	return 0;
}

static int read_job(const struct probe_view *v, struct probe_data *f, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t n = read_proc(v, "environ", &text, e);

	f->job = (struct job_vars){ 0 };
	if (n < 0 || probe_read_library(v, &f->job, e))
		return -1;
	f->has_environ = text;
	if (text) {
		job_vars_environ(&f->job, text, (size_t)n);
		if (read_confs(v, &f->job, e))
			return -1;
	}
	f->nccl = NCCL_VERSION_NEWEST;
	f->nccl_from = job_nccl_version(&f->job, &f->nccl);
	if (!v->nccl)
		return 0;
	f->nccl = *v->nccl;
	f->nccl_from = JOB_NCCL_ASKED;
	return 0;
}

/* ---- quality of service ---- */

static int read_dcb(struct nl *nl, const struct inv_port *p, struct port_data *f, struct err *e)
{
	struct err why;

	if (!p->ifindex || p->layer != IB_LAYER_ETHERNET)
		return 0;
	f->has_dcb = nl_dcb_get(nl, p->netdev, &f->dcb, &why) == 0;
	if (!f->has_dcb && why.code == ERR_NOMEM)
		return err_nomem(e);
	return 0;
}

static int read_devices(const struct probe_view *view, struct probe_data *f, struct err *e)
{
	const struct rdma_inventory *v = f->inventory;

	f->device = calloc(v->n_devices + 1, sizeof(*f->device));
	if (!f->device)
		return err_nomem(e);
	for (size_t i = 0; i < v->n_devices; i++)
		probe_data_look_at(view, &v->device[i].uverbs, &f->device[i].uverbs);
	return 0;
}

/* ---- partitions ---- */

#define PKEYS_MAX 65536

static int add_pkey(struct probe_data *f, const struct inv_port *port, const struct pkey_asked *a,
		    struct err *e)
{
	if (ARRAY_GROW(f->pkey, f->n_pkeys, PKEYS_MAX, "partitions that are asked for", e))
		return -1;

	struct pkey_request *q = &f->pkey[f->n_pkeys++];

	*q = (struct pkey_request){ .port = port, .pkey = a->pkey };
	(void)snprintf(q->from, sizeof(q->from), "%s", a->from);
	return 0;
}

/* For the ports of that device, if it is visible. */
static int add_asked(struct probe_data *f, const struct pkey_asked *a, struct err *e)
{
	const struct rdma_inventory *v = f->inventory;

	if (!a->bus)
		return add_pkey(f, NULL, a, e);
	for (size_t i = 0; i < v->n_devices; i++) {
		for (size_t p = 0; p < v->device[i].n_ports; p++) {
			const struct inv_port *port = &v->device[i].port[p];

			if (strcmp(v->device[i].bus, a->bus) == 0 &&
			    port->layer == IB_LAYER_INFINIBAND && add_pkey(f, port, a, e))
				return -1;
		}
	}
	return 0;
}

/* Those of the caller, and those of the IPoIB interfaces. */
static int collect_pkeys(const struct probe_view *v, struct probe_data *f, struct err *e)
{
	char from[16 + IFNAME_LEN];

	for (size_t i = 0; i < v->n_pkeys; i++)
		if (add_asked(f, &v->pkeys[i], e))
			return -1;
	for (size_t i = 0; i < f->rails->n; i++) {
		const struct rdma_rail *r = &f->rails->rail[i];

		if (!r->netdev || !r->netdev->pkey)
			continue;
		(void)snprintf(from, sizeof(from), "interface %s", r->netdev->link.name);
		if (add_pkey(f, r->port, &(struct pkey_asked){ r->netdev->pkey, from, NULL }, e))
			return -1;
	}
	return 0;
}

/* ---- counters ---- */

/* If the port's own interface is not here, an interface above it knows its name. */
static const char *probe_data_netdev_of(const struct probe_data *f, const struct inv_port *p)
{
	for (size_t i = 0; !*p->netdev && i < f->rails->n; i++) {
		const struct rdma_rail *r = &f->rails->rail[i];

		if (r->port == p && r->netdev)
			return r->netdev->below;
	}
	return p->netdev;
}

static int read_counters(const struct probe_view *v, const struct probe_data *f, size_t device,
			 size_t port, struct err *e)
{
	const struct inv_device *d = &f->inventory->device[device];
	struct port_data *out = &f->device[device].port[port];
	struct counters_of of = { v->ctx->sysfs, d->link.name, d->port[port].port,
				  d->port[port].netdev };

	struct port_counters host = { 0 };

	if (counters_read(&of, &out->last, e))
		return -1;
	of.sysfs = v->host_sysfs;
	of.netdev = probe_data_netdev_of(f, &d->port[port]);
	if (of.sysfs && counters_read(&of, &host, e))
		return -1;
	if (counters_are_seen(&host))
		out->last = host;
	counters_add_pauses(&out->dcb, &out->last);
	return 0;
}

/* The data that change during the reading. */
static int read_ports(const struct probe_view *view, struct nl *nl, const struct probe_data *f,
		      struct err *e)
{
	const struct rdma_inventory *v = f->inventory;

	for (size_t i = 0; i < v->n_devices; i++)
		for (size_t p = 0; p < v->device[i].n_ports; p++)
			if (read_dcb(nl, &v->device[i].port[p], &f->device[i].port[p], e) ||
			    read_counters(view, f, i, p, e))
				return -1;
	return 0;
}

static int watch_counters(const struct probe_view *view, struct probe_data *f, struct err *e)
{
	auto_nl struct nl *nl = NULL;

	if (nl_open(&nl, e) || read_ports(view, nl, f, e))
		return -1;
	for (size_t i = 0; i < f->inventory->n_devices; i++) {
		for (size_t p = 0; p < RDMA_PORTS_MAX; p++)
			f->device[i].port[p].first = f->device[i].port[p].last;
	}
	if (!view->watch_ms || !f->inventory->n_devices)
		return 0;
	view->wait(view->watch_ms, view->wait_arg);
	f->watched_ms = view->watch_ms;
	return read_ports(view, nl, f, e);
}

/* ---- queue pairs ---- */

struct qp_search {
	const struct ctx *ctx;
	struct netns here;
	uint32_t pid; /* of the first one */
};

/* In mode shared a caller on the host sees those of all pods. */
static int on_probe_qp(const struct rdma_qp *q, void *arg)
{
	auto_netns struct netns ns = { .fd = -1 };
	struct qp_search *s = arg;
	char path[PATH_MAX];
	struct err ignored;

	if (q->state != RDMA_QP_RTR && q->state != RDMA_QP_RTS)
		return 0;
	(void)snprintf(path, sizeof(path), "%.4000s/%u/ns/net", s->ctx->proc, q->pid);
	if (netns_open(path, &ns, &ignored) == 0 && netns_same(ns.id, s->here.id))
		s->pid = q->pid;
	return s->pid != 0;
}

static void read_qps(const struct probe_view *view, struct probe_data *f)
{
	auto_nl struct nl *nl = NULL;
	struct qp_search s = { .ctx = view->ctx, .here.fd = -1 };
	struct err ignored;

	f->has_qps = netns_open_self(&s.here, &ignored) == 0 && nl_rdma_open(&nl, &ignored) == 0;
	for (size_t i = 0; f->has_qps && !s.pid && i < f->inventory->n_devices; i++)
		f->has_qps = nl_rdma_qps(nl, f->inventory->device[i].link.index, on_probe_qp, &s,
					 &ignored) == 0;
	f->qp_pid = s.pid;
	netns_close(&s.here);
}

int probe_data_read(const struct probe_view *view, const struct rdma_inventory *v,
		    const struct rails *r, struct probe_data *out, struct err *e)
{
	const struct rdma_chardev cm = { .name = "rdma_cm" };
	auto_probe_data struct probe_data f = { .inventory = v, .rails = r, .lossy = view->lossy };

	probe_data_look_at(view, &cm, &f.rdma_cm);
	read_qps(view, &f);
	if (read_devices(view, &f, e) || collect_pkeys(view, &f, e) || read_memlock(view, &f, e) ||
	    read_capabilities(view, &f, e) || read_job(view, &f, e) || watch_counters(view, &f, e))
		return -1;
	*out = f;
	f.device = NULL;
	f.pkey = NULL;
	return 0;
}
