// SPDX-License-Identifier: Apache-2.0
/* diff.c: `railctl topo diff` and `rack`: what differs between two machines, or among many. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/json/long.h"
#include "lib/sys/fs.h"
#include "railctl/device/pod.h"
#include "railctl/topo/topo.h"
#include "diag/diff.h"

/* ---- a machine as a document ---- */

int topo_first_char(const char *path, char *out, struct err *e)
{
	char head[64];
	ssize_t n;
	struct stat st;
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*out = 0;
	if (fd < 0 || fstat(fd, &st))
		return err_set(e, ERR_NOTFOUND, errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return 0;
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return err_set(e, ERR_IO, errno, "%s", path);
	for (ssize_t i = 0; i < n && !*out; i++)
		if (!isspace((unsigned char)head[i]))
			*out = head[i];
	return 0;
}

static int read_json(const char *path, struct json **out, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_at(AT_FDCWD, path, JSON_LONG_SIZE, &text, e);

	return len < 0 || json_parse_long(text, (size_t)len, path, out, e) ? -1 : 0;
}

/* path NULL: this machine. */
static int diff_read_machine(struct cmd_run *r, const char *path, struct json **out, struct err *e)
{
	auto_topo struct topo t = { 0 };
	char first = 0;

	if (path && topo_first_char(path, &first, e))
		return -1;
	if (first == '{')
		return read_json(path, out, e);
	if (topo_load_path(r, path, first == '<', &t, e))
		return -1;
	*out = show_json(&t.view);
	return *out ? 0 : err_nomem(e);
}

/* ---- two machines ---- */

static void diff_show_text(const struct cmd_run *r, const struct findings *all)
{
	size_t unknown = findings_count(all, FINDING_UNKNOWN);

	topo_show_findings(r, all);
	if (all->n == unknown)
		out_line(&r->out, OUT_GOOD, "no difference%s",
			 unknown ? " in the values that both machines have" : "");
	else
		out_line(&r->out, OUT_PLAIN, "%zu differences; %zu values are unknown",
			 all->n - unknown, unknown);
}

static int diff_run(struct cmd_run *r, struct err *e)
{
	const char *expect = opt_get(&r->opts, "expect"), **word = r->opts.words;
	size_t own = expect ? 0 : 1;
	auto_json struct json *expected = NULL, *found = NULL;
	auto_findings struct findings all = { 0 };

	if (r->opts.n_words < own)
		return cmd_usage(r, e, "the machine that you expect is missing");
	if (r->opts.n_words > own + 1)
		return cmd_usage(r, e, "--expect already names the machine that you expect");
	if (diff_read_machine(r, expect ? expect : word[0], &expected, e) ||
	    diff_read_machine(r, r->opts.n_words > own ? word[own] : NULL, &found, e) ||
	    topo_diff(expected, found, TOPO_DIFF_ALL, &all, e))
		return -1;
	if (r->out.json) {
		auto_json struct json *o = findings_json(&all, "differences");

		if (!o)
			return err_nomem(e);
		if (out_json(&r->out, o, e))
			return -1;
	} else {
		diff_show_text(r, &all);
	}
	r->status = topo_status(r, findings_worst(&all));
	return 0;
}

/* ---- many machines ---- */

#define NAME_LEN 128

struct rack {
	char name[TOPO_DIFF_MACHINES_MAX][NAME_LEN];
	struct json *document[TOPO_DIFF_MACHINES_MAX]; /* owned; findings have its texts */
	struct findings differences[TOPO_DIFF_MACHINES_MAX];
	size_t n, typical;
};

static void rack_clear(struct rack *k)
{
	for (size_t i = 0; i < k->n; i++) {
		findings_clear(&k->differences[i]);
		json_free(k->document[i]);
	}
}
#define auto_rack auto_clean(rack_clear)

/* "tray07" of "captures/tray07.json". */
static void put_name(const char *path, char out[NAME_LEN])
{
	static const char *const endings[] = { ".xml", ".json" };
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	const char *slash = memrchr(path, '/', len), *base = slash ? slash + 1 : path;

	(void)snprintf(out, NAME_LEN, "%.*s", (int)(path + len - base), base);
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		char *end = strstr(out, endings[i]);

		if (end && end > out)
			*end = '\0';
	}
}

/* The whole path if another machine has the name, too. */
static const char *name_of(const struct cmd_run *r, const struct rack *k, size_t i)
{
	for (size_t x = 0; x < k->n; x++)
		if (x != i && !strcmp(k->name[x], k->name[i]))
			return r->opts.words[i];
	return k->name[i];
}

static int read_rack(struct cmd_run *r, struct rack *k, struct err *e)
{
	for (; k->n < r->opts.n_words; k->n++) {
		put_name(r->opts.words[k->n], k->name[k->n]);
		if (diff_read_machine(r, r->opts.words[k->n], &k->document[k->n], e))
			return -1;
	}
	if (topo_diff_typical(k->document, k->n, &k->typical, e))
		return -1;
	for (size_t i = 0; i < k->n; i++)
		if (i != k->typical && topo_diff(k->document[k->typical], k->document[i],
						 TOPO_DIFF_ALL, &k->differences[i], e))
			return err_wrap(e, "%s", k->name[i]);
	return 0;
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

/* The first cause among the worst differences, and the number of the others; NULL: none. */
static const char *sentence(const struct findings *all, char out[FINDING_TEXT_LEN])
{
	size_t count = all->n - findings_count(all, FINDING_UNKNOWN);
	const struct finding *f = all->item;

	if (!count)
		return NULL;
	for (size_t i = all->n; i-- > 0;)
		if (all->item[i].state == all->item[0].state && !is_consequence(&all->item[i]))
			f = &all->item[i];
	int len = snprintf(out, FINDING_TEXT_LEN - 32, "%s%s%s: %s", f->id, f->subject ? " " : "",
			   f->subject ? f->subject : "", f->value ? f->value : "differs");
	if (count > 1 && len < FINDING_TEXT_LEN - 32)
		(void)snprintf(out + len, 32, ", and %zu more", count - 1);
	return out;
}

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
		const struct json *hcas = json_get(k->document[i], "hcas");
		char gpus[24], nics[24], rails[24], text[FINDING_TEXT_LEN];
		const char *differs = sentence(&k->differences[i], text);
		double n_rails = 0;

		json_each (it, hcas) {
			const struct json *rail = json_get(it, "rail");

			if (json_type(rail) == JSON_NUMBER && json_num(rail) >= n_rails)
				n_rails = json_num(rail) + 1;
		}
		(void)snprintf(gpus, sizeof(gpus), "%zu",
			       json_len(json_get(k->document[i], "gpus")));
		(void)snprintf(nics, sizeof(nics), "%zu", json_len(hcas));
		(void)snprintf(rails, sizeof(rails), "%.0f", n_rails);

		enum finding_state worst = findings_worst(&k->differences[i]);
		const struct out_cell cells[] = {
			{ name_of(r, k, i), OUT_PLAIN },
			{ gpus, OUT_PLAIN },
			{ nics, OUT_PLAIN },
			{ rails, OUT_PLAIN },
			{ differs, differs ? finding_style(worst) : OUT_PLAIN },
		};
		if (out_row(&table, cells, e))
			return -1;
	}
	out_table(&r->out, &table);
	return 0;
}

static int rack_show_json(const struct cmd_run *r, const struct rack *k, enum finding_state worst,
			  struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *list;

	if (!o || json_add_int(o, "version", 1) ||
	    json_add_str(o, "state", finding_state_name(worst)) ||
	    json_add_str(o, "typical", name_of(r, k, k->typical)) ||
	    !(list = json_add_array(o, "machines")))
		return err_nomem(e);
	for (size_t i = 0; i < k->n; i++) {
		auto_json struct json *one = findings_json(&k->differences[i], "differences");
		if (!one || json_add_str(one, "name", name_of(r, k, i)) ||
		    json_push(list, TAKE_PTR(one)))
			return err_nomem(e);
	}
	return out_json(&r->out, o, e);
}

static int rack_run(struct cmd_run *r, struct err *e)
{
	enum finding_state worst = FINDING_OK;
	auto_rack struct rack k = { .n = 0 };
	int rc;

	if (read_rack(r, &k, e))
		return -1;
	for (size_t i = 0; i < k.n; i++)
		worst = finding_worse(worst, findings_worst(&k.differences[i]));
	rc = r->out.json ? rack_show_json(r, &k, worst, e) : rack_show_table(r, &k, e);
	r->status = topo_status(r, worst);
	return rc;
}

/* ---- the commands ---- */

static const struct opt common[] = {
	TOPO_OPT_CLASS,
	RDMA_OPT_NCCL_VERSION,
	TOPO_OPT_RCCL,
	{ "strict", NULL, "exit status 3 also when a value of one machine is unknown", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct opt options[] = {
	{ "expect", "FILE", "the machine that you expect, instead of the first word", 0 },
	{ "all", NULL, "an entry for each GPU and each HCA, even if they say the same", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl topo diff good-node odd-node",
	"railctl topo diff --expect good-node.json",
	NULL,
};

const struct cmd topo_diff_cmd = {
	.name = "diff",
	.words = "EXPECTED [FOUND]",
	.summary = "show what differs between two machines and matters to a job",
	.about =
		"Each machine is a capture, a topology file of NCCL, or a file of \"railctl topo "
		"--json\". Without FOUND it is this machine. Devices, distances, ports, NCCL's "
		"choice and the findings of \"railctl topo check\" are compared. VFs are not, "
		"because pods take them. The exit status is 0 if nothing differs, 3 if only names, "
		"addresses or settings do, and 4 otherwise.",
	.opts = { options, common },
	.examples = examples,
	.max_words = 2,
	.run = diff_run,
};

static const char *const rack_examples[] = { "railctl topo rack captures/*", NULL };

const struct cmd topo_rack_cmd = {
	.name = "rack",
	.words = "MACHINE MACHINE...",
	.summary = "show machines side by side, and those that differ from most others",
	.about = "Each machine is as in \"railctl topo diff\", such as the captures of the 18 "
		 "trays of an NVL72. At most 256 machines are compared. The machine that most "
		 "others equal is typical. Each other one is compared with it as in \"railctl topo "
		 "diff\", and the first cause is shown. The exit status is that of \"railctl topo "
		 "diff\".",
	.opts = { common },
	.examples = rack_examples,
	.min_words = 2,
	.max_words = TOPO_DIFF_MACHINES_MAX,
	.run = rack_run,
};
