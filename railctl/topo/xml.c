/* SPDX-License-Identifier: Apache-2.0 */
/* xml.c: `railctl topo --nccl-xml-out`: topology files for NCCL, here or in a guest. */
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "railctl/topo/topo.h"
#include "topo/capture/open.h"
#include "topo/read/read.h"
#include "topo/nccl/write.h"

/* ---- files that other programs read ---- */

int topo_write(const struct cmd_run *r, const char *path, const char *text, struct err *e)
{
	const struct fs_content c = { .data = text, .len = strlen(text), .mode = 0666 };

	if (strcmp(path, "-") != 0)
		return fs_put(path, &c, e);
	(void)fputs(text, r->out.to);
	return 0;
}

/* ---- the options ---- */

int topo_check_xml(struct cmd_run *r, struct err *e)
{
	static const char *const names[] = { "skeleton", "guest-map" };
	bool guest = opt_is_set(&r->opts, "guest"), map = opt_is_set(&r->opts, "guest-map");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (opt_is_set(&r->opts, names[i]) && !opt_is_set(&r->opts, "nccl-xml-out"))
			return cmd_usage(r, e, "--%s is for --nccl-xml-out", names[i]);
	if (guest && !map)
		return cmd_usage(r, e, "--guest is for --guest-map");
	if (map && opt_is_set(&r->opts, "rccl"))
		return cmd_usage(r, e, "--guest-map is for NCCL: RCCL finds its pairs itself");
	return 0;
}

/* ---- the map ---- */

#define PAIRS_MAX 256 /* more than a file may have elements */

static int take_pairs(struct cmd_run *r, struct topo_guest_pair pair[PAIRS_MAX], size_t *n,
		      struct err *e)
{
	const char *text;
	size_t i = 0;

	*n = 0;
	while ((text = opt_next(&r->opts, "guest-map", &i))) {
		struct slice rest = { text, strlen(text) }, word;
		char copy[2 * PCI_STR_LEN + 2];

		while (slice_next(&rest, ',', &word)) {
			if (*n == PAIRS_MAX)
				return cmd_usage(r, e, "--guest-map: more than %d pairs",
						 PAIRS_MAX);
			if (slice_copy(word, copy, sizeof(copy)) ||
			    topo_guest_pair_parse(copy, &pair[*n])) {
				cmd_usage(r, e,
					  "--guest-map: \"%.*s\" is not a pair of PCI addresses",
					  (int)(word.len < 64 ? word.len : 64), word.p);
				return err_hint(e, "such as 0000:05:00.0=0000:0f:00.0");
			}
			++*n;
		}
	}
	return 0;
}

static int read_guest(const char *path, struct topo_machine *m, struct err *e)
{
	auto_topo_opened struct topo_opened o = { 0 };
	const struct topo_read_opts none = { 0 };

	return topo_open(path, &o, e) || topo_read_sysfs(o.dirs.sysfs, o.dirs.proc, &none, m, e)
		       ? -1
		       : 0;
}

static int make_for_guest(struct cmd_run *r, const struct topo *t, char **out, struct err *e)
{
	const char *path = opt_get(&r->opts, "guest");
	auto_topo_machine struct topo_machine m = { 0 };
	struct topo_guest_pair pair[PAIRS_MAX];
	struct topo_guest g = { .map = pair };

	if (take_pairs(r, pair, &g.n, e) || (path && read_guest(path, &m, e)))
		return -1;
	g.machine = path ? &m : NULL;
	return topo_xml_write_guest(&t->m, &g, out, e);
}

int topo_write_xml(struct cmd_run *r, const struct topo *t, const char *path, struct err *e)
{
	const struct topo_xml_opts o = {
		.rccl = opt_is_set(&r->opts, "rccl"),
		.skeleton = opt_is_set(&r->opts, "skeleton"),
		.keep_vf_path = t->opts.keep_vf_path,
	};
	auto_free char *text = NULL;

	if (opt_is_set(&r->opts, "guest-map") ? make_for_guest(r, t, &text, e)
					      : topo_xml_write(&t->m, &o, &text, e))
		return -1;
	return topo_write(r, path, text, e);
}
