/* SPDX-License-Identifier: Apache-2.0 */
/* edits.c: hook, mounts, variables and files of /dev, as CDI writes them. */
#include "railheadd/devices/edits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/parse.h"
#include "lib/device/sysfs.h"
#include "lib/sys/fs.h"
#include "plugins/prepared/prepared.h"
#include "railheadd/devices/files.h"
#include "railheadd/devices/rail_network.h"
#include "topo/read/rail_list.h"

/* Programs that the container may execute, for /run may be mounted noexec. */
static const char *const edits_programs[] = PREPARED_PROGRAMS;

/* ---- files of RDMA devices ---- */

static int edits_add_node(struct json *nodes, const char *path)
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

static int edits_add_hca(const struct ctx *ctx, struct nl *rdma, const char *addr,
			 struct json *nodes, struct err *e)
{
	struct resource_hca hca = { .addr = "" };
	struct device_files f;

	(void)snprintf(hca.addr, sizeof(hca.addr), "%s", addr);
	if (files_of_hca(ctx, rdma, &hca, &f, e))
		return -1;
	return edits_add_node(nodes, f.uverbs) || edits_add_node(nodes, f.rdma_cm) ? err_nomem(e)
										   : 0;
}

static int edits_add_rail(const struct ctx *ctx, struct nl *rdma, const struct rail_entry *rail,
			  struct json *nodes, struct err *e)
{
	char addr[PCI_STR_LEN];

	return pci_of_netdev(ctx->sysfs, rail->ifname, addr, e) ||
			       edits_add_hca(ctx, rdma, addr, nodes, e)
		       ? err_wrap(e, "rail %u", rail->number)
		       : 0;
}

/* uverbs_main.c of the kernel: 32 numbers have a fixed major, and later ones another. */
#define UVERBS       "uverbs"
#define UVERBS_CLASS "class/infiniband_verbs"
#define UVERBS_FIXED 32
#define UVERBS_MAX   1024
#define UVERBS_MAJOR 231
#define UVERBS_MINOR 192

struct edits_uverbs {
	uint32_t end;   /* one more than the highest number, in steps of UVERBS_FIXED */
	uint64_t major; /* of those from UVERBS_FIXED on */
};

/* The class shows the devices of all network namespaces. */
static int edits_read_uverbs(const struct ctx *ctx, struct edits_uverbs *out, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX], dev[32];
	uint64_t number;
	struct err why;

	*out = (struct edits_uverbs){ UVERBS_FIXED, 0 };
	(void)snprintf(path, sizeof(path), "%.1024s/" UVERBS_CLASS, ctx->sysfs);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, e)) {
		e->code = ERR_STATE;
		return err_hint(e, "load ib_uverbs and the RDMA driver of the card");
	}
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.name[i], UVERBS, strlen(UVERBS)) != 0 ||
		    parse_u64(names.name[i] + strlen(UVERBS), out->end, UVERBS_MAX, &number))
			continue;
		(void)snprintf(path, sizeof(path), UVERBS_CLASS "/%.64s/dev", names.name[i]);
		/* It is on its way into another namespace. */
		if (sysfs_read(ctx->sysfs, path, dev, sizeof(dev), &why)) {
			if (why.errnum != ENOENT && why.errnum != ENODEV)
				return err_pass(e, &why);
			continue;
		}
		dev[strcspn(dev, ":")] = '\0';
		if (parse_u64(dev, 1, UINT32_MAX, &out->major))
			return err_set(e, ERR_DECODE, 0, "%s: %s is not a device number", path,
				       dev);
		out->end = (uint32_t)(number / UVERBS_FIXED + 1) * UVERBS_FIXED;
	}
	return 0;
}

/*
 * An RDMA device that moves gets the lowest free number, and the files of a container are chosen
 * before that. So it gets all of them: the kernel opens a file only in the network namespace of its
 * device. Steps keep the CDI file as it is when a device comes.
 */
static int edits_add_moving(const struct ctx *ctx, struct nl *rdma, struct json *nodes,
			    struct err *e)
{
	const struct rdma_chardev_of of = { .type = "rdma_cm", .global = true };
	struct edits_uverbs all;
	struct rdma_chardev cm;
	char path[DEV_PATH_LEN];

	if (edits_read_uverbs(ctx, &all, e) || (rdma && rdma_chardev_find(rdma, of, &cm, e)))
		return -1;
	for (uint32_t i = 0; i < all.end; i++) {
		const bool fixed = i < UVERBS_FIXED;
		struct json *node = json_push_object(nodes);

		(void)snprintf(path, sizeof(path), "/dev/infiniband/" UVERBS "%u", i);
		if (!node || json_add_str(node, "path", path) || json_add_str(node, "type", "c") ||
		    json_add_int(node, "major", fixed ? UVERBS_MAJOR : (int64_t)all.major) ||
		    json_add_int(node, "minor", fixed ? UVERBS_MINOR + i : i - UVERBS_FIXED) ||
		    json_add_str(node, "permissions", "rw"))
			return err_nomem(e);
	}
	(void)snprintf(path, sizeof(path), "/dev/infiniband/%.32s", rdma ? cm.name : "");
	return rdma && *cm.name && edits_add_node(nodes, path) ? err_nomem(e) : 0;
}

/* Networks without the key "rdma" add nothing. */
static int edits_add_rdma(const struct ctx *ctx, const struct json *networks,
			  const struct rail_list *all, struct json *nodes, struct err *e)
{
	auto_nl struct nl *rdma = NULL;
	bool moving = false;

	json_each (network, networks) {
		auto_json struct json *one = json_new_array();
		const struct json *vfs = json_get(network, "deviceIDs");
		const bool moves = vfs && rail_network_moves_rdma(network);

		if (!moves && strcmp(json_text(network, "rdma"), "shared") != 0)
			continue;
		if (!one || json_push(one, json_dup(network)))
			return err_nomem(e);
		if (!rdma && files_open_rdma(&rdma, e))
			return -1;
		if (moves && !moving && edits_add_moving(ctx, rdma, nodes, e))
			return -1;
		moving |= moves;
		if (moves)
			continue;
		json_each (vf, vfs) {
			if (edits_add_hca(ctx, rdma, json_str(vf), nodes, e))
				return -1;
		}
		for (size_t i = 0; !vfs && i < all->n; i++) {
			if (rails_of_networks(one) >> all->rail[i].number & 1 &&
			    edits_add_rail(ctx, rdma, &all->rail[i], nodes, e))
				return -1;
		}
	}
	return 0;
}

/* The kernel's refusal would come when the container starts. */
static int edits_check_layers(const struct ctx *ctx, const struct json *networks,
			      const struct rail_list *all, struct err *e)
{
	json_each (network, networks) {
		const char *kind = json_text(network, "kind");
		const bool wanted = strcmp(kind, "ib-sriov") == 0 || strcmp(kind, "ipoib") == 0;
		auto_json struct json *one = json_new_array();

		if (!one || json_push(one, json_dup(network)))
			return err_nomem(e);
		for (size_t i = 0; i < all->n; i++) {
			const struct rail_entry *r = &all->rail[i];

			if (rails_of_networks(one) >> r->number & 1 &&
			    rail_list_is_infiniband(ctx, r) != wanted) {
				err_set(e, ERR_CONFIG, 0,
					"network.kind: \"%s\", but rail %u (%s) is of %s", kind,
					r->number, r->ifname, wanted ? "Ethernet" : "InfiniBand");
				return err_hint(e, "a device class can select by linkLayer");
			}
		}
	}
	return 0;
}

static int edits_check_rails(const struct json *networks, const struct rail_list *all,
			     struct err *e)
{
	uint64_t rails = rails_of_networks(networks);
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

/* ---- the edits ---- */

static int edits_add_hook(struct json *to, const struct edits *x)
{
	struct json *hooks = json_add_array(to, "hooks"), *hook, *args;
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.2000s/" EDITS_HOOK, x->bin);
	if (!hooks || !(hook = json_push_object(hooks)) ||
	    json_add_str(hook, "hookName", "createRuntime") || json_add_str(hook, "path", path) ||
	    !(args = json_add_array(hook, "args")))
		return -1;
	for (const char *const *word = x->hook; *word; word++) {
		if (json_push_str(args, *word))
			return -1;
	}
	return 0;
}

static int edits_add_mount(struct json *mounts, const char *from, const char *to, bool exec)
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

int edits_add_folder(struct json *to, const char *folder)
{
	struct json *mounts = json_add_array(to, "mounts");

	return mounts ? edits_add_mount(mounts, folder, PREPARED_AT, false) : -1;
}

/* The runtime reads the paths in the mount namespace of the host. */
static int edits_add_mounts(struct json *to, const struct edits *x)
{
	struct json *mounts = json_add_array(to, "mounts");
	char path[PATH_MAX], at[64];

	if (!mounts || edits_add_mount(mounts, x->folder, PREPARED_AT, false))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(edits_programs); i++) {
		(void)snprintf(path, sizeof(path), "%.2000s/%s", x->bin, edits_programs[i]);
		(void)snprintf(at, sizeof(at), PREPARED_AT "/%s", edits_programs[i]);
		if (access(path, X_OK) == 0 && edits_add_mount(mounts, path, at, true))
			return -1;
	}
	return 0;
}

static int edits_add_variables(struct json *edits, unsigned variables)
{
	struct json *list = variables ? json_add_array(edits, "env") : NULL;

	for (size_t i = 0; list && i < RAIL_VARIABLES; i++) {
		if (variables >> i & 1 && json_push_str(list, rail_variables[i]))
			return -1;
	}
	return variables && !list ? -1 : 0;
}

int edits_add(struct json *to, const struct edits *x, struct err *e)
{
	auto_json struct json *nodes = json_new_array();
	struct rail_list all;

	if (!nodes)
		return err_nomem(e);
	if (json_len(x->networks) &&
	    (rail_list_load(x->ctx, &all, e) || edits_check_rails(x->networks, &all, e) ||
	     edits_check_layers(x->ctx, x->networks, &all, e) ||
	     edits_add_rdma(x->ctx, x->networks, &all, nodes, e)))
		return -1;
	return edits_add_hook(to, x) || edits_add_mounts(to, x) ||
			       edits_add_variables(to, x->variables) ||
			       (json_len(nodes) && json_put(to, "deviceNodes", TAKE_PTR(nodes)))
		       ? err_nomem(e)
		       : 0;
}

/*
 * Empty files, over which the runtime mounts the programs. They are not replaced: that would end
 * the mounts of containers that run.
 */
int edits_put_programs(const char *folder, struct err *e)
{
	auto_fd int dir = fs_open_dir(folder, false, e);

	for (size_t i = 0; dir >= 0 && i < ARRAY_SIZE(edits_programs); i++) {
		auto_fd int fd = openat(dir, edits_programs[i],
					O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444);

		if (fd < 0)
			return err_set(e, ERR_IO, errno, "%s/%s", folder, edits_programs[i]);
	}
	return dir < 0 ? -1 : 0;
}
