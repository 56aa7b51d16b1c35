// SPDX-License-Identifier: Apache-2.0
/* rack.c: `railctl topo rack`: many machines side by side, and those that differ. */
#include <stdio.h>
#include <string.h>

#include "railctl/rdma/pod.h"
#include "railctl/topo/topo.h"
#include "diag/diff.h"

struct node {
	struct topo t;
	const char *path; /* as given */
	char *name;       /* owned; with this many folders of the path */
	size_t folders;
	struct json *document; /* owned; findings have its texts */
	struct findings differences;
	char *sentence; /* owned; NULL: it does not differ */
};

struct rack {
	struct node *node; /* owned */
	size_t n, typical;
};

static void rack_clear(struct rack *k)
{
	for (size_t i = 0; i < k->n; i++) {
		findings_clear(&k->node[i].differences);
		json_free(k->node[i].document);
		free(k->node[i].name);
		free(k->node[i].sentence);
		topo_clear(&k->node[i].t);
	}
	free(k->node);
}
#define auto_rack auto_clean(rack_clear)

/* ---- reading ---- */

/* "tray07" of "captures/tray07.xml"; with one folder "captures/tray07". NULL: no memory. */
static char *rack_name_of(const char *path, size_t folders)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	bool xml = len > 4 && path[len - 5] != '/' && !memcmp(path + len - 4, ".xml", 4);
	size_t end = xml ? len - 4 : len;
	size_t begin = len;
	for (;;) {
		while (begin > 0 && path[begin - 1] != '/')
			begin--;
		if (begin < 2 || !folders--)
			return strndup(path + begin, end - begin);
		while (begin > 0 && path[begin - 1] == '/')
			begin--;
	}
}

/* A folder more, or all of the path if there is none more. */
static int lengthen_name(struct node *n, bool *changed, struct err *e)
{
	if (!strcmp(n->name, n->path))
		return 0;
	auto_free char *name = rack_name_of(n->path, ++n->folders);
	if (name && !strcmp(name, n->name)) {
		free(name);
		name = strdup(n->path);
	}
	if (!name)
		return err_nomem(e);
	free(n->name);
	n->name = TAKE_PTR(name);
	*changed = true;
	return 0;
}

/* Another machine of this name; NULL: none. */
static const struct node *twin_of(const struct rack *k, const struct node *n)
{
	for (size_t i = 0; i < k->n; i++)
		if (&k->node[i] != n && !strcmp(k->node[i].name, n->name))
			return &k->node[i];
	return NULL;
}

/* Captures such as tray01/capture and tray02/capture are called by their folders, too. */
static int make_names_distinct(struct rack *k, struct err *e)
{
	bool twin[TOPO_DIFF_MACHINES_MAX], changed = true;
	const struct node *last = NULL;

	while (changed) {
		changed = false;
		last = NULL;
		for (size_t i = 0; i < k->n; i++) {
			twin[i] = twin_of(k, &k->node[i]) != NULL;
			last = twin[i] ? &k->node[i] : last;
		}
		for (size_t i = 0; i < k->n; i++)
			if (twin[i] && lengthen_name(&k->node[i], &changed, e))
				return -1;
	}
	return last ? err_set(e, ERR_CONFIG, 0, "%s is given twice", last->path) : 0;
}

static int read_node(struct cmd_run *r, const char *path, struct node *n, struct err *e)
{
	char first;

	if (topo_first_char(path, &first, e))
		return -1;
	if (first == '{')
		return err_set(e, ERR_CONFIG, 0,
			       "%s: a file of \"railctl topo --json\" has no tree: give a capture",
			       path);
	if (topo_load_path(r, path, first == '<', &n->t, e))
		return -1;
	n->path = path;
	n->name = rack_name_of(path, 0);
	n->document = show_json(&n->t.view);
	return n->name && n->document ? 0 : err_nomem(e);
}

/* NCCL chooses otherwise because a port is down: the port is the cause. */
static bool is_consequence(const struct finding *f)
{
	static const char *const ids[] = { "path", "nearest", "nccl", "gdr", "setting" };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (!strcmp(f->id, ids[i]))
			return true;
	return false;
}

/* The first cause among the worst differences, and the number of the others. */
static int make_sentence(struct node *n, struct err *e)
{
	size_t count = n->differences.n - findings_count(&n->differences, FINDING_UNKNOWN);
	const struct finding *f = n->differences.item;
	char more[48] = "";

	for (size_t i = n->differences.n; i-- > 0;)
		if (n->differences.item[i].state == n->differences.item[0].state &&
		    !is_consequence(&n->differences.item[i]))
			f = &n->differences.item[i];
	if (!count)
		return 0;
	if (count > 1)
		(void)snprintf(more, sizeof(more), ", and %zu more", count - 1);
	if (asprintf(&n->sentence, "%s%s%s: %s%s", f->id, f->subject ? " " : "",
		     f->subject ? f->subject : "", f->value ? f->value : "differs", more) < 0) {
		n->sentence = NULL;
		return err_nomem(e);
	}
	return 0;
}

static int rack_compare_nodes(struct rack *k, struct err *e)
{
	auto_free struct json **all = calloc(k->n + 1, sizeof(struct json *));

	if (!all)
		return err_nomem(e);
	for (size_t i = 0; i < k->n; i++)
		all[i] = k->node[i].document;
	if (topo_diff_typical(all, k->n, &k->typical, e))
		return -1;
	for (size_t i = 0; i < k->n; i++) {
		struct node *n = &k->node[i];
		if (i != k->typical &&
		    (topo_diff(all[k->typical], all[i], TOPO_DIFF_ALL, &n->differences, e) ||
		     make_sentence(n, e)))
			return err_wrap(e, "%s", n->name);
	}
	return 0;
}

static int read_rack(struct cmd_run *r, struct rack *k, struct err *e)
{
	k->node = calloc(r->opts.n_words + 1, sizeof(*k->node));
	if (!k->node)
		return err_nomem(e);
	k->n = r->opts.n_words;
	for (size_t i = 0; i < k->n; i++)
		if (read_node(r, r->opts.words[i], &k->node[i], e))
			return -1;
	return make_names_distinct(k, e) || rack_compare_nodes(k, e) ? -1 : 0;
}

/* ---- output ---- */

static int rack_show_table(const struct cmd_run *r, const struct rack *k, struct err *e)
{
	static const struct out_column columns[] = { { "MACHINE", OUT_SHRINK },
						     { "GPUS", OUT_RIGHT },
						     { "HCAS", OUT_RIGHT },
						     { "RAILS", OUT_RIGHT },
						     { "DIFFERS", OUT_SHRINK } };
	auto_table struct out_table table = { .columns = columns,
					      .n_columns = ARRAY_SIZE(columns) };

	for (size_t i = 0; i < k->n; i++) {
		const struct node *n = &k->node[i];
		enum finding_state worst = findings_worst(&n->differences);
		char gpus[24], hcas[24], rails[16];
		const struct out_cell cells[] = {
			{ n->name, OUT_PLAIN },
			{ gpus, OUT_PLAIN },
			{ hcas, OUT_PLAIN },
			{ rails, OUT_PLAIN },
			{ n->sentence, n->sentence ? finding_style(worst) : OUT_PLAIN },
		};

		(void)snprintf(gpus, sizeof(gpus), "%zu", n->t.m.n_gpus);
		(void)snprintf(hcas, sizeof(hcas), "%zu", n->t.m.n_hcas);
		(void)snprintf(rails, sizeof(rails), "%u", n->t.choice.n_rails);
		if (out_row(&table, cells, e))
			return -1;
	}
	out_table(&r->out, &table);
	return 0;
}

static int show_document(const struct cmd_run *r, const struct rack *k, enum finding_state worst,
			 struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *list;

	if (!o || json_add_int(o, "version", 1) ||
	    json_add_str(o, "state", finding_state_name(worst)) ||
	    json_add_str(o, "typical", k->node[k->typical].name) ||
	    !(list = json_add_array(o, "machines")))
		return err_nomem(e);
	for (size_t i = 0; i < k->n; i++) {
		auto_json struct json *one =
			topo_differences_json(&k->node[i].differences, "differences");
		if (!one || json_add_str(one, "name", k->node[i].name) ||
		    json_push(list, TAKE_PTR(one)))
			return err_nomem(e);
	}
	return out_json(&r->out, o, e);
}

/* ---- the command ---- */

static int rack_run(struct cmd_run *r, struct err *e)
{
	enum finding_state worst = FINDING_OK;
	auto_rack struct rack k = { 0 };
	int rc;

	if (read_rack(r, &k, e))
		return -1;
	for (size_t i = 0; i < k.n; i++)
		worst = finding_worse(worst, findings_worst(&k.node[i].differences));
	rc = r->out.json ? show_document(r, &k, worst, e) : rack_show_table(r, &k, e);
	r->status = topo_status(worst, opt_is_set(&r->opts, "strict"));
	return rc;
}

static const struct opt options[] = {
	TOPO_OPT_CLASS,
	RDMA_OPT_NCCL_VERSION,
	TOPO_OPT_RCCL,
	{ "strict", NULL, "exit status 3 also when a value of one machine is unknown", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl topo rack captures/*",
	"railctl topo rack --json captures/*",
	NULL,
};

const struct cmd topo_rack_cmd = {
	.name = "rack",
	.words = "MACHINE MACHINE...",
	.summary = "show machines side by side, and those that differ from most others",
	.about = "Each machine is a capture or a topology file of NCCL, such as those of the 18 "
		 "trays of an NVL72. At most 256 machines are compared. The machine that most "
		 "others equal is typical. Each other one is compared with it as in \"railctl topo "
		 "diff\", and the first cause is shown. The exit status is that of \"railctl topo "
		 "diff\".",
	.opts = { options },
	.examples = examples,
	.min_words = 2,
	.max_words = TOPO_DIFF_MACHINES_MAX,
	.run = rack_run,
};
