/* SPDX-License-Identifier: Apache-2.0 */
/* page_job.c: the last test of a job, ranks by rails, as `rdma-probe job --json` printed it. */
#include <string.h>

#include "fabric/page.h"
#include "lib/cli/markup.h"
#include "lib/json/json.h"

#define JOB_NAME  63
#define JOB_LINES 200 /* findings */

/* The worst state of the findings with this code. */
static const struct page_mark *mark_of(const struct json *job, const char *code)
{
	static const struct page_mark fails = { "bad", "\xe2\x9c\x97", "fails" },
				      warns = { "warn", "!", "warned" };
	const struct page_mark *mark = &warns;

	json_each (f, json_get(job, "findings"))
		if (strcmp(json_text(f, "code"), code) == 0 &&
		    strcmp(json_text(f, "state"), "fail") == 0)
			mark = &fails;
	return mark;
}

/* A rate without a finding is right; without a rate nothing is known. */
static void put_rail(const struct page_draw *d, const struct json *job, const struct json *rail)
{
	static const struct page_mark right = { "ok", "\xe2\x9c\x93", "" },
				      unknown = { "unk", "?", "" };
	const char *code = json_text(rail, "code");
	double rate = json_num(json_get(rail, "bytesPerSecond"));
	const struct page_mark *mark = *code ? mark_of(job, code) : rate > 0 ? &right : &unknown;

	fprintf(d->to, "<td class=%s><b>%s</b> ", mark->class, mark->mark);
	if (rate > 0)
		fprintf(d->to, "%.3gG ", rate * 8 / 1e9);
	markup_put_short(code, JOB_NAME, d->to);
	fputs("</td>", d->to);
}

static bool has_code(const struct json *rank)
{
	json_each (rail, json_get(rank, "rails"))
		if (*json_text(rail, "code"))
			return true;
	return !json_true(json_get(rank, "joined"));
}

static void put_head(const struct page_draw *d, const struct json *ranks)
{
	fputs("<div class=wide><table class=grid><thead><tr><th>rank<th>node", d->to);
	json_each (rail, json_get(json_first(ranks), "rails")) {
		fputs("<th>", d->to);
		markup_put_short(json_text(rail, "rail"), JOB_NAME, d->to);
	}
	fputs("</tr></thead><tbody>\n", d->to);
}

static void put_ranks(const struct page_draw *d, const struct json *job)
{
	const struct json *ranks = json_get(job, "ranks");
	size_t alike = 0;

	put_head(d, ranks);
	json_each (rank, ranks) {
		if (!page_has_room(d) || (json_len(ranks) > PAGE_EACH && !has_code(rank))) {
			alike++;
			continue;
		}
		fprintf(d->to, "<tr><th scope=row>%.0f<td><bdi>", json_num(json_get(rank, "rank")));
		markup_put_short(json_text(rank, "node"), JOB_NAME, d->to);
		fputs(json_true(json_get(rank, "joined")) ? "</bdi></td>"
							  : "</bdi> <b>?</b> did not come</td>",
		      d->to);
		json_each (rail, json_get(rank, "rails"))
			put_rail(d, job, rail);
		fputs("</tr>\n", d->to);
	}
	fputs("</tbody></table></div>\n", d->to);
	if (alike)
		fprintf(d->to, "<p class=note>%zu more ranks are not shown.</p>\n", alike);
}

static void put_ends(const struct page_draw *d, const struct json *finding)
{
	static const char *const keys[] = { "node", "rail", "leaf" };
	bool any = false;

	json_each (end, json_get(finding, "ends")) {
		fputs(any ? " or " : "", d->to);
		any = true;
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			markup_put_short(json_text(end, keys[i]), JOB_NAME, d->to);
			fputc(' ', d->to);
		}
	}
}

static void put_finding(const struct page_draw *d, const struct json *job,
			const struct json *finding)
{
	const struct page_mark *mark = mark_of(job, json_text(finding, "code"));

	fprintf(d->to, "<tr><td class=%s><b>%s</b> ", mark->class, mark->mark);
	markup_put_short(json_text(finding, "code"), JOB_NAME, d->to);
	fputs("<td>", d->to);
	put_ends(d, finding);
	fputs("<td>", d->to);
	markup_put_short(json_text(finding, "reason"), MARKUP_SHORT_MAX, d->to);
	fputs(" <small>", d->to);
	markup_put_short(json_text(finding, "evidence"), MARKUP_SHORT_MAX, d->to);
	fputs("</small><td>", d->to);
	markup_put_short(json_text(finding, "remedy"), MARKUP_SHORT_MAX, d->to);
	fputs("</tr>\n", d->to);
}

void page_put_job(const struct page_draw *d)
{
	const struct json *job = d->facts->job;
	size_t rows = 0;

	if (!job)
		return;
	fputs("<section><h2>The last test of a job</h2>\n<p>", d->to);
	markup_put_short(json_text(job, "time"), JOB_NAME, d->to);
	fputs(": ", d->to);
	markup_put_short(json_text(job, "summary"), MARKUP_SHORT_MAX, d->to);
	fputs("</p>\n", d->to);
	put_ranks(d, job);
	fputs("<div class=wide><table class=findings><thead><tr><th>finding<th>where<th>what"
	      "<th>what to do</tr></thead><tbody>\n",
	      d->to);
	json_each (f, json_get(job, "findings"))
		if (rows++ < JOB_LINES && page_has_room(d))
			put_finding(d, job, f);
	fputs("</tbody></table></div></section>\n", d->to);
}
