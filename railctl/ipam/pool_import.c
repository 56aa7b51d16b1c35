/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_import.c: `railctl ipam pool import`: pools of other IPAMs become pools of railhead. It
 * changes no store. Each pool is decoded as the node would, so a file that it writes is valid.
 */
#include <stdio.h>

#include "ipam/conf/pool.h"
#include "ipam/peers/pools.h"
#include "lib/json/yaml.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "railctl/ipam/ipam.h"
#include "railctl/ipam/pool_files.h"

#define BLOCK_DEFAULT 16
#define BLOCK_MAX     65536

/* ---- reading ---- */

static int pool_import_read_file(const char *path, struct peer_pools *out, struct err *e)
{
	auto_json struct json *docs = NULL;
	auto_free char *text = NULL;
	size_t len;

	if (cmd_read(&(struct cmd_input){ path, "", YAML_JSON_SIZE_MAX }, &text, &len, e))
		return -1;
	if (yaml_json_read(text, len, &docs, e))
		return err_wrap(e, "%.256s", path);
	json_each (doc, docs) {
		if (peer_pools_add(out, doc, e))
			return err_wrap(e, "%.256s", path);
	}
	return 0;
}

/* ---- checking ---- */

static int add_problem(struct peer_pools *p, const struct json *pool, const struct err *why,
		       struct err *e)
{
	char line[OUT_ERROR_LEN], object[64];
	struct json *o = json_push_object(p->notes);

	(void)snprintf(object, sizeof(object), "pool %.40s", json_text(pool, "name"));
	if (why->code == ERR_NOMEM || !o || json_add_str(o, "object", object) ||
	    json_add_str(o, "key", "") || json_add_str(o, "why", out_error(why, line)))
		return err_nomem(e);
	return 0;
}

/* Pools that are not valid become notes. Returns how many they are; -1: an error. */
static int drop_invalid(struct peer_pools *p, struct err *e)
{
	struct json *good = json_new_array();
	int dropped = 0;

	json_each (pool, p->pools) {
		struct err why = { 0 };
		bool valid = pool_files_check(pool, &why) == 0;

		if (!good || (valid && json_push(good, json_dup(pool))) ||
		    (!valid && add_problem(p, pool, &why, e))) {
			json_free(good);
			return err_nomem(e);
		}
		dropped += !valid;
	}
	json_free(p->pools);
	p->pools = good;
	return dropped;
}

/* ---- the report ---- */

static struct out_cell import_ranges(const struct cmd_run *r, const struct json *ranges,
				     char buf[LIST_TEXT_LEN])
{
	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%zu ranges", json_len(ranges));
	return (struct out_cell){ !ranges                ? "all"
				  : json_len(ranges) > 1 ? buf
							 : json_str(json_first(ranges)),
				  OUT_PLAIN };
}

static const struct list_column columns[] = {
	{ .title = "POOL", OUT_SHRINK, "name" },
	{ .title = "SUBNET", OUT_SHRINK, "subnet" },
	{ .title = "RANGES", OUT_SHRINK, "ranges", .cell = import_ranges },
	{ .title = "GATEWAY", OUT_SHRINK, "gateway" },
	{ .title = "BLOCK SIZE", OUT_RIGHT, "blockSize" },
	{ .title = NULL },
};

static void print_notes(const struct out *o, const struct json *notes)
{
	if (json_len(notes) == 0)
		return;
	out_line(o, OUT_PLAIN, "%s", "");
	out_line(o, OUT_HEAD, "Not carried over, or changed");
	json_each (n, notes) {
		const char *key = json_text(n, "key");

		out_line(o, OUT_PLAIN, "- %s: %s%s%s", json_text(n, "object"), key,
			 *key ? ": " : "", json_text(n, "why"));
	}
}

/* The pools have these ranges, too, as far as they are in a subnet: no store is asked here. */
static int pool_import_print_reserved(const struct out *o, const struct json *ranges)
{
	auto_text struct text command = { 0 };

	if (!json_len(ranges))
		return 0;
	text_addf(&command, "railctl cluster reserved add");
	json_each (range, ranges)
		text_addf(&command, " %s", json_str(range));
	if (command.failed)
		return -1;
	out_line(o, OUT_PLAIN, "%s", "");
	out_line(o, OUT_PLAIN,
		 "To reserve the addresses of SpiderReservedIP for all shared pools:");
	out_line(o, OUT_PLAIN, "%s", command.s);
	return 0;
}

static int pool_import_print_json(const struct out *o, const struct peer_pools *p, struct err *e)
{
	auto_json struct json *all = json_new_object();

	if (!all || json_add_copy(all, "pools", p->pools) ||
	    json_add_copy(all, "notes", p->notes) || json_add_copy(all, "reserved", p->ranges))
		return err_nomem(e);
	return out_json(o, all, e);
}

static int write_dir(const struct peer_pools *p, const char *dir, struct err *e)
{
	auto_json struct json *files = json_new_object();

	json_each (pool, p->pools) {
		if (!files || json_add_copy(files, json_text(pool, "name"), pool))
			return err_nomem(e);
	}
	return !files ? err_nomem(e) : pool_files_write(dir, files, e) ? err_wrap(e, "--dir") : 0;
}

static int pool_import_report(const struct cmd_run *r, const struct peer_pools *p, const char *dir,
			      struct err *e)
{
	if (r->out.json)
		return pool_import_print_json(&r->out, p, e);
	if (!json_len(p->pools))
		out_line(&r->out, OUT_WARN, "No pools.");
	else if (list_print(r, columns, p->pools, e))
		return -1;
	print_notes(&r->out, p->notes);
	if (pool_import_print_reserved(&r->out, p->ranges))
		return err_nomem(e);
	if (dir && json_len(p->pools)) {
		out_line(&r->out, OUT_PLAIN, "%s", "");
		out_line(&r->out, OUT_PLAIN, "The pools are in %s/NAME.json.", dir);
	}
	return 0;
}

static int pool_import_import_run(struct cmd_run *r, struct err *e)
{
	const char *block = opt_get(&r->opts, "block-size"), *dir = opt_get(&r->opts, "dir");
	auto_peer_pools struct peer_pools p = { .block = BLOCK_DEFAULT };

	if (block && (parse_u64(block, 1, BLOCK_MAX, &p.block) || p.block & (p.block - 1)))
		return cmd_usage(r, e, "--block-size: \"%.64s\" is not a power of two from 1 to %d",
				 block, BLOCK_MAX);
	for (size_t i = 0; i < r->opts.n_words; i++) {
		if (pool_import_read_file(r->opts.words[i], &p, e))
			return -1;
	}
	if (peer_pools_finish(&p, e))
		return -1;
	int dropped = drop_invalid(&p, e);
	if (dropped < 0 || (dir && write_dir(&p, dir, e)))
		return -1;
	if (dropped || json_len(p.pools) == 0)
		r->status = CMD_FAILED;
	return pool_import_report(r, &p, dir, e);
}

static const struct opt import_opts[] = {
	{ "block-size", "N", "addresses of a block where the source has none (default: 16)", 0 },
	{ "dir", "DIR", "write each pool to DIR/NAME.json", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const import_examples[] = {
	"railctl ipam pool import spiderippools.yaml",
	"railctl ipam pool import spiderippools.yaml networks.yaml --dir pools",
	NULL,
};

const struct cmd cmd_pool_import = {
	.name = "import",
	.words = "FILE...",
	.summary = "make pools of those of Spiderpool, whereabouts or nv-ipam",
	.about = "FILE is YAML or JSON, as `kubectl get -o yaml` prints it, or - for standard "
		 "input. Read are SpiderIPPool, SpiderSubnet and SpiderReservedIP, IPPool and "
		 "CIDRPool of nv-ipam, IPPool of whereabouts, and networks that use whereabouts. "
		 "The command changes no store, and lists everything that a pool does not say. "
		 "The exit status is 1 if there is no pool, or if one is not valid.",
	.opts = { import_opts },
	.examples = import_examples,
	.min_words = 1,
	.max_words = 64,
	.run = pool_import_import_run,
};
