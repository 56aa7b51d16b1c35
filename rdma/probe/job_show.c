/* SPDX-License-Identifier: Apache-2.0 */
/* job_show.c: the verdict on a job: a table of ranks and rails, and a line for each suspect. */
#include <stdio.h>
#include <string.h>

#include "rdma/job/stats.h"
#include "rdma/probe/job.h"

#define ROWS_MAX 32u /* above it, only the ranks with findings */
#define LINE     512

/* ---- words ---- */

struct words {
	const char *code, *what, *remedy;
};

static const struct words words[JUDGE_CAUSES] = {
	[JUDGE_CLASS] = { "class", "has another traffic class than most",
			  "set NCCL_IB_TC, or the tier of the pods, alike on all ranks" },
	[JUDGE_GID] = { "gid", "has a GID of another kind than most",
			"give the rail an address of the same family on all ranks" },
	[JUDGE_MTU] = { "mtu", "has another MTU than most",
			"set one MTU on all ports of the rail" },
	[JUDGE_RATE] = { "link-rate", "has a lower link or slot rate than others of its model",
			 "look at the cable, and at the rate that the switch port negotiated" },
	[JUDGE_PCIE] = { "pcie", "has a PCIe slot that runs below what it can do",
			 "reseat the card, or look for PCIe errors in the kernel's log" },
	[JUDGE_LACKS] = { "lacks-rail", "lacks a rail that most ranks have",
			  "\"railctl rails\" on the node says why" },
	[JUDGE_BROKEN] = { "broken", "could not run its tests",
			   "\"railctl rdma check\" in the pod" },
	[JUDGE_UNREACHED] = { "no-reach", "reaches none of its partners",
			      "look at VLAN, route and cable; \"kubectl rail fabric\" shows the "
			      "leaf" },
	[JUDGE_SMALL_MTU] = { "path-mtu", "does not pass full packets",
			      "look at the MTU of the switch ports on the way" },
	[JUDGE_SLOW] = { "slow", "is slow", "look at {NIC, cable, leaf port} of this end" },
	[JUDGE_SLOW_ALL] = { "slow-together", "is slow while all rails of the node are loaded",
			     "look at the PCIe switch that the rail shares, and at the NUMA node" },
	[JUDGE_WHOLE] = { "all-slow", "measure far less than link and slot allow",
			  "nothing faster is there to compare with: look at PCIe, MTU and class" },
	[JUDGE_NOISY] = { "noisy", "had too little CPU: its rates say nothing",
			  "raise the CPU limit of the pods" },
	[JUDGE_UNDECIDED] = { "undecided", "was slow more than once, which may be chance",
			      "repeat the test, with more ranks" },
	[JUDGE_UNTESTED] = { "untested", "was not tested", "test it by other means" },
};

/* "node7 rail3", "all rails of node7", "leaf1 rail3", "rail3 of all ranks", "all ranks". */
static void name_end(const struct job_root *r, struct judge_end x, char *out, size_t size)
{
	const char *rail = x.rail == JUDGE_EVERY ? "" : r->names[x.rail];

	if (x.rank != JUDGE_NONE && x.rail == JUDGE_EVERY)
		(void)snprintf(out, size, "%s (rank %u), all rails",
			       *r->members[x.rank].node ? r->members[x.rank].node : "?", x.rank);
	else if (x.rank != JUDGE_NONE)
		(void)snprintf(out, size, "%s (rank %u) %s", r->members[x.rank].node, x.rank, rail);
	else if (x.leaf != JUDGE_NONE)
		(void)snprintf(out, size, "leaf %s, %s", r->leaves[x.leaf], rail);
	else
		(void)snprintf(out, size, "%s%sall ranks", rail, *rail ? " of " : "");
}

static void add(char *line, const char *text)
{
	size_t n = strlen(line);

	(void)snprintf(line + n, LINE - n, "%s", text);
}

static void name_ends(const struct job_root *r, const struct judge_finding *f, char line[LINE])
{
	char end[2 * JOB_NAME + 32];

	*line = '\0';
	for (size_t i = 0; i < f->n_ends; i++) {
		bool way = f->ends[0].rank == JUDGE_NONE && f->n_ends > 1;
		name_end(r, f->ends[i], end, sizeof(end));
		add(line, !i ? (way ? "between " : "") : way ? " and " : " or ");
		add(line, end);
	}
}

/* What the ports of these ends counted: it tells a bad cable from a slow host. */
static void add_counted(const struct job_root *r, const struct judge_finding *f, char line[LINE])
{
	char text[2 * JOB_TEXT];

	for (size_t i = 0; i < f->n_ends; i++) {
		struct judge_end x = f->ends[i];
		const struct job_member *m = x.rank == JUDGE_NONE ? NULL : &r->members[x.rank];
		for (size_t k = 0; m && k < m->n_rails; k++) {
			const struct job_rail *rail = &m->rails[k];
			if (!*rail->counted || (x.rail != JUDGE_EVERY &&
						strcmp(rail->interface, r->names[x.rail]) != 0))
				continue;
			/* Once is enough: that is so for all rails of a kind. */
			if (strcmp(rail->counted, JOB_BLIND) == 0 && strstr(line, JOB_BLIND))
				continue;
			(void)snprintf(text, sizeof(text), "%s%s %s %s", *line ? "; " : "", m->node,
				       rail->interface, rail->counted);
			add(line, text);
		}
	}
}

/* The test is one of the end. All ranks together have a reason only if none could run its tests. */
static bool is_of(const struct judge_test *t, const struct judge_finding *f)
{
	struct judge_end x = f->ends[0];

	return (x.rail == JUDGE_EVERY || x.rail == t->rail) &&
	       (x.rank == t->a || x.rank == t->b ||
		(x.rank == JUDGE_NONE && f->cause == JUDGE_BROKEN));
}

/* The measured rate, how many tests were low, and the partners. */
static void evidence(const struct job_root *r, const struct judge_finding *f, char line[LINE])
{
	static const char *const ways[] = { "", "sent ", "received ", "sent and received " };
	char a[STATS_TEXT_LEN], b[STATS_TEXT_LEN], text[128];
	const char *why = NULL;

	*line = '\0';
	if (f->expected > 0) {
		(void)snprintf(text, sizeof(text), "%s%s, usual %s", ways[f->way],
			       stats_rate(f->measured, a), stats_rate(f->expected, b));
		add(line, text);
	}
	if (f->tests) {
		(void)snprintf(text, sizeof(text), "%s%u of %u tests", *line ? "; " : "", f->low,
			       f->tests);
		add(line, text);
	}
	for (size_t i = 0; i < JUDGE_ENDS && f->partners[i] != JUDGE_NONE; i++) {
		add(line, i ? ", " : " with ");
		add(line, r->members[f->partners[i]].node);
	}
	add_counted(r, f, line);
	for (size_t i = 0; i < r->n_cases && !why; i++) {
		const struct job_case *c = &r->cases[i];
		if (*c->text && !c->label && is_of(&c->test, f))
			why = c->text;
	}
	if (why) {
		add(line, *line ? ": " : "");
		add(line, why);
	}
}

/* ---- the table ---- */

static bool has_finding(const struct job_root *r, uint32_t rank, unsigned rail,
			const struct judge_finding **out)
{
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct judge_finding *f = &r->findings[i];
		for (size_t k = 0; k < f->n_ends; k++) {
			struct judge_end x = f->ends[k];
			bool leaf = x.rank == JUDGE_NONE && x.leaf != JUDGE_NONE &&
				    f->n_ends == 1 && r->ranks[rank].rails[rail].leaf == x.leaf;
			bool end = x.rank == rank || leaf ||
				   (x.rank == JUDGE_NONE && x.leaf == JUDGE_NONE &&
				    x.rail != JUDGE_EVERY);
			*out = f;
			if (end && (x.rail == rail || x.rail == JUDGE_EVERY))
				return true;
		}
	}
	return false;
}

/* The best rate that the end sent alone; 0: none was measured. */
static double best_rate(const struct job_root *r, uint32_t rank, unsigned rail)
{
	double best = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct job_case *c = &r->cases[i];
		if (c->test.kind != JUDGE_LOAD || c->label || c->test.rail != rail ||
		    c->result.outcome != JUDGE_DONE)
			continue;
		if (c->test.a == rank && c->result.ab > best)
			best = c->result.ab;
		if (c->test.b == rank && c->result.ba > best)
			best = c->result.ba;
	}
	return best;
}

struct cell {
	char text[STATS_TEXT_LEN + 24];
	enum out_style style;
};

static void fill_cell(const struct job_root *r, uint32_t rank, unsigned rail, struct cell *out)
{
	const struct judge_finding *f = NULL;
	double rate = best_rate(r, rank, rail);
	char text[STATS_TEXT_LEN] = "-";

	if (rate > 0)
		stats_rate(rate, text);
	if (has_finding(r, rank, rail, &f)) {
		(void)snprintf(out->text, sizeof(out->text), "%s%s%s", words[f->cause].code,
			       rate > 0 ? " " : "", rate > 0 ? text : "");
		out->style = job_fails(r, f) || f->cause == JUDGE_SLOW ? OUT_BAD : OUT_WARN;
		return;
	}
	(void)snprintf(out->text, sizeof(out->text), "%s", text);
	out->style = rate > 0 ? OUT_GOOD : OUT_FAINT;
}

static int show_grid(const struct out *out, const struct job_root *r, struct err *e)
{
	struct out_column columns[JOB_RAILS + 2] = { { "RANK", OUT_RIGHT }, { "NODE", 0 } };
	auto_table struct out_table t = { .columns = columns, .n_columns = r->n_rails + 2 };
	struct out_cell cells[JOB_RAILS + 2];
	struct cell text[JOB_RAILS];
	uint32_t alike = 0;
	char rank[16];

	for (size_t k = 0; k < r->n_rails; k++)
		columns[k + 2] = (struct out_column){ r->names[k], OUT_RIGHT };
	for (uint32_t i = 0; i < r->conf->ranks; i++) {
		const struct judge_finding *f;
		bool odd = r->conf->ranks <= ROWS_MAX;
		for (unsigned k = 0; k < r->n_rails && !odd; k++)
			odd = has_finding(r, i, k, &f);
		alike += !odd;
		if (!odd)
			continue;
		(void)snprintf(rank, sizeof(rank), "%u", i);
		cells[0] = (struct out_cell){ rank, OUT_PLAIN };
		cells[1] = (struct out_cell){ r->members[i].node, OUT_PLAIN };
		for (unsigned k = 0; k < r->n_rails; k++) {
			fill_cell(r, i, k, &text[k]);
			cells[k + 2] = (struct out_cell){ text[k].text, text[k].style };
		}
		if (out_row(&t, cells, e))
			return -1;
	}
	if (t.n_rows)
		out_table(out, &t);
	if (alike)
		out_line(out, OUT_GOOD, "%u ranks without a finding are not shown", alike);
	return 0;
}

static bool is_gpu(const struct job_rail *x)
{
	return strncmp(x->memory, "GPU ", 4) == 0;
}

/* Nothing, if no rank wanted memory of GPUs. Returns whether all rails had it. */
static bool show_memory(const struct out *out, const struct job_root *r)
{
	char first[4 * JOB_NAME] = "";
	size_t gpus = 0, all = 0;
	bool wanted = false;

	for (uint32_t i = 0; i < r->conf->ranks; i++) {
		for (size_t k = 0; k < r->members[i].n_rails; k++, all++) {
			const struct job_rail *x = &r->members[i].rails[k];
			gpus += is_gpu(x);
			wanted |= *x->memory != '\0';
			if (!is_gpu(x) && !*first)
				(void)snprintf(first, sizeof(first), "; %s %s: %s",
					       r->members[i].node, x->interface,
					       *x->memory ? x->memory : "host");
		}
	}
	if (wanted)
		out_line(out, gpus == all ? OUT_PLAIN : OUT_WARN,
			 "%zu of %zu rails were measured with memory of GPUs%s", gpus, all, first);
	return wanted && gpus == all;
}

/* Never judged: with few labels a slow one may be a collision with flows of others. */
static void show_labels(const struct out *out, const struct job_root *r)
{
	char slowest[STATS_TEXT_LEN], median[STATS_TEXT_LEN], fastest[STATS_TEXT_LEN];
	struct job_labels l;
	bool any = false;

	for (unsigned rail = 0; rail < r->n_rails; rail++) {
		job_labels_of(r, rail, &l);
		if (!l.n && !l.failed)
			continue;
		any = true;
		if (l.failed)
			out_line(out, OUT_WARN, "%s from %s to %s: %zu flow labels failed",
				 r->names[rail], r->members[l.a].node, r->members[l.b].node,
				 l.failed);
		if (!l.n)
			continue;
		out_line(out, OUT_PLAIN,
			 "%s from %s to %s, %zu flow labels: slowest %s, median %s, fastest %s; "
			 "%zu below half of the median",
			 r->names[rail], r->members[l.a].node, r->members[l.b].node, l.n,
			 stats_rate(l.slowest, slowest), stats_rate(l.median, median),
			 stats_rate(l.fastest, fastest), l.low);
	}
	if (r->judge && r->conf->labels && !any)
		out_line(out, OUT_WARN,
			 "flow labels were not tested: no rail is known to have two leaves");
}

/* ---- JSON ---- */

static int json_labels(struct json *list, const struct job_root *r, unsigned rail)
{
	struct job_labels l;

	job_labels_of(r, rail, &l);
	if (!l.n && !l.failed)
		return 0;
	struct json *o = json_push_object(list), *ranks = json_add_array(o, "ranks");

	return !o || !ranks || json_push_int(ranks, l.a) || json_push_int(ranks, l.b) ||
	       json_add_str(o, "rail", r->names[rail]) || json_add_int(o, "labels", (int64_t)l.n) ||
	       json_add_int(o, "slowest", (int64_t)l.slowest) ||
	       json_add_int(o, "median", (int64_t)l.median) ||
	       json_add_int(o, "fastest", (int64_t)l.fastest) ||
	       json_add_int(o, "belowHalf", (int64_t)l.low) ||
	       json_add_int(o, "failed", (int64_t)l.failed);
}

static int json_finding(struct json *list, const struct job_root *r, const struct judge_finding *f)
{
	struct json *o = json_push_object(list), *ends = json_add_array(o, "ends");
	char line[LINE];

	if (!o || !ends || json_add_str(o, "code", words[f->cause].code) ||
	    json_add_str(o, "state", job_fails(r, f) ? "fail" : "warn"))
		return -1;
	for (size_t i = 0; i < f->n_ends; i++) {
		struct json *x = json_push_object(ends);
		struct judge_end end = f->ends[i];
		if (!x ||
		    (end.rank != JUDGE_NONE &&
		     (json_add_int(x, "rank", end.rank) ||
		      json_add_known(x, "node", r->members[end.rank].node))) ||
		    (end.rail != JUDGE_EVERY && json_add_str(x, "rail", r->names[end.rail])) ||
		    (end.leaf != JUDGE_NONE && json_add_str(x, "leaf", r->leaves[end.leaf])))
			return -1;
	}
	evidence(r, f, line);
	return json_add_str(o, "reason", words[f->cause].what) ||
			       json_add_known(o, "evidence", line) ||
			       json_add_str(o, "remedy", words[f->cause].remedy) ||
			       (f->expected > 0 &&
				(json_add_int(o, "bytesPerSecond", (int64_t)f->measured) ||
				 json_add_int(o, "usualBytesPerSecond", (int64_t)f->expected)))
		       ? -1
		       : 0;
}

static const char *memory_of(const struct job_member *m, const char *name)
{
	for (size_t k = 0; k < m->n_rails; k++)
		if (strcmp(m->rails[k].interface, name) == 0)
			return m->rails[k].memory;
	return "";
}

static int json_rank(struct json *list, const struct job_root *r, uint32_t rank)
{
	struct json *o = json_push_object(list), *rails = json_add_array(o, "rails");

	if (!o || !rails || json_add_int(o, "rank", rank) ||
	    json_add_known(o, "node", r->members[rank].node) ||
	    json_add_bool(o, "joined", r->members[rank].joined))
		return -1;
	for (unsigned k = 0; k < r->n_rails; k++) {
		const struct judge_finding *f = NULL;
		struct json *x = json_push_object(rails);
		double rate = best_rate(r, rank, k);
		if (!x || json_add_str(x, "rail", r->names[k]) ||
		    json_add_known(x, "memory", memory_of(&r->members[rank], r->names[k])) ||
		    (rate > 0 && json_add_int(x, "bytesPerSecond", (int64_t)rate)) ||
		    (has_finding(r, rank, k, &f) && json_add_str(x, "code", words[f->cause].code)))
			return -1;
	}
	return 0;
}

static int show_json(const struct out *out, const struct job_root *r, struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *ranks = json_add_array(o, "ranks"), *list = json_add_array(o, "findings"),
		    *notes = json_add_array(o, "notes"), *labels = json_add_array(o, "flowLabels");
	char text[JOB_TEXT], when[OUT_TIME_LEN];

	job_summary(r, text);
	if (!o || !ranks || !list || !notes || !labels || json_add_int(o, "version", 1) ||
	    json_add_int(o, "status", r->status) || json_add_str(o, "summary", text) ||
	    json_add_str(o, "time", out_time(r->when, when)) ||
	    json_add_bool(o, "complete", r->in_time) ||
	    json_add_int(o, "tests", (int64_t)r->n_cases) ||
	    json_add_num(o, "seconds", r->seconds) || json_add_int(o, "refused", r->refused))
		return err_nomem(e);
	for (uint32_t i = 0; i < r->conf->ranks; i++) {
		if (json_rank(ranks, r, i))
			return err_nomem(e);
	}
	for (unsigned rail = 0; rail < r->n_rails; rail++) {
		if (json_labels(labels, r, rail))
			return err_nomem(e);
	}
	for (size_t i = 0; i < r->n_findings; i++) {
		if (json_finding(list, r, &r->findings[i]))
			return err_nomem(e);
	}
	for (size_t i = 0; i < r->n_notes; i++) {
		if (json_push_str(notes, r->notes[i]))
			return err_nomem(e);
	}
	return out_json(out, o, e);
}

/* ---- all of it ---- */

void job_summary(const struct job_root *r, char out[JOB_TEXT])
{
	size_t n = 0, fails = 0;

	if (r->joined < r->conf->ranks) {
		n = (size_t)snprintf(out, JOB_TEXT,
				     "incomplete: %u of %u ranks came, missing:", r->joined,
				     r->conf->ranks);
		for (uint32_t i = 0; i < r->conf->ranks && n < JOB_TEXT - 16; i++) {
			if (!r->members[i].joined)
				n += (size_t)snprintf(out + n, JOB_TEXT - n, " %u", i);
		}
		if (n >= JOB_TEXT - 16)
			(void)snprintf(out + n, JOB_TEXT - n, " ...");
		return;
	}
	const struct job_member *busy = job_busy(r);
	if (busy) {
		(void)snprintf(out, JOB_TEXT, "not tested, in use: %.40s: %.150s", busy->node,
			       busy->busy);
		return;
	}
	for (size_t i = 0; i < r->n_findings; i++)
		fails += job_fails(r, &r->findings[i]);
	if (r->n_findings)
		(void)snprintf(out, JOB_TEXT, "%zu findings, %zu of them fail", r->n_findings,
			       fails);
	else
		(void)snprintf(out, JOB_TEXT, "the rails of %u ranks carry the job",
			       r->conf->ranks);
}

int job_show(const struct out *out, const struct job_root *r, struct err *e)
{
	char ends[LINE], line[LINE], text[JOB_TEXT];

	if (out->json)
		return show_json(out, r, e);
	job_summary(r, text);
	if (r->judge && show_grid(out, r, e))
		return -1;
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct judge_finding *f = &r->findings[i];
		name_ends(r, f, ends);
		evidence(r, f, line);
		out_line(out, job_fails(r, f) ? OUT_BAD : OUT_WARN, "%s %s: %s %s%s%s%s",
			 job_fails(r, f) ? "fail" : "warn", words[f->cause].code, ends,
			 words[f->cause].what, *line ? " (" : "", line, *line ? ")" : "");
		out_line(out, OUT_FAINT, "    %s", words[f->cause].remedy);
	}
	show_labels(out, r);
	const bool gpus = show_memory(out, r);
	for (size_t i = 0; i < r->n_notes; i++)
		out_line(out, OUT_WARN, "%s", r->notes[i]);
	if (r->refused)
		out_line(out, OUT_WARN,
			 "%u connections were refused: not of this job, or another key",
			 r->refused);
	if (r->judge && !r->in_time)
		out_line(out, OUT_WARN, "the time was over before all tests ran: --seconds");
	out_line(out, r->status ? OUT_BAD : OUT_GOOD, "%s: %zu tests in %.0f s", text, r->n_cases,
		 r->seconds);
	out_line(out, OUT_FAINT, "not tested: GPUs, %sNVLink, congestion by other jobs",
		 gpus ? "" : "GPUDirect, ");
	return 0;
}
