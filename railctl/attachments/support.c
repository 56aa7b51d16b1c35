/* SPDX-License-Identifier: Apache-2.0 */
/* support.c: `railctl support-bundle`: what a person needs who cannot log in to this node. */
#include "railctl/attachments/support.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "plugins/names.h"
#include "railctl/attachments/bundle.h"

#define FILES_MAX 256 /* of a folder */

/* ---- the pieces ---- */

/* The state of this node, for programs and for people. None of these changes anything. */
static const struct {
	const char *file, *command;
} commands[] = {
	{ "version.json", "version --json" },
	{ "status.json", "status --json" },
	{ "attachments.json", "attachments list --json" },
	{ "attachments.txt", "attachments list" },
	{ "attachments-repair.txt", "attachments repair --dry-run" },
	{ "ipam/pools.json", "ipam pool list --json" },
	{ "ipam/leases.json", "ipam lease list --resting --json" },
	{ "ipam/usage.txt", "ipam usage" },
	{ "ipam/blocks.json", "ipam blocks --json" },
	{ "ipam/node.json", "ipam node show --json" },
	{ "ipam/verify.json", "ipam verify --json" },
	{ "ipam/conflicts.json", "ipam conflicts --json" },
	{ "cluster/status.json", "cluster status --json" },
	{ "cluster/nodes.json", "cluster node list --json" },
	{ "cluster/pools.json", "cluster pool list --by-node --json" },
	{ "vf/list.json", "vf list --json" },
	{ "rdma/list.json", "rdma list --json" },
	{ "rdma/check.txt", "rdma check" },
	{ "rdma/qos.txt", "rdma qos show" },
	{ "rdma/partitions.json", "rdma partitions show --json" },
	{ "topo/topo.txt", "topo" },
	{ "topo/check.txt", "topo check" },
	{ "topo/machine.tar", "topo capture -" },
};

static int add_commands(struct bundle *b, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (bundle_command(b, commands[i].file, commands[i].command, e))
			return -1;
	}
	return 0;
}

/* Plugins of other projects have the same names: each says what it is. */
static int add_plugins(struct bundle *b, struct err *e)
{
	static const char *const names[] = { PLUGIN_NAMES, "railhead-ipam", CLAIM_NAMES };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[64], file[64];
		char *const argv[] = { path, "--version", NULL };

		(void)snprintf(path, sizeof(path), "/opt/cni/bin/%s", names[i]);
		(void)snprintf(file, sizeof(file), "plugins/%s.txt", names[i]);
		if (access(path, F_OK) == 0 && bundle_program(b, file, argv, e))
			return -1;
	}
	return 0;
}

static bool ends_with(const char *name, const char *const *suffixes)
{
	const size_t len = strlen(name);

	for (; *suffixes; suffixes++) {
		const size_t n = strlen(*suffixes);

		if (len > n && strcmp(name + len - n, *suffixes) == 0)
			return true;
	}
	return false;
}

/* Each file of a folder with one of these endings; below the same path in the bundle. */
static int add_folder(struct bundle *b, const char *folder, const char *const *suffixes,
		      int (*add)(struct bundle *b, const char *file, const char *path,
				 struct err *e),
		      struct err *e)
{
	auto_fs_names struct fs_names names = { .name = NULL };
	struct err why;

	/* A folder that is absent is not a piece that is missing. */
	if (fs_names_at(AT_FDCWD, folder, FILES_MAX, &names, &why))
		return 0;
	for (size_t i = 0; i < names.n; i++) {
		char path[PATH_MAX];

		if (!ends_with(names.name[i], suffixes) ||
		    snprintf(path, sizeof(path), "%s/%s", folder, names.name[i]) >=
			    (int)sizeof(path))
			continue;
		if (add(b, path + 1, path, e))
			return -1;
	}
	return 0;
}

static int add_confs(struct bundle *b, struct err *e)
{
	static const char *const folders[] = { "/etc/railhead", "/etc/railhead/vf.d",
					       "/etc/railhead/qos.d", "/etc/cni/net.d" };
	static const char *const suffixes[] = { ".json", ".conf", ".conflist", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (add_folder(b, folders[i], suffixes, bundle_conf, e))
			return -1;
	}
	return 0;
}

static int add_system(struct bundle *b, struct err *e)
{
	static const char *const files[] = { "/usr/lib/os-release", "/proc/version",
					     "/proc/modules", "/proc/self/mounts" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (bundle_file(b, files[i] + 1, files[i], e))
			return -1;
	}
	return 0;
}

static int add_logs(struct bundle *b, struct err *e)
{
	static const char *const suffixes[] = { ".log", ".jsonl", ".1", NULL };
	static char *const agent[] = { "/usr/bin/journalctl", "--no-pager", "-n",      "5000", "-u",
				       "railheadd",           "-u",         "kubelet", NULL };
	static char *const kernel[] = {
		"/usr/bin/journalctl", "--no-pager", "-n", "5000", "-k", NULL
	};

	return add_folder(b, "/var/log/railhead", suffixes, bundle_tail, e) ||
			       bundle_program(b, "log/agent.txt", agent, e) ||
			       bundle_program(b, "log/kernel.txt", kernel, e)
		       ? -1
		       : 0;
}

/* ---- the bundle ---- */

static int support_add_list(struct bundle *b, struct err *e)
{
	auto_json struct json *o = json_new_object();
	auto_free char *text = NULL;
	char now[OUT_TIME_LEN];
	struct utsname u;

	if (!o || json_add_str(o, "node", uname(&u) == 0 ? u.nodename : "") ||
	    json_add_str(o, "time", out_time(b->run->ctx.now(b->run->ctx.clock), now)) ||
	    json_add_copy(o, "files", b->files) || !(text = json_print(o, true)))
		return err_nomem(e);
	bundle_text(b, "bundle.json", text);
	return 0;
}

/* A tar_fill_fn. */
static int add_all(void *arg, struct err *e)
{
	struct bundle *b = arg;

	return add_commands(b, e) || add_plugins(b, e) || add_confs(b, e) || add_system(b, e) ||
			       add_logs(b, e) || support_add_list(b, e)
		       ? -1
		       : 0;
}

static int show_sum(const struct cmd_run *r, const struct bundle *b, const char *to, struct err *e)
{
	auto_json struct json *o = NULL;

	if (r->out.json) {
		o = json_new_object();
		if (!o || json_add_str(o, "file", to) ||
		    json_add_int(o, "bytes", (int64_t)b->tar.bytes) ||
		    json_add_copy(o, "files", b->files))
			return err_nomem(e);
		return out_json(&r->out, o, e);
	}
	out_line(&r->out, OUT_PLAIN, "%s: %zu files, %zu KiB", to, b->tar.files,
		 (b->tar.bytes + 1023) / 1024);
	json_each (piece, b->files) {
		const char *why = json_str(json_get(piece, "error"));

		if (why && !json_get(piece, "bytes"))
			out_line(&r->out, OUT_WARN, "%s: %s", json_text(piece, "file"), why);
	}
	return 0;
}

static int support_bundle(struct cmd_run *r, struct err *e)
{
	const char *to = r->opts.words[0];
	auto_json struct json *files = json_new_array();
	struct bundle b = { .run = r, .files = files };

	if (!files)
		return err_nomem(e);
	if (tar_put(&b.tar, to, add_all, &b, e))
		return -1;
	/* No summary where standard output is the file. */
	return strcmp(to, "-") == 0 ? 0 : show_sum(r, &b, to, e);
}

static const char *const examples[] = {
	"railctl support-bundle gpu-17.tar",
	NULL,
};

const struct cmd cmd_support_bundle = {
	.name = "support-bundle",
	.words = "FILE.tar",
	.summary = "save state, versions, logs and topology of this node in a file",
	.about = "The file bundle.json in it lists all pieces, and why one is missing. Only values "
		 "of "
		 "known names are shown, and the rest is \"(left out)\". Keys and certificates "
		 "are not read. "
		 "Names of pods, addresses and host names are in it. \"-\" is standard output.",
	.examples = examples,
	.min_words = 1,
	.max_words = 1,
	.run = support_bundle,
};
