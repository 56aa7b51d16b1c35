/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.c: writes the files of sysfs that a port has. */
#include "rdma/testing/rdma.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

static const char zero[] = "0000:0000:0000:0000:0000:0000:0000:0000";

static void make_dirs(const char *path)
{
	char part[PATH_MAX];

	ck_assert_uint_lt(strlen(path), sizeof(part));
	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		ck_assert(mkdir(part, 0755) == 0 || errno == EEXIST);
	}
}

/* With a line break behind it, as in sysfs. In one step, for a reader may be at work. */
static void write_file(const struct gid_port *p, const char *name, const char *text)
{
	char path[PATH_MAX], spare[PATH_MAX + 8], line[128];

	(void)snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports/%u/%s", p->root, p->device,
		       p->port, name);
	(void)snprintf(spare, sizeof(spare), "%s.new", path);
	(void)snprintf(line, sizeof(line), "%s\n", text);
	make_dirs(path);
	testing_file(spare, 0644, line);
	ck_assert_int_eq(rename(spare, path), 0);
}

void fakerdma_port(const struct gid_port *p, const char *link_layer, uint32_t gids)
{
	char name[32];

	write_file(p, "link_layer", link_layer);
	for (uint32_t i = 0; i < gids; i++) {
		(void)snprintf(name, sizeof(name), "gids/%u", i);
		write_file(p, name, zero);
	}
}

void fakerdma_gid(const struct gid_port *p, uint32_t index, const struct fakerdma_gid *g)
{
	char name[48], text[GID_STR_LEN];
	struct ip a;

	ck_assert_int_eq(ip_parse(g->ip, &a), 0);
	const struct gid gid = gid_of_ip(a);
	(void)snprintf(name, sizeof(name), "gid_attrs/types/%u", index);
	write_file(p, name, g->type);
	(void)snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", index);
	write_file(p, name, g->netdev);
	(void)snprintf(name, sizeof(name), "gids/%u", index);
	write_file(p, name, gid_format(&gid, text));
}

void fakerdma_pkey(const struct gid_port *p, uint32_t index, const char *text)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "pkeys/%u", index);
	write_file(p, name, text);
}
