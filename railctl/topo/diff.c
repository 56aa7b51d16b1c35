// SPDX-License-Identifier: Apache-2.0
/* diff.c: `railctl topo diff`: what differs between two machines, and the exit status. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/json/long.h"
#include "lib/sys/fs.h"
#include "railctl/rdma/pod.h"
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

/* ---- output ---- */

static void diff_show_text(const struct cmd_run *r, const struct findings *all)
{
	size_t unknown = findings_count(all, FINDING_UNKNOWN);

	topo_show_findings(r, all, opt_is_set(&r->opts, "all"));
	if (all->n == unknown)
		out_line(&r->out, OUT_GOOD, "no difference%s",
			 unknown ? " in the values that both machines have" : "");
	else
		out_line(&r->out, OUT_PLAIN, "%zu differences; %zu values are unknown",
			 all->n - unknown, unknown);
}

/* ---- the command ---- */

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
		auto_json struct json *o = topo_differences_json(&all, "differences");

		if (!o)
			return err_nomem(e);
		if (out_json(&r->out, o, e))
			return -1;
	} else {
		diff_show_text(r, &all);
	}
	r->status = topo_status(findings_worst(&all), opt_is_set(&r->opts, "strict"));
	return 0;
}

static const struct opt options[] = {
	{ "expect", "FILE", "the machine that you expect, instead of the first word", 0 },
	TOPO_OPT_CLASS,
	RDMA_OPT_NCCL_VERSION,
	TOPO_OPT_RCCL,
	{ "all", NULL, "an entry for each GPU and each HCA, even if they say the same", 0 },
	{ "strict", NULL, "exit status 3 also when a value of one machine is unknown", 0 },
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
	.opts = { options },
	.examples = examples,
	.max_words = 2,
	.run = diff_run,
};
