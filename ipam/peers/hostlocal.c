/* SPDX-License-Identifier: Apache-2.0 */
/* hostlocal.c: reads, lists and removes the files in which host-local keeps its addresses. */
#include "ipam/peers/hostlocal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"
#include "lib/base/parse.h"

#define FILE_MAX 1024 /* two names and a line break */

int hostlocal_open_dir(const char *path, struct hostlocal *out, struct err *e)
{
	struct err why;

	out->dir = safe_open_dir(path, 0, &why);
	out->by_link = out->dir < 0 && why.code == ERR_FORBIDDEN;
	if (out->by_link) {
		out->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		why.errnum = errno;
	}
	return out->dir < 0 && why.errnum != ENOENT && why.errnum != ENOTDIR
		       ? err_set(e, ERR_IO, why.errnum, "open host-local's folder %.256s", path)
		       : 0;
}

int hostlocal_open(const struct ctx *ctx, const char *data_dir, const char *network,
		   struct hostlocal *out, struct err *e)
{
	const char *root = data_dir ? data_dir : ctx->cni_dir;
	char path[PATH_MAX];

	*out = (struct hostlocal){ .dir = -1 };
	if (!root)
		return 0;
	int n = snprintf(path, sizeof(path), "%s/%s%s", root, data_dir ? "" : "networks/", network);
	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "host-local's folder of %.64s", network);
	return hostlocal_open_dir(path, out, e);
}

void hostlocal_close(struct hostlocal *h)
{
	if (h->dir >= 0)
		(void)close(h->dir);
	h->dir = -1;
}

int hostlocal_holds(const struct hostlocal *h, struct ip ip, struct err *e)
{
	char name[IP_STR_LEN];
	struct stat st;

	if (h->dir < 0)
		return 0;
	if (fstatat(h->dir, ip_format(ip, name), &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 1;
	if (errno == ENOENT)
		return 0;
	return err_set(e, ERR_IO, errno, "look for host-local's file of %s", name);
}

/* One line, without its break and blanks around it. */
static bool hostlocal_take_line(struct slice *rest, char *out, size_t size)
{
	struct slice line;

	if (!slice_next(rest, '\n', &line))
		return false;
	while (line.len && strchr(" \t\r", line.p[line.len - 1]))
		line.len--;
	return slice_copy(line, out, size) == 0;
}

int hostlocal_parse(const char *text, size_t len, struct hostlocal_lease *out)
{
	struct slice rest = { text, len };

	*out->container = *out->ifname = '\0';
	if (!hostlocal_take_line(&rest, out->container, sizeof(out->container)) ||
	    !*out->container || !id_valid(out->container)) {
		*out->container = '\0';
		return -1;
	}
	if (!hostlocal_take_line(&rest, out->ifname, sizeof(out->ifname)) ||
	    ifname_problem(out->ifname))
		*out->ifname = '\0';
	return 0;
}

static int read_lease(int dir, const char *name, struct hostlocal_lease *out, struct err *e)
{
	auto_free char *text = NULL;
	struct err why;
	ssize_t len = fs_read_at(dir, name, FILE_MAX, &text, &why);

	if (len >= 0)
		(void)!hostlocal_parse(text, (size_t)len, out);
	if (len < 0 && why.code == ERR_NOMEM)
		return err_nomem(e);
	return 0;
}

int hostlocal_each(const struct hostlocal *h, hostlocal_fn fn, void *arg, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	int rc = 0;

	if (h->dir < 0)
		return 0;
	if (fs_names_at(h->dir, ".", FS_NAMES_MAX, &names, e))
		return err_wrap(e, "host-local's folder");
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		struct hostlocal_lease lease = { .container = "" };

		if (ip_parse(names.name[i], &lease.ip))
			continue;
		rc = read_lease(h->dir, names.name[i], &lease, e) ? -1 : fn(&lease, arg, e);
	}
	return rc;
}

struct release {
	const struct hostlocal *h;
	const char *container, *ifname;
	size_t n;
};

static int hostlocal_release_one(const struct hostlocal_lease *lease, void *arg, struct err *e)
{
	struct release *r = arg;
	char name[IP_STR_LEN];

	if (strcmp(lease->container, r->container) != 0 || strcmp(lease->ifname, r->ifname) != 0)
		return 0;
	r->n++;
	if (r->h->by_link)
		return err_set(e, ERR_FORBIDDEN, ELOOP,
			       "host-local's file of %s stays: a symbolic link leads to its folder",
			       ip_format(lease->ip, name));
	if (unlinkat(r->h->dir, ip_format(lease->ip, name), 0) && errno != ENOENT)
		return err_set(e, ERR_IO, errno, "remove host-local's file of %s", name);
	return 0;
}

int hostlocal_release(const struct hostlocal *h, const char *container, const char *ifname,
		      struct err *e)
{
	struct release r = { h, container, ifname, 0 };

	if (hostlocal_each(h, hostlocal_release_one, &r, e))
		return -1;
	r.ifname = "";
	return r.n ? 0 : hostlocal_each(h, hostlocal_release_one, &r, e);
}
