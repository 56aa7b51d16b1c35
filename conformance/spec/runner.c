/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c: each item in a box of its own, a few boxes at a time. */
#include "conformance/spec/runner.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/spec/box.h"
#include "conformance/spec/json.h"
#include "conformance/spec/observe.h"
#include "conformance/spec/profile.h"

enum { ITEM_LIMIT_MS = 90000, JOBS_MAX = 16 };

struct task {
	const struct order *order;
	struct outcome *outcome;
	pid_t pid;
	int fd;
	double begin;
	bool over;
	bool overdue; /* it reached its limit, and was killed for that */
};

/* ---- inside the box ---- */

/* The plugin that the check meets: the real one, or one that breaks a rule around it. */
static const char *place_plugin(const struct order *o, const char *wrong)
{
	bool builtin = strcmp(o->plugin, "@meta") == 0;
	const char *name = builtin ? "meta" : strrchr(o->plugin, '/') + 1;
	char *path = text(WORK "/wrong/%s", name);

	if (!wrong && !builtin)
		return o->plugin;
	if (mkdir(WORK "/wrong", 0755))
		broken(WORK);
	copy_file(o->self, path);
	if (!write_file(text("%s.base", path), builtin ? "meta" : o->plugin) ||
	    !write_file(text("%s.rules", path), wrong ? wrong : ""))
		broken(path);
	return path;
}

static void prepare(struct t *t, const struct order *o, const char *wrong)
{
	t->p = o->profile;
	t->facts = &o->facts;
	t->self = o->self;
	t->extra_path = o->path;
	box_furnish(o->profile, o->self);
	t->plugin = place_plugin(o, wrong);
	t->real = o->plugin;
	reset(t);
}

static void answer(int fd, cJSON *o)
{
	const char *s = jtext(o);

	(void)!write(fd, s, strlen(s));
}

static void check_one(void *arg, int fd)
{
	struct task *k = arg;
	struct t t = { .item = k->outcome->item, .verdict = PASS };
	cJSON *o = cJSON_CreateObject();

	prepare(&t, k->order, k->outcome->wrong);
	t.item->check(&t);
	cJSON_AddNumberToObject(o, "verdict", t.verdict);
	cJSON_AddStringToObject(o, "note", t.note ? t.note : "");
	cJSON_AddStringToObject(o, "evidence", t.evidence ? t.evidence : "");
	answer(fd, o);
}

static void probe(void *arg, int fd)
{
	const struct order *order = arg;
	struct t t = { .verdict = PASS };
	cJSON *o = cJSON_CreateObject();
	const char *kind = order->profile->link_kind;

	prepare(&t, order, NULL);
	run(&t, "VERSION");
	cJSON_AddItemToObject(o, "versions",
			      cJSON_Duplicate(jget(t.doc, "supportedVersions"), true));
	bool has = !*kind || strcmp(kind, "veth") == 0 ||
		   ip(NULL, text("link add link " MASTER " name probe0 type %s", kind));
	cJSON_AddBoolToObject(o, "link", has);
	answer(fd, o);
}

/* ---- outside ---- */

/* An answer is a note and the evidence of one call: tell() in call.c bounds them. */
static char *read_answer(int fd)
{
	enum { MOST = 1 << 18 };
	char *buf = calloc(1, MOST);
	size_t used = 0;
	ssize_t n;

	while (buf && (n = read(fd, buf + used, MOST - used - 1)) > 0)
		used += (size_t)n;
	return buf;
}

static void start(struct task *k, void (*body)(void *arg, int fd), void *arg)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		broken("pipe");
	fflush(NULL);
	k->begin = now_ms();
	k->pid = box_start(k->order->profile, body, arg, fds[1]);
	k->fd = fds[0];
	close(fds[1]);
}

static cJSON *finish(struct task *k)
{
	cJSON *o = jparse(read_answer(k->fd));

	close(k->fd);
	(void)waitpid(k->pid, NULL, 0);
	k->over = true;
	return o;
}

void runner_probe(struct order *o)
{
	struct task k = { .order = o };
	const cJSON *one;

	start(&k, probe, o);
	cJSON *found = finish(&k);
	cJSON_ArrayForEach(one, jget(found, "versions"))
	{
		if (cJSON_IsString(one) && o->facts.n_versions < 16)
			o->facts.versions[o->facts.n_versions++] = one->valuestring;
	}
	if (!found)
		exit(3);
	o->facts.kernel_has_link = cJSON_IsTrue(jget(found, "link"));
}

static void take(struct task *k)
{
	cJSON *o = finish(k);
	struct outcome *x = k->outcome;
	const char *declared = profile_excuse(k->order->profile, "deviations", x->item->id);

	x->ms = now_ms() - k->begin;
	/* A check that broke has caught nothing. */
	x->verdict = o                       ? (enum verdict)(int)jnum(o, "verdict")
		     : x->wrong && *x->wrong ? PASS
					     : FAIL;
	x->note = o            ? text("%s", jstr(o, "note"))
		  : k->overdue ? text("cni-conformance ended the check after %.1f s, which is its "
				      "limit (--slower raises it)",
				      x->ms / 1e3)
			       : text("the check did not come to an end");
	x->evidence = text("%s", jstr(o, "evidence"));
	if (x->verdict == FAIL && declared && (!x->wrong || !*x->wrong)) {
		x->verdict = DECLARED;
		x->note = text("%s", declared);
	}
}

/* ---- what applies ---- */

static const char *kinds_text(unsigned kinds)
{
	return text("for plugins of the kind%s%s%s", kinds & INTERFACE ? " interface" : "",
		    kinds & IPAM ? " ipam" : "", kinds & META ? " meta" : "");
}

static bool knows(const struct order *o, const char *least)
{
	for (size_t i = 0; i < o->facts.n_versions; i++) {
		if (at_least(o->facts.versions[i], least))
			return true;
	}
	return false;
}

static bool knows_just(const struct order *o, const char *version)
{
	const struct t t = { .facts = &o->facts };

	return supports(&t, version);
}

static const char *lacking(const struct order *o, unsigned needs)
{
	const struct profile *p = o->profile;

	if ((needs & NEED_ADD) && !o->facts.kernel_has_link)
		return text("this kernel has no %s", p->link_kind);
	if ((needs & NEED_PREV) && !knows(o, "0.3.0"))
		return "the plugin knows no version with prevResult";
	if ((needs & NEED_CHECK) && !knows(o, "0.4.0"))
		return "the plugin knows no version with CHECK";
	if ((needs & NEED_11) && !knows(o, "1.1.0"))
		return "the plugin does not know version 1.1.0";
	if ((needs & NEED_OLD) && !knows_just(o, "0.2.0"))
		return "the plugin does not know version 0.2.0";
	if ((needs & NEED_POOL) && !jget(p->tree, "smallPool"))
		return "the profile names no smallPool: this IPAM reserves nothing";
	if ((needs & NEED_MAC) && !p->mac)
		return "the profile does not say that a MAC address can be asked for";
	if ((needs & NEED_MASTER) && !p->master)
		return "the profile's netconf has no master";
	return NULL;
}

/* Why the item does not apply, NULL: it does. */
static const char *excuse_of(const struct order *o, const struct item *item)
{
	const char *said = profile_excuse(o->profile, "notApplicable", item->id);
	unsigned needs = item->needs;

	if (!item->check)
		return item->why;
	if (!(item->kinds & o->profile->kind))
		return kinds_text(item->kinds);
	/* A pool is what an IPAM has; others get theirs from the fake. */
	if (o->profile->kind != IPAM)
		needs &= ~(unsigned)NEED_POOL;
	if (o->profile->kind != INTERFACE)
		needs &= ~(unsigned)NEED_ADD;
	return said ? said : lacking(o, needs);
}

/* ---- a few beside each other ---- */

static bool begin(struct task *k)
{
	const char *excuse = excuse_of(k->order, k->outcome->item);

	if (!excuse) {
		start(k, check_one, k);
		return true;
	}
	k->outcome->verdict = NOT_APPLICABLE;
	k->outcome->note = text("%s", excuse);
	k->over = true;
	return false;
}

/* Wait until one of the running tasks has an answer, or has had its time. */
static void await_any(struct task *tasks, const size_t *running, size_t n)
{
	struct pollfd p[JOBS_MAX];

	for (size_t i = 0; i < n; i++)
		p[i] = (struct pollfd){ .fd = tasks[running[i]].fd, .events = POLLIN };
	(void)poll(p, n, 1000);
	for (size_t i = 0; i < n; i++) {
		struct task *k = &tasks[running[i]];
		if (!p[i].revents && now_ms() - k->begin > k->order->facts.slower * ITEM_LIMIT_MS)
			k->overdue = kill(k->pid, SIGKILL) == 0;
		if (p[i].revents)
			take(k);
	}
}

static size_t compact(const struct task *tasks, size_t *running, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!tasks[running[i]].over)
			running[kept++] = running[i];
	}
	return kept;
}

void runner_run(const struct order *o, struct outcome *outcomes, size_t n,
		void (*done)(const struct outcome *one, void *arg), void *arg)
{
	struct task *tasks = calloc(n + 1, sizeof(*tasks));
	size_t running[JOBS_MAX], n_running = 0, next = 0, told = 0;
	size_t jobs = o->jobs && o->jobs <= JOBS_MAX && !o->profile->host_network ? o->jobs : 1;

	if (!tasks)
		broken("memory");
	while (told < n) {
		while (next < n && n_running < jobs) {
			tasks[next] = (struct task){ .order = o, .outcome = &outcomes[next] };
			if (begin(&tasks[next]))
				running[n_running++] = next;
			next++;
		}
		if (n_running)
			await_any(tasks, running, n_running);
		n_running = compact(tasks, running, n_running);
		for (; told < next && tasks[told].over; told++)
			done(&outcomes[told], arg);
	}
	free(tasks);
}
