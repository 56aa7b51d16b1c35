/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_device.c: opens a device, reads its GIDs, and explains why it cannot be opened. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hw_addr.h"
#include "lib/base/parse.h"
#include "lib/device/sysfs.h"
#include "rdma/probe/verbs_priv.h"

#define DEV_DIR "/dev/infiniband"

static void free_devices(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

int verbs_none(const char *name, struct err *e)
{
	if (name) {
		err_set(e, ERR_UNAVAILABLE, 0, "there is no RDMA device %.64s here", name);
		return err_hint(e, "\"rdma-probe list\" shows those that are");
	}
	err_set(e, ERR_UNAVAILABLE, 0, "there is no RDMA device here");
	if (access(DEV_DIR, F_OK))
		return err_hint(
			e,
			"%s is not there: a pod gets it with the device plugin's resource, a "
			"host with the driver (mlx5_ib, irdma, ...) and ib_uverbs",
			DEV_DIR);
	return err_hint(e, "in exclusive mode a device is seen in one network namespace only: "
			   "\"rdma system\" tells the mode, \"rdma link\" what is here");
}

/* libibverbs reports ENOENT for a node that it cannot open. Opening the node gives the true error.
 */
static int why_closed(const struct ibv_device *device, int errnum)
{
	char path[sizeof(DEV_DIR) + sizeof(device->dev_name)];

	(void)snprintf(path, sizeof(path), "%s/%s", DEV_DIR, device->dev_name);
	auto_fd int fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? errno : errnum;
}

int verbs_open_error(struct ibv_device *device, int errnum, struct err *e)
{
	errnum = why_closed(device, errnum);
	err_set(e, ERR_UNAVAILABLE, errnum, "cannot open RDMA device %s",
		ibv_get_device_name(device));
	if (errnum == EPERM)
		return err_hint(
			e,
			"the device is another network namespace's (exclusive mode), or this "
			"container's cgroup does not allow its node %s/%s",
			DEV_DIR, device->dev_name);
	if (errnum == EACCES)
		return err_hint(e, "its node %s/%s is not yours to read and write", DEV_DIR,
				device->dev_name);
	if (errnum == ENOENT || errnum == ENODEV || errnum == ENXIO)
		return err_hint(e, "its node %s/%s is missing: the container was not given it",
				DEV_DIR, device->dev_name);
	return -1;
}

int verbs_open_device(const char *name, struct ibv_context **out, struct err *e)
{
	int n = 0;
	auto_clean(free_devices) struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; list && i < n; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name) != 0)
			continue;
		struct ibv_context *ctx = ibv_open_device(list[i]);
		if (!ctx)
			return verbs_open_error(list[i], errno, e);
		*out = ctx;
		return 0;
	}
	return verbs_none(n ? name : NULL, e);
}

/* ---- GIDs ---- */

const char *verbs_gid_type(uint32_t type)
{
	static const char *const names[] = { "IB", "RoCE v1", "RoCE v2" };

	return type < ARRAY_SIZE(names) ? names[type] : "?";
}

char *verbs_gid_format(const uint8_t raw[16], char out[IP_STR_LEN])
{
	struct ip ip;

	out[0] = '\0';
	return ip_from_bytes(raw, 16, &ip) ? out : ip_format(ip, out);
}

void verbs_gid_of(struct ip ip, uint8_t raw[16])
{
	memset(raw, 0, 16);
	if (ip.family == IP_V4)
		raw[10] = raw[11] = 0xff;
	(void)ip_to_bytes(ip, ip.family == IP_V4 ? raw + 12 : raw);
}

static void free_addresses(struct ifaddrs **list)
{
	if (*list)
		freeifaddrs(*list);
}

bool verbs_gid_is_here(const uint8_t raw[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	auto_clean(free_addresses) struct ifaddrs *list = NULL;
	bool four = memcmp(raw, mapped, sizeof(mapped)) == 0;

	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		const struct sockaddr *sa = i->ifa_addr;
		if (four && sa && sa->sa_family == AF_INET &&
		    memcmp((const uint8_t *)sa + offsetof(struct sockaddr_in, sin_addr), raw + 12,
			   4) == 0)
			return true;
		if (!four && sa && sa->sa_family == AF_INET6 &&
		    memcmp((const uint8_t *)sa + offsetof(struct sockaddr_in6, sin6_addr), raw,
			   16) == 0)
			return true;
	}
	return false;
}

static bool verbs_device_has_ip(const struct ifaddrs *i, struct ip ip)
{
	struct ip own = { .family = IP_NONE };
	const struct sockaddr *sa = i->ifa_addr;
	int rc = -1;

	if (sa && sa->sa_family == AF_INET)
		rc = ip_from_bytes((const uint8_t *)sa + offsetof(struct sockaddr_in, sin_addr), 4,
				   &own);
	else if (sa && sa->sa_family == AF_INET6)
		rc = ip_from_bytes((const uint8_t *)sa + offsetof(struct sockaddr_in6, sin6_addr),
				   16, &own);
	return rc == 0 && ip_equal(own, ip);
}

bool verbs_guid_of(struct ip ip, struct guid *out)
{
	auto_clean(free_addresses) struct ifaddrs *list = NULL;
	char path[64 + IFNAME_LEN], text[HW_ADDR_STR_LEN + 1];
	struct hw_addr addr;
	struct err ignored;

	if (getifaddrs(&list))
		return false;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (!verbs_device_has_ip(i, ip))
			continue;
		(void)snprintf(path, sizeof(path), "class/net/%.15s/address", i->ifa_name);
		return sysfs_read("/sys", path, text, sizeof(text), &ignored) == 0 &&
		       hw_addr_parse(text, &addr) == 0 && hw_addr_guid(addr, out);
	}
	return false;
}

int verbs_gid_table(struct ibv_context *ctx, struct verbs_gid_table *out, struct err *e)
{
	const char *name = ibv_get_device_name(ctx->device);
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	size_t cap = 0;

	if (ibv_query_device(ctx, &device))
		return err_set(e, ERR_KERNEL, errno, "asking for the attributes of %s", name);
	for (uint8_t p = 1; p <= device.phys_port_cnt; p++) {
		if (ibv_query_port(ctx, p, &port) == 0)
			cap += (size_t)port.gid_tbl_len;
	}
	auto_free struct ibv_gid_entry *entry = calloc(cap + 1, sizeof(*entry));
	if (!entry)
		return err_nomem(e);
	ssize_t n = ibv_query_gid_table(ctx, entry, cap, 0);
	if (n < 0)
		return err_set(e, ERR_KERNEL, (int)-n, "reading the GID table of %s", name);
	out->n = (size_t)n;
	out->entry = TAKE_PTR(entry);
	return 0;
}
