/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c: proves whose container it is, and attaches or checks the claims of its pod. A child does
 * so, which dies with this process; this process waits for it, and for the end of the container.
 */
#include "plugins/prepared/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/base/parse.h"
#include "lib/base/version.h"
#include "lib/sys/fs.h"
#include "lib/sys/netns.h"
#include "plugins/prepared/prepared_priv.h"
#include "rdma/env/files.h"

#define RETRY_MS 30000  /* for what may pass */
#define LIMIT_MS 110000 /* the kubelet waits for two minutes */
#define PAUSE_MS 500

#define NOT_ON_HOST "rails are for pods without hostNetwork"
#define USAGE                                                                                      \
	"usage: railhead-hook --pod UID --claim UID <STATE\n"                                      \
	"       railhead-hook --slot NAME --config JSON <STATE\n"                                  \
	"It is a createRuntime hook; see railhead-hook(8).\n"

/* ---- pure ---- */

int gate_state_decode(const char *text, size_t len, struct gate_state *out, struct err *e)
{
	static const struct json_field fields[] = {
		{ "pid", J_UINT, J_AT(struct gate_state, pid), .flags = J_REQUIRED, .min = 1,
		  .max = INT32_MAX },
		{ "bundle", J_CHARS, J_AT(struct gate_state, bundle), .flags = J_REQUIRED,
		  .min = 1 },
		{ 0 },
	};
	auto_json struct json *tree = NULL;
	struct gate_state s = { .pid = 0 };

	if (json_parse(text, len, "the state of the container", &tree, e) ||
	    json_decode(tree, "the state of the container", fields, &s, e)) {
		if (e->code != ERR_NOMEM)
			e->code = ERR_DECODE;
		return -1;
	}
	*out = s;
	return 0;
}

const char *gate_netns_path(const struct json *config)
{
	json_each (it, json_get(json_get(config, "linux"), "namespaces"))
		if (strcmp(json_text(it, "type"), "network") == 0)
			return json_str(json_get(it, "path"));
	return NULL;
}

/* "pod<UID>", or "kubepods-burstable-pod<UID>.slice" with "_" in place of "-". */
static bool is_of_pod(struct slice part, const char *uid)
{
	const struct slice end = { ".slice", strlen(".slice") };
	const size_t n = strlen(uid), head = strlen("pod");
	const bool systemd =
		part.len > end.len &&
		slice_same((struct slice){ part.p + part.len - end.len, end.len }, end);

	if (systemd)
		part.len -= end.len;
	if (part.len < n + head || (!systemd && part.len != n + head) ||
	    (part.len > n + head && part.p[part.len - n - head - 1] != '-') ||
	    memcmp(part.p + part.len - n - head, "pod", head) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (part.p[part.len - n + i] != (systemd && uid[i] == '-' ? '_' : uid[i]))
			return false;
	return true;
}

bool gate_is_in_pod(const char *cgroups, const char *pod_uid)
{
	struct slice rest = { cgroups, strlen(cgroups) }, line, part;

	while (slice_next(&rest, '\n', &line))
		while (slice_next(&line, '/', &part))
			if (is_of_pod(part, pod_uid))
				return true;
	return false;
}

/* The UID of a part that could be of some pod. */
static bool read_uid(struct slice part, char uid[64])
{
	static const char end[] = ".slice", head[] = "pod";
	char text[256];

	if (part.len >= sizeof(text))
		return false;
	(void)snprintf(text, sizeof(text), "%.*s", (int)part.len, part.p);
	char *dot = strstr(text, end), *at = text;
	const bool systemd = dot && !dot[sizeof(end) - 1];

	if (systemd) {
		*dot = '\0';
		at = strrchr(text, '-') ? strrchr(text, '-') + 1 : text;
	}
	if (strncmp(at, head, sizeof(head) - 1) != 0 || strlen(at + sizeof(head) - 1) >= 64)
		return false;
	(void)snprintf(uid, 64, "%s", at + sizeof(head) - 1);
	for (char *p = uid; systemd && (p = strchr(p, '_'));)
		*p = '-';
	return id_valid(uid) && is_of_pod(part, uid);
}

bool gate_pod_of(const char *cgroups, char uid[64])
{
	struct slice rest = { cgroups, strlen(cgroups) }, line, part;
	char found[64];
	bool any = false;

	while (!any && slice_next(&rest, '\n', &line))
		while (slice_next(&line, '/', &part))
			if (read_uid(part, found)) {
				memcpy(uid, found, sizeof(found));
				any = true;
			}
	return any;
}

void gate_pod_names(const struct json *config, struct prepared_id *pod)
{
	static const char *const keys[][2] = {
		{ "io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-name" },
		{ "io.kubernetes.pod.namespace", "io.kubernetes.pod.name" },
	};
	const struct json *texts = json_get(config, "annotations");

	(void)snprintf(pod->ns, sizeof(pod->ns), "unknown");
	(void)snprintf(pod->name, sizeof(pod->name), "%s", pod->uid);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *ns = json_text(texts, keys[i][0]), *name = json_text(texts, keys[i][1]);

		if (!id_valid(ns) || strlen(ns) >= sizeof(pod->ns) || !id_valid(name) ||
		    strlen(name) >= sizeof(pod->name))
			continue;
		(void)snprintf(pod->ns, sizeof(pod->ns), "%s", ns);
		(void)snprintf(pod->name, sizeof(pod->name), "%s", name);
		return;
	}
}

/* ---- proofs ---- */

struct gate {
	struct ctx ctx;
	struct prepared_job job;
	struct gate_state state;
	char cni_path[PATH_MAX];
	char netns[PATH_MAX]; /* of the container */
	char root[PATH_MAX];  /* its files, as the host sees them */
	bool proved;          /* it is in a pod, that of prepared */
	bool on_host;         /* it is in the network of the host */
	/* The pod of the container; of a slot also the claim that the hook makes. */
	struct prepared prepared;
	const char *slot, *config; /* NULL: it is a claim of Kubernetes */
};

static int open_netns_of(const struct gate *g, const char *pid, struct netns *out, struct err *e)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.1024s/%s/ns/net", g->ctx.proc, pid);
	return netns_open(path, out, e);
}

static int read_bundle(struct gate *g, struct err *e)
{
	auto_json struct json *config = NULL;
	auto_free char *text = NULL;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/config.json", g->state.bundle) >= (int)sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "bundle");
	ssize_t len = fs_read_at(AT_FDCWD, path, JSON_MAX_SIZE, &text, e);
	if (len < 0 || json_parse(text, (size_t)len, path, &config, e))
		return -1;
	gate_pod_names(config, &g->prepared.pod);
	const char *netns = gate_netns_path(config);
	if (!netns || strlen(netns) >= sizeof(g->netns)) {
		g->on_host = !netns;
		err_set(e, ERR_FORBIDDEN, 0, "the container is not in the network of a pod");
		return err_hint(e, NOT_ON_HOST);
	}
	const char *root = json_text(json_get(config, "root"), "path");
	(void)snprintf(g->netns, sizeof(g->netns), "%s", netns);
	(void)snprintf(g->root, sizeof(g->root), "%.2000s/%.2000s",
		       *root == '/' ? "" : g->state.bundle, root);
	return 0;
}

static int prove_netns(struct gate *g, const char *pid, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 }, self = { .fd = -1 }, of = { .fd = -1 },
				named = { .fd = -1 };

	if (netns_open_self(&self, e) || open_netns_of(g, "1", &host, e) ||
	    open_netns_of(g, pid, &of, e) || netns_open(g->netns, &named, e))
		return -1;
	if (!netns_same(self.id, host.id)) {
		err_set(e, ERR_FORBIDDEN, 0,
			"the runtime did not run the hook in the network of the host");
		return err_hint(e, "use a RuntimeClass of runc or crun");
	}
	if (netns_same(of.id, host.id)) {
		g->on_host = true;
		err_set(e, ERR_FORBIDDEN, 0, "the container is in the network of the host");
		return err_hint(e, NOT_ON_HOST);
	}
	return netns_same(of.id, named.id)
		       ? 0
		       : err_set(e, ERR_FORBIDDEN, 0,
				 "the process of the container is not in %.256s, which its "
				 "config.json names",
				 g->netns);
}

/* The pod of a slot is that of the container. */
static int name_pod(struct gate *g, const char *cgroups, struct err *e)
{
	struct prepared *p = &g->prepared;

	if (strlen(g->slot) >= PREPARED_SLOT_LEN || !id_valid(g->slot))
		return err_set(e, ERR_ENV, 0, "\"%.80s\" is not a slot", g->slot);
	if (prepared_slot_decode(g->config, strlen(g->config), p, e))
		return -1;
	if (!gate_pod_of(cgroups, p->pod.uid))
		return err_set(e, ERR_FORBIDDEN, 0, "the container is not in the cgroup of a pod");
	if (snprintf(p->claim.uid, sizeof(p->claim.uid), "%s-%s", p->pod.uid, g->slot) >=
	    (int)sizeof(p->claim.uid))
		return err_set(e, ERR_ENV, 0, "the UID %s of the pod is too long", p->pod.uid);
	g->job.pod_uid = p->pod.uid;
	g->job.claim_uid = p->claim.uid;
	return 0;
}

/* Whose it is comes first: the pod of a proved container gets an Event. */
static int prove(struct gate *g, struct err *e)
{
	auto_free char *text = NULL;
	char path[PATH_MAX], pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", g->state.pid);
	(void)snprintf(path, sizeof(path), "%.1024s/%s/cgroup", g->ctx.proc, pid);
	if (fs_read_at(AT_FDCWD, path, JSON_MAX_SIZE, &text, e) < 0)
		return -1;
	if (g->slot && name_pod(g, text, e))
		return -1;
	g->proved = gate_pod_of(text, g->prepared.pod.uid);
	if (read_bundle(g, e))
		return -1;
	if (gate_is_in_pod(text, g->job.pod_uid))
		return prove_netns(g, pid, e);
	err_set(e, ERR_FORBIDDEN, 0,
		"the container is not in the cgroup of pod %s, which has claim %s", g->job.pod_uid,
		g->job.claim_uid);
	return err_hint(e, "a claim is one pod's: use a ResourceClaimTemplate");
}

/* ---- the error ---- */

/* The claim may be another pod's, damaged, or not prepared. */
static void write_refusal(const struct gate *g, struct prepared_refusal *r)
{
	const char *pod_uid = g->job.pod_uid, *claim_uid = g->job.claim_uid;
	auto_prepared struct prepared p = { .networks = NULL };
	struct err ignored;

	if (!id_valid(claim_uid) || strlen(claim_uid) >= sizeof(r->claim.uid))
		return;
	r->pod = g->prepared.pod;
	r->claim = r->pod;
	(void)snprintf(r->claim.uid, sizeof(r->claim.uid), "%s", claim_uid);
	(void)snprintf(r->claim.name, sizeof(r->claim.name), "%s", claim_uid);
	if (prepared_read(&g->ctx, pod_uid, claim_uid, &p, &ignored) > 0) {
		r->claim = p.claim;
		if (strcmp(p.pod.uid, r->pod.uid) == 0)
			r->pod = p.pod;
	} else if (g->slot) {
		return; /* without a driver of claims, only the end of a claim removes the file */
	}
	(void)!prepared_refuse(&g->ctx, r, &ignored);
}

/* Runtimes show one line, or none. Only for a container of a pod the file is written. */
static int report(const struct gate *g, const struct err *e)
{
	char node[65] = "", prefix[32], line[2048];
	const size_t n = (size_t)snprintf(prefix, sizeof(prefix), "error %d", (int)e->code);
	const char *hint = e->detail;

	(void)gethostname(node, sizeof(node) - 1);
	/* A plugin says its code there, too. */
	if (strncmp(hint, prefix, n) == 0)
		hint += n + strspn(hint + n, "; ");
	struct prepared_refusal r = {
		.code = (int)e->code, .node = node, .message = e->msg, .hint = hint
	};
	if (g->proved)
		write_refusal(g, &r);
	(void)snprintf(line, sizeof(line), "railhead-hook: %d: node %s: %s%s%s", (int)e->code, node,
		       e->msg, *hint ? "; " : "", hint);
	for (char *p = line; (p = strchr(p, '\n'));)
		*p = ' ';
	(void)fprintf(stderr, "%s\n", line);
	return 1;
}

/* ---- the work ---- */

static bool may_pass(const struct err *e)
{
	switch (e->code) {
	case ERR_VERSION:
	case ERR_FIELD:
	case ERR_CONTAINER:
	case ERR_ENV:
	case ERR_DECODE:
	case ERR_NETNS:
	case ERR_FORBIDDEN:
	case ERR_NOMEM:
	case ERR_NOTFOUND:
	case ERR_LOGIN:
		return false;
	case ERR_IO:
	case ERR_CONFIG: /* a rail whose card comes back */
	case ERR_AGAIN:
	case ERR_UNAVAILABLE:
	case ERR_LIMITED:
	case ERR_KERNEL:
	case ERR_EXHAUSTED:
	case ERR_STORE:
	case ERR_BUSY:
	case ERR_STATE:
	case ERR_DELEGATE:
	case ERR_CONFLICT:
		return true;
	}
	return false;
}

/*
 * NCCL reads /etc/nccl.conf without any variable, after the file of NCCL_CONF_FILE or of the user.
 * A file of the image or of a volume is there already, and stays. A container without the folder,
 * or whose files cannot be written, starts, too.
 */
static void link_settings(const struct gate *g)
{
	struct err why;
	auto_fd int root = fs_open_dir(g->root, false, &why);
	auto_fd int etc = root < 0 ? -1
				   : fs_openat2(root, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC,
						RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

	if ((etc < 0 || symlinkat(PREPARED_AT "/nccl.conf", etc, "nccl.conf")) && errno != EEXIST &&
	    errno != ENOENT)
		log_warn(&g->ctx.log, "/etc/nccl.conf of a container of pod %s: %s", g->job.pod_uid,
			 strerror(errno));
}

/* A slot without rails: other plugins attached what the pod has. */
static bool has_only_settings(const struct gate *g)
{
	return g->slot && !json_len(g->prepared.networks);
}

/* The process has not executed the container's program yet, which inherits the limit. */
static int lift_memlock(const struct gate *g, struct err *e)
{
	static const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	auto_prepared struct prepared p = { .networks = NULL };

	if (prepared_read(&g->ctx, g->job.pod_uid, g->job.claim_uid, &p, e) < 0)
		return -1;
	const bool lift = has_only_settings(g) ? g->prepared.memlock : p.memlock;
	if (!lift || prlimit(g->state.pid, RLIMIT_MEMLOCK, &unlimited, NULL) == 0)
		return 0;
	const char *of = g->slot ? "resource" : "class";

	err_set(e, ERR_KERNEL, errno, "raise the limit of locked memory, as the %s%s says",
		g->slot ? "" : "device ", of);
	return err_hint(e, "the runtime needs CAP_SYS_RESOURCE; or remove memlock from the %s", of);
}

static int write_settings(const struct gate *g, struct err *e)
{
	char path[PATH_MAX];

	prepared_slot_folder(&g->ctx, g->slot, path);
	return pod_files_write(&g->ctx, g->netns, path, e);
}

/* railhead-devices may have ended the claim between the two calls: nothing was attached yet. */
static int attach(struct gate *g, const struct prepared_sandbox *s, struct err *e)
{
	if (!g->slot)
		return prepared_attach(&g->job, s, e);
	if (has_only_settings(g))
		return write_settings(g, e);
	memcpy(g->prepared.claim.ns, g->prepared.pod.ns, sizeof(g->prepared.claim.ns));
	(void)snprintf(g->prepared.claim.name, sizeof(g->prepared.claim.name), "%s", g->slot);
	if (prepared_slot_take(&g->job, &g->prepared, e))
		return -1;
	const int rc = prepared_attach(&g->job, s, e);
	if (rc && e->code == ERR_NOTFOUND)
		e->code = ERR_AGAIN;
	return rc;
}

static int work(const void *arg)
{
	struct gate g = *(const struct gate *)arg;
	const struct prepared_sandbox s = { .netns = g.netns };
	const int64_t until = ctx_mono_ms() + RETRY_MS;
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };
	struct err e;

	g.job.ctx = &g.ctx;
	g.job.cni_path = g.cni_path;
	/* Also if the process that waits for this one was stopped. */
	(void)alarm(LIMIT_MS / 1000);
	if (prove(&g, &e)) {
		/* Such a pod may share HCAs. The settings of an earlier one are not its own. */
		if (g.on_host && has_only_settings(&g) && !prepared_slot_clear(&g.ctx, g.slot, &e))
			return 0;
		return report(&g, &e);
	}
	while (attach(&g, &s, &e)) {
		if (!may_pass(&e) || ctx_mono_ms() >= until)
			return report(&g, &e);
		(void)nanosleep(&pause, NULL);
	}
	link_settings(&g);
	return lift_memlock(&g, &e) ? report(&g, &e) : 0;
}

static int wait_for(struct exec_child *child, int container, struct err *e)
{
	struct pollfd fds[] = { { .fd = child->out_fd, .events = POLLIN },
				{ .fd = container, .events = POLLIN } };
	struct exec_result r = { .output = NULL };

	while (poll(fds, ARRAY_SIZE(fds), LIMIT_MS) < 0 && errno == EINTR)
		continue;
	if (fds[1].revents && !fds[0].revents) {
		exec_kill(child);
		return err_set(e, ERR_AGAIN, 0, "the process of the container has ended");
	}
	if (exec_finish(child, &r, e))
		return -1;
	free(r.output);
	if (WIFEXITED(r.status))
		return WEXITSTATUS(r.status);
	return err_set(e, ERR_AGAIN, 0, "the attachment was ended by signal %d",
		       WTERMSIG(r.status));
}

/* 0, or 1: the child has reported an error. */
static int run(struct gate *g, struct err *e)
{
	const struct exec_req req = { .path = "railhead-hook",
				      .run = work,
				      .arg = g,
				      .envp = environ,
				      .input = "",
				      .timeout_ms = LIMIT_MS };
	struct exec_child child;

	ssize_t n = readlink("/proc/self/exe", g->cni_path, sizeof(g->cni_path) - 1);
	char *slash = n > 0 ? memrchr(g->cni_path, '/', (size_t)n) : NULL;
	if (!slash)
		return err_set(e, ERR_IO, errno, "the folder of this program");
	*slash = '\0';
	/* Before anything is read of it: another process cannot take its number then. */
	auto_fd int container = (int)syscall(SYS_pidfd_open, g->state.pid, 0);
	if (container < 0)
		return err_set(e, ERR_IO, errno, "process %d of the container", g->state.pid);
	if (exec_start(&req, &child, e))
		return -1;
	return wait_for(&child, container, e);
}

int gate_main(int argc, char **argv, const struct delegate_builtin *rails)
{
	struct gate g = { .job = { .rails = rails } };
	auto_free char *text = NULL;
	struct err e;
	size_t len;

	if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "--help") == 0)) {
		(void)printf("%s",
			     argv[1][2] == 'v' ? "railhead-hook " RAILHEAD_VERSION "\n" : USAGE);
		return 0;
	}
	if (argc == 5 && strcmp(argv[1], "--pod") == 0 && strcmp(argv[3], "--claim") == 0) {
		g.job.pod_uid = argv[2];
		g.job.claim_uid = argv[4];
	} else if (argc == 5 && strcmp(argv[1], "--slot") == 0 &&
		   strcmp(argv[3], "--config") == 0) {
		g.slot = argv[2];
		g.config = argv[4];
	} else {
		(void)fputs(USAGE, stderr);
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	ctx_init(&g.ctx, "railhead-hook");
	if (fs_read_fd(STDIN_FILENO, JSON_MAX_SIZE, &text, &len, &e) ||
	    gate_state_decode(text, len, &g.state, &e))
		return report(&g, &e);
	int rc = run(&g, &e);
	struct err ignored;
	/* The child knows which pod it is, and has ended. */
	if (rc < 0)
		(void)!prove(&g, &ignored);
	return rc < 0 ? report(&g, &e) : rc;
}
