// SPDX-License-Identifier: Apache-2.0
/* Captures NUMA nodes, IOMMU groups, the firmware, modules, and the necessary parts of /proc and
 * /boot. */
#include <string.h>

#include "topo/capture/priv.h"

#define ENTRIES 65536

/* Capture these files of each folder in `folder` whose name begins with the prefix. */
static int keep_each(struct capture *c, const char *folder, const char *begin,
		     const char *const *files, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int dir = tree_open(c->t.fd, folder);
	char prefix[512];

	if (dir < 0)
		return 0;
	(void)snprintf(prefix, sizeof(prefix), "sys/%s", folder);
	tar_dir(&c->tar, prefix);
	if (tree_names(dir, ENTRIES, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		auto_fd int one = -1;
		if (strncmp(names.name[i], begin, strlen(begin)) != 0)
			continue;
		one = tree_open(dir, names.name[i]);
		(void)snprintf(prefix, sizeof(prefix), "sys/%s/%s", folder, names.name[i]);
		if (one >= 0)
			keep_files(c, one, prefix, files);
	}
	return 0;
}

int capture_nodes(struct capture *c, struct err *e)
{
	static const char *const node[] = { "cpumap", NULL };
	static const char *const group[] = { "type", NULL };

	return keep_each(c, "devices/system/node", "node", node, e) ||
			       keep_each(c, "kernel/iommu_groups", "", group, e)
		       ? -1
		       : 0;
}

/* Only the version of the firmware; other files have serial numbers. The folder says that a machine
 * without the file has none. */
void capture_firmware(struct capture *c)
{
	static const char folder[] = "devices/virtual/dmi/id";
	static const char *const file[] = { "bios_version", NULL };
	auto_fd int dir = tree_open(c->t.fd, folder);

	if (dir >= 0 || c->m.source == TOPO_LIVE)
		tar_dir(&c->tar, "sys/devices/virtual/dmi/id");
	if (dir >= 0)
		keep_files(c, dir, "sys/devices/virtual/dmi/id", file);
}

int capture_modules(struct capture *c, struct err *e)
{
	static const char *const version[] = { "version", NULL };

	return keep_each(c, "module", "nvidia", version, e) ||
			       keep_each(c, "module", "amdgpu", version, e) ||
			       keep_each(c, "module", "mlx", version, e) ||
			       keep_each(c, "module", "ib_", version, e) ||
			       keep_each(c, "kernel/mm/memory_peers", "", version, e) ||
			       keep_each(c, "kernel/memory_peers", "", version, e) ||
			       keep_each(c, "memory_peers", "", version, e)
		       ? -1
		       : 0;
}

/* ---- /proc and /boot: text, of which a part is kept ---- */

/* The first `max` bytes of a file; owned by the caller; NULL: it does not exist, or no memory. */
static char *host_read_text(const struct capture *c, int dir, const char *path, size_t max)
{
	auto_fd int fd = dir < 0 ? -1 : tree_text(dir, path, c->m.source == TOPO_LIVE);
	auto_free char *text = fd < 0 ? NULL : malloc(max + 1);
	size_t len = 0;
	ssize_t n;

	if (!text)
		return NULL;
	while (len < max && (n = read(fd, text + len, max - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	return TAKE_PTR(text);
}

static void keep_text(struct capture *c, int dir, const char *prefix, const char *path)
{
	auto_free char *text = host_read_text(c, dir, path, CAPTURE_VALUE);
	char at[512];

	(void)snprintf(at, sizeof(at), "%s/%s", prefix, path);
	if (text)
		tar_file(&c->tar, at, text, strlen(text));
}

/* The necessary words of the kernel's command line; others name machines and disks. */
static bool is_public(const char *word)
{
	static const char *const begin[] = {
		"pci", "iommu", "intel_iommu", "amd_iommu", "nvidia",
		"mlx", "numa",  "amdgpu",      "vfio",      "hugepage"
	};

	for (size_t i = 0; i < ARRAY_SIZE(begin); i++) {
		if (!strncmp(word, begin[i], strlen(begin[i])))
			return true;
	}
	return false;
}

static void keep_cmdline(struct capture *c)
{
	auto_free char *text = host_read_text(c, c->proc, "cmdline", 8192);
	char *rest = text, *word, out[8300] = "";
	size_t len = 0;

	while (rest && (word = strsep(&rest, " \n"))) {
		if (*word && is_public(word))
			len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s",
						len ? " " : "", word);
	}
	out[len++] = '\n';
	if (text)
		tar_file(&c->tar, "proc/cmdline", out, len);
}

/* Only the first processor; the others are equal. */
static void keep_cpuinfo(struct capture *c)
{
	auto_free char *text = host_read_text(c, c->proc, "cpuinfo", 16384);
	char *end = text ? strstr(text, "\n\n") : NULL;

	if (text)
		tar_file(&c->tar, "proc/cpuinfo", text,
			 end ? (size_t)(end + 2 - text) : strlen(text));
}

/* The interfaces of default routes, without the addresses of gateways. */
static void keep_routes(struct capture *c)
{
	auto_free char *text = host_read_text(c, c->proc, "net/route", CAPTURE_VALUE);
	char *rest = text, *line, out[4096];
	size_t len = 0;

	while (rest && (line = strsep(&rest, "\n"))) {
		char name[16], to[9], tail[80];
		if (sscanf(line, "%15s %8s %*8s %79[^\n]", name, to, tail) != 3 ||
		    strcmp(to, "00000000") != 0 || len > sizeof(out) - 160)
			continue;
		len += (size_t)snprintf(out + len, sizeof(out) - len,
					"%s\t00000000\t00000000\t%s\n", name, tail);
	}
	if (text)
		tar_file(&c->tar, "proc/net/route", out, len);
}

/* The line "CONFIG_NAME=..."; NULL: there is none. */
static const char *line_of(const char *config, const char *name)
{
	size_t len = strlen(name);
	const char *at = config;

	while (at && (strncmp(at, name, len) != 0 || at[len] != '=')) {
		at = strchr(at, '\n');
		at += at != NULL;
	}
	return at;
}

static void keep_kernel(struct capture *c)
{
	static const char *const options[] = { "CONFIG_PCI_P2PDMA", "CONFIG_DMABUF_MOVE_NOTIFY" };
	auto_free char *release = host_read_text(c, c->proc, "sys/kernel/osrelease", 128);
	auto_free char *config = NULL;
	char path[256], out[256] = "";
	size_t len = 0;

	if (!release)
		return;
	tar_file(&c->tar, "proc/sys/kernel/osrelease", release, strlen(release));
	release[strcspn(release, "\n/")] = '\0';
	(void)snprintf(path, sizeof(path), "config-%s", release);
	config = host_read_text(c, c->boot, path, 1 << 20);
	for (size_t i = 0; config && i < ARRAY_SIZE(options); i++) {
		const char *at = line_of(config, options[i]);
		size_t n = at ? strcspn(at, "\n") : sizeof(out);
		if (n < sizeof(out) / ARRAY_SIZE(options) - 1)
			len += (size_t)snprintf(out + len, sizeof(out) - len, "%.*s\n", (int)n, at);
	}
	(void)snprintf(path, sizeof(path), "boot/config-%s", release);
	if (config)
		tar_file(&c->tar, path, out, len);
}

static int keep_nvidia(struct capture *c, struct err *e)
{
	static const char folder[] = "driver/nvidia/gpus";
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int gpus = c->proc < 0 ? -1 : tree_open(c->proc, folder);
	char path[512];

	keep_text(c, c->proc, "proc", "driver/nvidia/version");
	if (gpus >= 0 && tree_names(gpus, ENTRIES, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s/numa_status", folder, names.name[i]);
		keep_text(c, c->proc, "proc", path);
	}
	return 0;
}

int capture_proc(struct capture *c, struct err *e)
{
	keep_cpuinfo(c);
	keep_cmdline(c);
	keep_routes(c);
	keep_kernel(c);
	return keep_nvidia(c, e);
}
