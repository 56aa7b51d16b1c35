/* SPDX-License-Identifier: Apache-2.0 */
/* capture.c: `railctl topo capture`: write the files that describe this machine to a tar file.
 */
#include <string.h>

#include "railctl/topo/topo.h"
#include "topo/capture/capture.h"

static int capture_show_sum(const struct cmd_run *r, const struct topo_capture_sum *s,
			    const char *to, struct err *e)
{
	auto_json struct json *o = NULL;

	if (r->out.json) {
		o = json_new_object();
		if (!o || json_add_str(o, "file", to) ||
		    json_add_int(o, "bytes", (int64_t)s->bytes) ||
		    json_add_int(o, "files", (int64_t)s->files) ||
		    json_add_int(o, "unread", (int64_t)s->unread) ||
		    json_add_bool(o, "shortConfig", s->short_config))
			return err_nomem(e);
		return out_json(&r->out, o, e);
	}
	out_line(&r->out, OUT_PLAIN, "%s: %zu files, %zu KiB", to, s->files,
		 (s->bytes + 1023) / 1024);
	if (s->unread)
		out_line(&r->out, s->denied ? OUT_WARN : OUT_PLAIN,
			 "%zu could not be read, such as %s%s", s->unread, s->first_unread,
			 s->denied ? "; as root there is more to read" : "");
	if (s->short_config)
		out_line(&r->out, OUT_WARN,
			 "configuration space is there in part only: what "
			 "\"railctl topo check\" says of ACS will be unknown; as "
			 "root it is read whole");
	return 0;
}

static int capture_run(struct cmd_run *r, struct err *e)
{
	const char *to = r->opts.words[0];
	const struct topo_tree_dirs from = { .sysfs = r->ctx.sysfs,
					     .proc = r->ctx.proc,
					     .boot = "/boot" };
	struct topo_capture_sum sum = { 0 };

	if (topo_capture(&from, to, &sum, e))
		return -1;
	/* No summary where standard output is the file. */
	return strcmp(to, "-") == 0 ? 0 : capture_show_sum(r, &sum, to, e);
}

static const char *const examples[] = {
	"railctl topo capture machine.tar",
	NULL,
};

const struct cmd topo_capture_cmd = {
	.name = "capture",
	.words = "FILE.tar",
	.summary = "save the files that \"railctl topo\" reads on this machine",
	.about = "Extracted into a folder, it is what --sysfs reads: \"railctl topo\" and its "
		 "subcommands print the same on another machine. Serial numbers, GIDs and MACs "
		 "are left out, and GUIDs become numbers. \"-\" is standard output.",
	.examples = examples,
	.min_words = 1,
	.max_words = 1,
	.run = capture_run,
};
