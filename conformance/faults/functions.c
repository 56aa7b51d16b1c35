/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c: what sysfs says of VFs and of RDMA devices, as lines of the snapshot. */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/faults/fixture.h"
#include "conformance/harness/text.h"

#define BUS "/sys/bus/pci/devices"

/* The names in the folder; "-": it is not there, or empty. last: one of them. */
static void add_names(const char *function, const char *folder, char last[NAME_MAX + 1],
		      struct text *out)
{
	char path[PATH_MAX];

	*last = '\0';
	(void)snprintf(path, sizeof(path), BUS "/%s/%s", function, folder);
	DIR *d = opendir(path);
	text_add(out, " %s", folder);
	for (const struct dirent *e; d && (e = readdir(d));) {
		if (*e->d_name == '.')
			continue;
		(void)snprintf(last, NAME_MAX + 1, "%s", e->d_name);
		text_add(out, " %s", last);
	}
	if (!*last)
		text_add(out, " -");
	if (d)
		(void)closedir(d);
}

static void add_driver(const char *function, struct text *out)
{
	char path[PATH_MAX], driver[PATH_MAX];

	(void)snprintf(path, sizeof(path), BUS "/%s/driver", function);
	ssize_t n = readlink(path, driver, sizeof(driver) - 1);
	driver[n > 0 ? n : 0] = '\0';
	text_add(out, " driver %s", n > 0 ? basename(driver) : "-");
}

static void add_file(const char *what, const char *path, struct text *out)
{
	char value[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, value, sizeof(value) - 1);

	value[n > 0 ? n : 0] = '\0';
	value[strcspn(value, "\n")] = '\0';
	text_add(out, " %s %s", what, n > 0 ? value : "-");
	if (fd >= 0)
		(void)close(fd);
}

static void look_at(const char *function, struct text *out)
{
	char name[NAME_MAX + 1], device[NAME_MAX + 1], path[PATH_MAX];

	text_add(out, "host function %s:", function);
	add_driver(function, out);
	add_names(function, "net", name, out);
	add_names(function, "infiniband_verbs", name, out);
	add_names(function, "infiniband", device, out);
	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/node_guid", device);
	add_file("node-guid", path, out);
	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/0", device);
	add_file("port-gid", path, out);
	text_add(out, "\n");
}

static bool has(const char *function, const char *entry)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), BUS "/%s/%s", function, entry);
	return access(path, F_OK) == 0;
}

void functions_look(struct text *out)
{
	DIR *d = opendir(BUS);

	for (const struct dirent *e; d && (e = readdir(d));) {
		if (*e->d_name != '.' && (has(e->d_name, "physfn") || has(e->d_name, "infiniband")))
			look_at(e->d_name, out);
	}
	if (d)
		(void)closedir(d);
}
