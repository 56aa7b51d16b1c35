/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: options of cni-conformance; plans the items, runs them, counts the failures. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "conformance/spec/fake.h"
#include "conformance/spec/profile.h"
#include "conformance/spec/report.h"

enum { SLOWER_MAX = 10000 };

struct options {
	const char *plugin, *profile, *path, *format, *output, *items;
	bool list, selftest;
	unsigned jobs;
	double slower;
};

static const char usage_text[] =
	"usage: cni-conformance --plugin FILE --profile FILE [--cni-path DIRS]\n"
	"           [--format text|tap|junit|markdown|json] [--output FILE]\n"
	"           [--items CNI-045,...] [--jobs N] [--slower N] [--selftest]\n"
	"       cni-conformance --list\n"
	"See cni-conformance(8).\n";

static int usage(void)
{
	fputs(usage_text, stderr);
	return 2;
}

static bool read_option(struct options *o, int c)
{
	switch (c) {
	case 'p':
		o->plugin = optarg;
		return true;
	case 'P':
		o->profile = optarg;
		return true;
	case 'd':
		o->path = optarg;
		return true;
	case 'f':
		o->format = optarg;
		return report_knows(optarg);
	case 'o':
		o->output = optarg;
		return true;
	case 'i':
		o->items = optarg;
		return true;
	case 'j':
		o->jobs = (unsigned)strtoul(optarg, NULL, 10);
		return o->jobs > 0;
	case 'w':
		o->slower = strtod(optarg, NULL);
		return o->slower > 0 && o->slower <= SLOWER_MAX;
	case 'l':
		return o->list = true;
	case 's':
		return o->selftest = true;
	default:
		return false;
	}
}

static bool read_options(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "plugin", required_argument, NULL, 'p' },
		{ "profile", required_argument, NULL, 'P' },
		{ "cni-path", required_argument, NULL, 'd' },
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "items", required_argument, NULL, 'i' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "slower", required_argument, NULL, 'w' },
		{ "list", no_argument, NULL, 'l' },
		{ "selftest", no_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (!read_option(o, c))
			return false;
	}
	return optind == argc && (o->list || (o->plugin && o->profile));
}

static int list_items(void)
{
	for (size_t s = 0; s < n_sections; s++) {
		printf("%s\n", sections[s].name);
		for (size_t i = 0; i < *sections[s].n; i++) {
			const struct item *x = &sections[s].items[i];
			printf("  CNI-%03d %-6s %s%s%s\n", x->id, level_name(x->level), x->title,
			       x->check ? "" : " -- not checked: ", x->check ? "" : x->why);
		}
	}
	return 0;
}

/* In a selftest: the item with no rules, then with each of its wrong plugins. */
static size_t plan_item(const struct order *order, const struct options *o, const struct item *x,
			struct outcome *out)
{
	if (o->items && !strcasestr(o->items, text("CNI-%03d", x->id)))
		return 0;
	if (!o->selftest) {
		*out = (struct outcome){ .item = x };
		return 1;
	}
	if (!x->check || !(x->kinds & (unsigned)order->profile->kind))
		return 0;
	size_t n = 0;
	/* The control: without rules the item must pass. */
	out[n++] = (struct outcome){ .item = x, .wrong = "" };
	for (size_t w = 0; w < WRONG_MAX && x->wrong[w]; w++)
		out[n++] = (struct outcome){ .item = x, .wrong = x->wrong[w] };
	/* An item that nothing breaks proves nothing: a second control stands for that failure. */
	if (n == 1)
		out[n++] =
			(struct outcome){ .item = x, .wrong = "*: no-wrong-plugin-in-the-table" };
	return n;
}

static int by_id(const void *a, const void *b)
{
	const struct outcome *x = a, *y = b;

	if (x->item->id != y->item->id)
		return x->item->id - y->item->id;
	return x->wrong && y->wrong ? strcmp(x->wrong, y->wrong) : 0;
}

static size_t plan(const struct order *order, const struct options *o, struct outcome *out)
{
	size_t n = 0;

	for (size_t s = 0; s < n_sections; s++) {
		for (size_t i = 0; i < *sections[s].n; i++)
			n += plan_item(order, o, &sections[s].items[i], out + n);
	}
	qsort(out, n, sizeof(*out), by_id);
	return n;
}

static void tell(const struct outcome *one, void *arg)
{
	struct report *r = arg;

	report_one(r, one);
	if (r->to != stdout)
		fprintf(stderr, "%s", is_bad(one) ? "x" : ".");
}

static bool is_caught(const struct outcome *all, size_t n, const struct item *item)
{
	for (size_t i = 0; i < n; i++) {
		if (all[i].item == item && all[i].verdict == FAIL && all[i].wrong && *all[i].wrong)
			return true;
	}
	return false;
}

/*
 * Wrong plugins are written for the first kind that an item applies to, and there each must be
 * caught. For another kind some of them do nothing wrong (an IPAM makes no links): there one must
 * be.
 */
static void forgive(struct outcome *all, size_t n, enum kind kind)
{
	for (size_t i = 0; i < n; i++) {
		struct outcome *x = &all[i];
		unsigned first = x->item->kinds & -x->item->kinds;
		if (first == (unsigned)kind || x->verdict != PASS || !*x->wrong ||
		    !is_caught(all, n, x->item))
			continue;
		x->verdict = NOT_APPLICABLE;
		x->note = text("made for another kind of plugin");
	}
}

static void stay_silent(const struct outcome *one, void *arg)
{
	(void)one;
	(void)arg;
}

static int conform(const struct options *o, struct order *order)
{
	struct outcome *all = calloc(1024, sizeof(*all));
	struct report r = { .to = stdout, .order = order, .format = o->format };
	int bad = 0;

	r.selftest = o->selftest;
	if (o->output && !(r.to = fopen(o->output, "we"))) {
		perror(o->output);
		return 2;
	}
	runner_probe(order);
	size_t n = plan(order, o, all);
	report_begin(&r, n);
	runner_run(order, all, n, o->selftest ? stay_silent : tell, &r);
	if (o->selftest)
		forgive(all, n, order->profile->kind);
	for (size_t i = 0; o->selftest && i < n; i++)
		tell(&all[i], &r);
	report_end(&r, all, n);
	if (r.to != stdout)
		fputc('\n', stderr);
	for (size_t i = 0; i < n; i++)
		bad += is_bad(&all[i]);
	return fflush(r.to) || bad ? 1 : 0;
}

/* /run and /var/lib are hidden from the plugin's view. */
static bool is_hidden(const char *path)
{
	return strncmp(path, "/run/", 5) == 0 || strncmp(path, "/var/lib/", 9) == 0;
}

int main(int argc, char **argv)
{
	struct options o = { .format = "text", .jobs = 2, .slower = 1 };
	static char self[512];
	struct order order = { .self = self };

	if (fake_is_one(self, sizeof(self)))
		return fake_main(self, argv);
	if (!read_options(&o, argc, argv))
		return usage();
	/* A plugin's peak memory is counted from our fork on: huge pages would make ours 30 MiB. */
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (o.list)
		return list_items();
	order.plugin = strcmp(o.plugin, "@meta") == 0 ? o.plugin : realpath(o.plugin, NULL);
	if (!order.plugin || (order.plugin[0] == '/' && access(order.plugin, X_OK))) {
		perror(o.plugin);
		return 2;
	}
	if (is_hidden(order.plugin) || is_hidden(self)) {
		fprintf(stderr, "cni-conformance: programs below /run and /var/lib cannot be used: "
				"each item gets empty ones; copy them elsewhere\n");
		return 2;
	}
	order.profile = profile_load(o.profile);
	order.path = o.path;
	order.jobs = o.jobs;
	order.facts.slower = o.slower;
	return order.profile ? conform(&o, &order) : 2;
}
