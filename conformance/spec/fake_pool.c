/* SPDX-License-Identifier: Apache-2.0 */
/* fake_pool.c: an IPAM and a chained plugin that do right. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/spec/fake.h"
#include "conformance/spec/json.h"

void fake_error(struct fake *f, int code, const char *msg)
{
	const char *version = jstr(f->conf, "cniVersion");

	if (asprintf(&f->out, "{\"cniVersion\":\"%s\",\"code\":%d,\"msg\":\"%s\"}\n",
		     *version ? version : "1.0.0", code, msg) < 0)
		_exit(2);
	f->rc = 1;
	f->done = true;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static char *pool_path(const struct fake *f, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%s.pool/%s", f->self, name) < 0)
		_exit(2);
	return path;
}

/* "network container interface ": the owner, as its file holds it. */
static char *owner(const struct fake *f, const char *cid, const char *ifname)
{
	char *s = NULL;

	if (asprintf(&s, "%s %s %s ", jstr(f->conf, "name"), cid, ifname) < 0)
		_exit(2);
	return s;
}

/* A reservation appears with its owner, also if this process is killed: else no DEL could find it.
 */
static int reserve(const struct fake *f)
{
	const char *who = owner(f, variable("CNI_CONTAINERID"), variable("CNI_IFNAME"));
	char name[16], from[40];

	(void)mkdir(pool_path(f, ""), 0755);
	int fd = open(pool_path(f, ""), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
	(void)!write(fd, who, strlen(who));
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	for (int n = 2; n < 250; n++) {
		(void)snprintf(name, sizeof(name), "%d", n);
		if (linkat(AT_FDCWD, from, AT_FDCWD, pool_path(f, name), AT_SYMLINK_FOLLOW))
			continue;
		close(fd);
		return n;
	}
	close(fd);
	return -1;
}

/* For each reservation of this network: what each() returns true for is removed. */
static int sweep(const struct fake *f, bool (*each)(const struct fake *f, const char *content),
		 bool removing)
{
	DIR *dir = opendir(pool_path(f, ""));
	int n = 0;

	for (struct dirent *d; dir && (d = readdir(dir));) {
		char content[8192] = "";
		int fd = *d->d_name == '.' ? -1
					   : open(pool_path(f, d->d_name), O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		(void)!read(fd, content, sizeof(content) - 1);
		close(fd);
		if (!each(f, content))
			continue;
		n++;
		if (removing)
			unlink(pool_path(f, d->d_name));
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool is_ours(const struct fake *f, const char *content)
{
	return strcmp(content, owner(f, variable("CNI_CONTAINERID"), variable("CNI_IFNAME"))) == 0;
}

static const cJSON *valid_list(const struct fake *f)
{
	const cJSON *list = jget(f->conf, "cni.dev/valid-attachments");

	return list ? list : jget(f->conf, "cni.dev/attachments");
}

static bool is_stale(const struct fake *f, const char *content)
{
	const char *network = jstr(f->conf, "name");
	const cJSON *one;

	if (strncmp(content, network, strlen(network)) != 0 || content[strlen(network)] != ' ')
		return false;
	cJSON_ArrayForEach(one, valid_list(f))
	{
		if (strcmp(content, owner(f, jstr(one, "containerID"), jstr(one, "ifname"))) == 0)
			return false;
	}
	return true;
}

/* ---- results ---- */

static cJSON *one_address(int family, int n, const char *version)
{
	cJSON *o = cJSON_CreateObject();
	const char *gateway = family == 6 ? "fd99::1" : "10.99.0.1";
	char address[32];

	(void)snprintf(address, sizeof(address), family == 6 ? "fd99::%x/64" : "10.99.0.%d/24", n);
	if (strcmp(version, "0.3.0") < 0) {
		cJSON_AddStringToObject(o, "ip", address);
	} else {
		if (strcmp(version, "1.0.0") < 0)
			cJSON_AddStringToObject(o, "version", family == 6 ? "6" : "4");
		cJSON_AddStringToObject(o, "address", address);
	}
	cJSON_AddStringToObject(o, "gateway", gateway);
	return o;
}

static cJSON *addresses(const struct fake *f, int n, const char *version)
{
	const char *families = jstr(f->conf, "ipam>families");
	cJSON *o = cJSON_CreateObject(), *ips = NULL;
	bool old = strcmp(version, "0.3.0") < 0;

	if (!*families)
		families = "4";
	cJSON_AddStringToObject(o, "cniVersion", *version ? version : "0.1.0");
	if (!old)
		ips = cJSON_AddArrayToObject(o, "ips");
	for (; *families; families++) {
		int family = *families - '0';
		cJSON *one = one_address(family, n, version);
		if (old)
			cJSON_AddItemToObject(o, family == 6 ? "ip6" : "ip4", one);
		else
			cJSON_AddItemToArray(ips, one);
	}
	if (!old && jget(f->conf, "ipam>routes"))
		cJSON_AddItemToObject(o, "routes",
				      cJSON_Duplicate(jget(f->conf, "ipam>routes"), true));
	return o;
}

static void add(struct fake *f)
{
	const cJSON *given = jget(f->conf, "ipam>result");
	int n = reserve(f);

	if (n < 0) {
		fake_error(f, 101, "no address is left");
		return;
	}
	f->out = jtext(given ? given : addresses(f, n, jstr(f->conf, "cniVersion")));
}

void fake_pool(struct fake *f)
{
	if (strcmp(f->cmd, "ADD") == 0)
		add(f);
	else if (strcmp(f->cmd, "DEL") == 0)
		(void)sweep(f, is_ours, true);
	else if (strcmp(f->cmd, "CHECK") == 0 && !sweep(f, is_ours, false))
		fake_error(f, 104, "nothing is reserved");
	else if (strcmp(f->cmd, "GC") == 0 && valid_list(f))
		(void)sweep(f, is_stale, true);
}

/* ---- a chained plugin that changes nothing ---- */

void fake_meta(struct fake *f)
{
	const cJSON *prev = jget(f->conf, "prevResult");

	if (strcmp(f->cmd, "VERSION") == 0)
		f->out = strdup(
			"{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.3.0\",\"0.3.1\","
			"\"0.4.0\",\"1.0.0\",\"1.1.0\"]}");
	else if (strcmp(f->cmd, "ADD") != 0 && strcmp(f->cmd, "CHECK") != 0)
		return;
	else if (!cJSON_IsObject(prev))
		fake_error(f, 7, "required prevResult missing");
	else if (strcmp(f->cmd, "ADD") == 0)
		f->out = jtext(prev);
}
