/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdi.c: makes, writes and removes CDI files of claims. The names of file and device are those of
 * the claim's UID: the kubelet keeps them, so they are the same after an upgrade.
 */
#include "railheadd/claims/cdi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/fs.h"
#include "railheadd/devices/files.h"
#include "topo/read/rail_list.h"

#define CDI_VERSION "0.5.0"
#define CDI_MAX     65536

/* A program that the container may execute, for /run may be mounted noexec. */
#define CDI_PROGRAM "railctl"

/* ---- files of RDMA devices ---- */

static int claim_add_node(struct json *nodes, const char *path)
{
	json_each (node, nodes) {
		if (strcmp(json_text(node, "path"), path) == 0)
			return 0;
	}
	struct json *node = *path ? json_push_object(nodes) : NULL;

	return *path && (!node || json_add_str(node, "path", path) ||
			 json_add_str(node, "permissions", "rw"))
		       ? -1
		       : 0;
}

static int claim_add_hca(const struct ctx *ctx, struct nl *rdma, const char *addr,
			 struct json *nodes, struct err *e)
{
	struct resource_hca hca = { .addr = "" };
	struct device_files f;

	(void)snprintf(hca.addr, sizeof(hca.addr), "%s", addr);
	if (files_of_hca(ctx, rdma, &hca, &f, e))
		return -1;
	return claim_add_node(nodes, f.uverbs) || claim_add_node(nodes, f.rdma_cm) ? err_nomem(e)
										   : 0;
}

static int claim_add_rail(const struct ctx *ctx, struct nl *rdma, const struct rail_entry *rail,
			  struct json *nodes, struct err *e)
{
	char addr[PCI_STR_LEN];

	return pci_of_netdev(ctx->sysfs, rail->ifname, addr, e) ||
			       claim_add_hca(ctx, rdma, addr, nodes, e)
		       ? err_wrap(e, "rail %u", rail->number)
		       : 0;
}

/* Networks without "rdma": "shared" add nothing. */
static int claim_add_rdma(const struct ctx *ctx, const struct prepared *p,
			  const struct rail_list *all, struct json *nodes, struct err *e)
{
	auto_nl struct nl *rdma = NULL;

	json_each (network, p->networks) {
		auto_json struct json *one = json_new_array();
		const struct json *vfs = json_get(network, "deviceIDs");

		if (strcmp(json_text(network, "rdma"), "shared") != 0)
			continue;
		if (!one || json_push(one, json_dup(network)))
			return err_nomem(e);
		if (!rdma && files_open_rdma(&rdma, e))
			return -1;
		json_each (vf, vfs) {
			if (claim_add_hca(ctx, rdma, json_str(vf), nodes, e))
				return -1;
		}
		for (size_t i = 0; !vfs && i < all->n; i++) {
			if (claim_rails(one) >> all->rail[i].number & 1 &&
			    claim_add_rail(ctx, rdma, &all->rail[i], nodes, e))
				return -1;
		}
	}
	return 0;
}

static int claim_check_rails(const struct prepared *p, const struct rail_list *all, struct err *e)
{
	uint64_t rails = claim_rails(p->networks);
	const struct rail_dead *dead;

	for (uint32_t i = 0; rails != UINT64_MAX && i <= RAIL_NUMBER_MAX; i++) {
		if (!(rails >> i & 1) || rail_list_find(all, i))
			continue;
		dead = rail_list_find_dead(all, i);
		return dead ? err_set(e, ERR_NOTFOUND, 0,
				      "rail %u: its card %s has no interface on this node now", i,
				      dead->pci)
			    : err_set(e, ERR_NOTFOUND, 0, "rail %u: this node has no such rail", i);
	}
	return 0;
}

/* ---- the file ---- */

static int claim_add_hook(struct json *edits, const struct prepared *p, const char *bin)
{
	const char *const words[] = { CDI_HOOK, "--pod", p->pod.uid, "--claim", p->claim.uid };
	struct json *hooks = json_add_array(edits, "hooks"), *hook, *args;
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.2000s/" CDI_HOOK, bin);
	if (!hooks || !(hook = json_push_object(hooks)) ||
	    json_add_str(hook, "hookName", "createRuntime") || json_add_str(hook, "path", path) ||
	    !(args = json_add_array(hook, "args")))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (json_push_str(args, words[i]))
			return -1;
	}
	return 0;
}

static int claim_add_mount(struct json *mounts, const char *from, const char *to, bool exec)
{
	static const char *const words[] = { "bind", "ro", "nosuid", "nodev", "noexec" };
	struct json *mount = json_push_object(mounts), *options;

	if (!mount || json_add_str(mount, "hostPath", from) ||
	    json_add_str(mount, "containerPath", to) ||
	    !(options = json_add_array(mount, "options")))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(words) - exec; i++) {
		if (json_push_str(options, words[i]))
			return -1;
	}
	return 0;
}

/* The runtime reads the paths in the mount namespace of the host. */
static int claim_add_mounts(struct json *edits, const struct ctx *ctx, const struct prepared *p,
			    const char *bin)
{
	struct json *mounts = json_add_array(edits, "mounts");
	char path[PATH_MAX];

	prepared_public(ctx, p->pod.uid, path);
	if (!mounts || claim_add_mount(mounts, path, PREPARED_AT, false))
		return -1;
	(void)snprintf(path, sizeof(path), "%.2000s/" CDI_PROGRAM, bin);
	return access(path, X_OK) == 0
		       ? claim_add_mount(mounts, path, PREPARED_AT "/" CDI_PROGRAM, true)
		       : 0;
}

static int claim_add_variables(struct json *edits, unsigned variables)
{
	struct json *list = variables ? json_add_array(edits, "env") : NULL;

	for (size_t i = 0; list && i < CLAIM_VARIABLES; i++) {
		if (variables >> i & 1 && json_push_str(list, claim_variables[i]))
			return -1;
	}
	return variables && !list ? -1 : 0;
}

int claim_cdi(const struct ctx *ctx, const struct prepared *p, const char *bin, char **out,
	      struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *list, *device, *edits;
	auto_json struct json *nodes = json_new_array();
	struct rail_list all;

	if (rail_list_load(ctx, &all, e) || claim_check_rails(p, &all, e))
		return -1;
	if (!o || !nodes)
		return err_nomem(e);
	if (claim_add_rdma(ctx, p, &all, nodes, e))
		return -1;
	if (json_add_str(o, "cdiVersion", CDI_VERSION) || json_add_str(o, "kind", CDI_CLAIM_KIND) ||
	    !(list = json_add_array(o, "devices")) || !(device = json_push_object(list)) ||
	    json_add_str(device, "name", p->claim.uid) ||
	    !(edits = json_add_object(device, "containerEdits")) || claim_add_hook(edits, p, bin) ||
	    claim_add_mounts(edits, ctx, p, bin) || claim_add_variables(edits, p->variables) ||
	    (json_len(nodes) && json_put(edits, "deviceNodes", TAKE_PTR(nodes))))
		return err_nomem(e);
	*out = json_print(o, false);
	return *out ? 0 : err_nomem(e);
}

static void claim_cdi_name(const char *claim_uid, char out[NAME_MAX + 1])
{
	(void)snprintf(out, NAME_MAX + 1, "railhead.io-claim_%.64s.json", claim_uid);
}

bool claim_cdi_stands(const struct ctx *ctx, const struct prepared *p, const char *text)
{
	struct err ignored;
	auto_fd int dir = files_open_beside(ctx, CDI_DIR, false, &ignored);
	auto_free char *now = NULL;
	char name[NAME_MAX + 1];

	claim_cdi_name(p->claim.uid, name);
	return dir >= 0 && fs_read_at(dir, name, CDI_MAX, &now, &ignored) >= 0 &&
	       strcmp(now, text) == 0;
}

/*
 * An empty file, over which the runtime mounts the program. It is not replaced: that would end the
 * mounts of containers that run.
 */
static int claim_put_program(const struct ctx *ctx, const struct prepared *p, struct err *e)
{
	char path[PATH_MAX];

	prepared_public(ctx, p->pod.uid, path);
	auto_fd int dir = fs_open_dir(path, false, e);
	if (dir < 0)
		return -1;
	auto_fd int fd =
		openat(dir, CDI_PROGRAM, O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444);
	return fd < 0 ? err_set(e, ERR_IO, errno, "%s/" CDI_PROGRAM, path) : 0;
}

int claim_cdi_put(const struct ctx *ctx, const struct prepared *p, const char *text, struct err *e)
{
	auto_fd int dir = files_open_beside(ctx, CDI_DIR, true, e);
	char name[NAME_MAX + 1];

	if (dir < 0 || claim_put_program(ctx, p, e))
		return err_wrap(e, "the CDI file");
	claim_cdi_name(p->claim.uid, name);
	return files_put_noticed(dir, name, text, e) ? err_wrap(e, "the CDI file") : 0;
}

int claim_cdi_remove(const struct ctx *ctx, const char *claim_uid, struct err *e)
{
	struct err why;
	auto_fd int dir = files_open_beside(ctx, CDI_DIR, false, &why);
	char name[NAME_MAX + 1];

	if (dir < 0)
		return files_beside_is_gone(ctx, CDI_DIR, &why) ? 0 : err_pass(e, &why);
	claim_cdi_name(claim_uid, name);
	return fs_unlink_at(dir, name, e) ? err_wrap(e, "the CDI file") : 0;
}
