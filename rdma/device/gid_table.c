/* SPDX-License-Identifier: Apache-2.0 */
/* gid_table.c: the GID table of a port as files of sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/ctx.h"
#include "lib/base/backoff.h"
#include "lib/device/sysfs.h"
#include "rdma/device/gid_priv.h"

struct table {
	int fd; /* the folder of the port */
	const struct gid_port *p;
	enum { LAYER_UNKNOWN, LAYER_ETHERNET, LAYER_OTHER } layer;
};

static void table_clear(struct table *t)
{
	base_close_fd(&t->fd);
}

static int set_read_error(const struct gid_port *p, const char *what, struct err *e)
{
	int errnum = errno;

	return err_set(e, errnum == ENOENT ? ERR_NOTFOUND : ERR_IO, errnum, "%s of %s port %u",
		       what, p->device, p->port);
}

static int table_open(const struct gid_port *p, struct table *t, struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/class/infiniband/%s/ports/%u", p->root, p->device,
			 p->port);

	if (n >= (int)sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "%.64s...", path);
	*t = (struct table){ .fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), .p = p };
	return t->fd < 0 ? set_read_error(p, "GID table", e) : 0;
}

/* The value of one file, without its line break; -1 with errno. */
static int gid_table_read_file(int dir, const char *name, char *buf, size_t size)
{
	auto_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : sysfs_read_fd(fd, buf, size);
}

static int read_gid(void *arg, uint32_t i, struct gid *out, enum gid_place *place, struct err *e)
{
	const struct table *t = arg;
	char name[32], text[64];

	(void)snprintf(name, sizeof(name), "gids/%u", i);
	if (gid_table_read_file(t->fd, name, text, sizeof(text))) {
		if (errno == ENOENT && i) {
			*place = GID_END;
			return 0;
		}
		/* Some drivers refuse to show a free index. */
		if (errno != EINVAL)
			return set_read_error(t->p, name, e);
		*place = GID_FREE;
		return 0;
	}
	if (gid_parse(text, out))
		return err_set(e, ERR_IO, 0, "%s of %s port %u is not a GID: \"%s\"", name,
			       t->p->device, t->p->port, text);
	*place = gid_is_zero(out) ? GID_FREE : GID_TAKEN;
	return 0;
}

static bool gid_table_is_ethernet(struct table *t)
{
	char text[32];

	if (t->layer == LAYER_UNKNOWN)
		t->layer = gid_table_read_file(t->fd, "link_layer", text, sizeof(text)) == 0 &&
					   strcmp(text, "Ethernet") == 0
				   ? LAYER_ETHERNET
				   : LAYER_OTHER;
	return t->layer == LAYER_ETHERNET;
}

/* EINVAL: freed meanwhile, or its interface is down; then it has no type, or no interface. */
static int gid_table_read_entry(void *arg, struct gid_entry *out, struct err *e)
{
	struct table *t = arg;
	char name[48], text[64];

	out->type = GID_UNKNOWN;
	*out->netdev = '\0';
	(void)snprintf(name, sizeof(name), "gid_attrs/types/%u", out->index);
	if (gid_table_read_file(t->fd, name, text, sizeof(text)) == 0)
		out->type = gid_type_parse(text, gid_table_is_ethernet(t));
	else if (errno != EINVAL && errno != ENOENT)
		return set_read_error(t->p, name, e);
	(void)snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", out->index);
	if (gid_table_read_file(t->fd, name, text, sizeof(text)) == 0)
		(void)snprintf(out->netdev, sizeof(out->netdev), "%.*s", IFNAME_LEN - 1, text);
	else if (errno != EINVAL && errno != ENOENT)
		return set_read_error(t->p, name, e);
	return 0;
}

int gid_each(const struct gid_port *p, gid_fn fn, void *arg, struct err *e)
{
	auto_clean(table_clear) struct table t = { .fd = -1 };
	enum gid_place place = GID_TAKEN;

	if (table_open(p, &t, e))
		return -1;
	for (uint32_t i = 0; place != GID_END; i++) {
		struct gid_entry entry = { .index = i };

		if (read_gid(&t, i, &entry.gid, &place, e))
			return -1;
		if (place != GID_TAKEN)
			continue;
		if (gid_table_read_entry(&t, &entry, e))
			return -1;
		if (fn(&entry, arg))
			break;
	}
	return 0;
}

int gid_find(const struct gid_port *p, const struct gid_want *want, struct gid_look *out,
	     struct err *e)
{
	auto_clean(table_clear) struct table t = { .fd = -1 };
	const struct gid_source source = { read_gid, gid_table_read_entry, &t };

	return table_open(p, &t, e) || gid_search(&source, want, out, e) ? -1 : 0;
}

int gid_await(const struct gid_port *p, const struct gid_want *want, int64_t deadline_ms,
	      struct gid_look *out, struct err *e)
{
	struct backoff left = backoff_until(deadline_ms);

	/* There is no event for a GID: the kernel adds it on a work queue. */
	do {
		if (gid_find(p, want, out, e))
			return -1;
	} while (out->found != GID_THERE && backoff_pause(&left));
	return 0;
}
