// SPDX-License-Identifier: Apache-2.0
/* verify.c: `railctl topo verify`: NCCL's choice beside the prediction. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rdma/hca_list.h"
#include "lib/sys/fs.h"
#include "railctl/device/pod.h"
#include "railctl/topo/topo.h"
#include "diag/diff.h"
#include "diag/verify.h"

#define LOG_MAX     ((size_t)64 * 1024 * 1024)
#define ASSUMED_MAX 32

/* ---- the log ---- */

/* A log of several machines needs --host: each machine has its own prediction. */
static int check_hosts(struct cmd_run *r, const struct nccl_log *log, const char *host,
		       struct err *e)
{
	const struct slice *first = NULL;

	for (size_t i = 0; i < log->n_gpus; i++) {
		const struct slice *own = &log->process[log->gpu[i].process].host;

		if (host && slice_is(*own, host))
			return 0;
		if (!host && first && !slice_same(*own, *first)) {
			cmd_usage(r, e, "the log is of more than one machine");
			return err_hint(e, "--host names one of them, such as %.*s or %.*s",
					(int)(first->len < 64 ? first->len : 64), first->p,
					(int)(own->len < 64 ? own->len : 64), own->p);
		}
		first = own;
	}
	if (!first) {
		err_set(e, ERR_NOTFOUND, 0, "no line of NCCL in the log");
		return err_hint(e, "start the job with NCCL_DEBUG=INFO");
	}
	return host ? err_set(e, ERR_NOTFOUND, 0, "no line of the host \"%.64s\" in the log", host)
		    : 0;
}

struct job_log {
	char *text;
	struct nccl_log log; /* points into the text */
};

static void job_log_clear(struct job_log *j)
{
	nccl_log_clear(&j->log);
	free(j->text);
}
#define auto_job_log auto_clean(job_log_clear)

/* path NULL: no log is given, and *j stays empty. */
static int read_log(struct cmd_run *r, const char *path, struct job_log *j, struct err *e)
{
	ssize_t len;

	if (!path)
		return 0;
	len = fs_read_at(AT_FDCWD, path, LOG_MAX, &j->text, e);
	return len < 0 || nccl_log_read(j->text, (size_t)len, &j->log, e) ||
			       check_hosts(r, &j->log, opt_get(&r->opts, "host"), e)
		       ? -1
		       : 0;
}

static int verify_log(const struct cmd_run *r, const struct job_log *j, const struct topo *t,
		      struct findings *all, struct err *e)
{
	auto_json struct json *machine = show_json(&t->view);
	const char *assumed[ASSUMED_MAX];
	struct verify_input in = {
		.machine = machine,
		.log = &j->log,
		.host = opt_get(&r->opts, "host"),
		.assumed = assumed,
		.rules = nccl_version(&t->opts),
		.rccl = t->opts.rccl,
	};
	size_t i = 0;

	if (!machine)
		return err_nomem(e);
	while (in.n_assumed < ASSUMED_MAX &&
	       (assumed[in.n_assumed] = opt_next(&r->opts, "set", &i)))
		in.n_assumed++;
	return topo_verify(&in, all, e);
}

/* ---- a topology file that NCCL wrote ---- */

/* NCCL writes no device that NCCL_IB_HCA excludes, so none is expected. */
static int drop_excluded(struct topo *t, struct err *e)
{
	bool *mask;

	if (!t->opts.hca_list)
		return 0;
	mask = calloc(t->m.n_hcas + 1, sizeof(*mask));
	if (!mask)
		return err_nomem(e);
	for (size_t i = 0; i < t->m.n_hcas; i++)
		mask[i] = (!t->hca || t->hca[i]) &&
			  hca_list_selects(t->opts.hca_list, t->m.hca[i].name, HCA_PORT_UNKNOWN);
	free(t->hca);
	t->hca = mask;
	t->view.scope.hca = mask;
	return 0;
}

static bool has_sockets_only(const struct topo_machine *m)
{
	for (uint32_t i = 0; i < m->n_hcas; i++)
		if (!topo_is_socket(m, i))
			return false;
	return m->n_hcas > 0;
}

static int verify_dump(struct cmd_run *r, const char *path, const struct topo *own,
		       struct findings *all, struct err *e)
{
	static const char sockets[] = "Socket";
	auto_json struct json *machine = show_json(&own->view), *dump = NULL;
	auto_topo struct topo t = { 0 };

	if (!machine)
		return err_nomem(e);
	if (topo_load_path(r, path, true, &t, e))
		return -1;
	if (has_sockets_only(&t.m)) {
		topo_verify_network(machine, (struct slice){ sockets, strlen(sockets) }, all);
		return findings_check(all, e);
	}
	dump = show_json(&t.view);
	if (!dump)
		return err_nomem(e);
	return topo_diff(machine, dump, TOPO_DIFF_NCCL, all, e);
}

/* ---- the command ---- */

static int verify_show(const struct cmd_run *r, const struct topo *t, const struct findings *all,
		       struct err *e)
{
	char version[LIB_VERSION_LEN], rules[LIB_VERSION_LEN + 8];

	(void)snprintf(rules, sizeof(rules), "%s %s", t->opts.rccl ? "RCCL" : "NCCL",
		       lib_version_format(nccl_version(&t->opts), version));
	if (r->out.json) {
		auto_json struct json *o = findings_json(all, "findings");

		return o && !json_add_str(o, "rules", rules) ? out_json(&r->out, o, e)
							     : err_nomem(e);
	}
	topo_show_findings(r, all);
	out_line(&r->out, OUT_FAINT, "predicted by the rules of %s", rules);
	findings_print_counts(&r->out, all);
	return 0;
}

static int topo_verify_run(struct cmd_run *r, struct err *e)
{
	const char *log = opt_get(&r->opts, "nccl-log"), *file = opt_get(&r->opts, "nccl-dump");
	auto_job_log struct job_log j = { 0 };
	auto_findings struct findings all = { 0 };
	auto_topo struct topo t = { 0 };

	if (!log == !file)
		return cmd_usage(r, e, "either --nccl-log or --nccl-dump is needed");
	if (opt_is_set(&r->opts, "host") && !log)
		return cmd_usage(r, e, "--host is for --nccl-log");
	if (read_log(r, log, &j, e))
		return -1;
	(void)topo_verify_version(&j.log, opt_get(&r->opts, "host"), &t.nccl_version, &t.opts.rccl);
	if (topo_load(r, 0, &t, e) || (file && drop_excluded(&t, e)))
		return -1;
	if (log ? verify_log(r, &j, &t, &all, e) : verify_dump(r, file, &t, &all, e))
		return -1;
	if (verify_show(r, &t, &all, e))
		return -1;
	r->status = topo_status(r, findings_worst(&all));
	return 0;
}

static const struct opt options[] = {
	{ "nccl-log", "FILE", "what a job printed with NCCL_DEBUG=INFO", 0 },
	{ "host", "NAME", "the machine in a log of several", 0 },
	{ "nccl-dump", "FILE", "the file that NCCL wrote by NCCL_TOPO_DUMP_FILE", 0 },
	TOPO_OPT_SYSFS,
	TOPO_OPT_XML,
	RDMA_OPT_NETNS,
	TOPO_OPT_GPUS,
	TOPO_OPT_HCAS,
	TOPO_OPT_CLASS,
	TOPO_OPT_SET,
	RDMA_OPT_NCCL_VERSION,
	TOPO_OPT_RCCL,
	{ "all", NULL, "an entry for each GPU, even if they say the same", 0 },
	{ "strict", NULL, "exit status 3 also when a finding is unknown", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl topo verify --nccl-log job.log --nccl-xml dgx-a100.xml",
	"railctl topo verify --nccl-dump dgx-a100.xml --nccl-xml dgx-a100.xml",
	NULL,
};

const struct cmd topo_verify_cmd = {
	.name = "verify",
	.summary = "compare what NCCL said that it chose with the prediction",
	.about = "A job prints its devices and connections with NCCL_DEBUG=INFO, and writes the "
		 "machine that it saw with NCCL_TOPO_DUMP_FILE. Each GPU whose HCAs or GPUDirect "
		 "RDMA differ from the prediction is an entry, with the settings of the job that "
		 "may explain it. The rules are those of the version in the log. The exit status "
		 "is that of \"railctl topo check\".",
	.opts = { options },
	.examples = examples,
	.run = topo_verify_run,
};
