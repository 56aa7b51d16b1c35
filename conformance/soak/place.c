/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: network namespaces, made and looked into as a runtime would. */
#include "conformance/soak/soak.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

void place_make(const char *path, int home)
{
	int fd = open(path, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		fail(path);
	close(fd);
	if (unshare(CLONE_NEWNET) || mount("/proc/self/ns/net", path, "none", MS_BIND, NULL) ||
	    setns(home, CLONE_NEWNET))
		fail(path);
}

void place_drop(const char *path)
{
	if (umount2(path, MNT_DETACH) || unlink(path))
		fail(path);
}

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		fail(path);
	close(fd);
}

static void leave(int home)
{
	if (setns(home, CLONE_NEWNET))
		fail("go home");
}

static bool has_address(const struct ifaddrs *list, const char *address)
{
	char text[INET6_ADDRSTRLEN];

	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (!i->ifa_addr || strcmp(i->ifa_name, IFNAME) != 0)
			continue;
		int family = i->ifa_addr->sa_family;
		const void *at =
			family == AF_INET
				? (const void *)&((struct sockaddr_in *)(void *)i->ifa_addr)
					  ->sin_addr
				: (const void *)&((struct sockaddr_in6 *)(void *)i->ifa_addr)
					  ->sin6_addr;
		if ((family == AF_INET || family == AF_INET6) &&
		    inet_ntop(family, at, text, sizeof(text)) && strcmp(text, address) == 0)
			return true;
	}
	return false;
}

bool place_has(const char *path, int home, const struct attachment *a)
{
	struct ifaddrs *list = NULL;
	bool found;

	enter(path);
	found = if_nametoindex(IFNAME) != 0;
	if (found && a->n_addresses && getifaddrs(&list))
		fail("getifaddrs");
	for (int i = 0; found && i < a->n_addresses; i++)
		found = has_address(list, a->address[i]);
	if (list)
		freeifaddrs(list);
	leave(home);
	return found;
}

int place_links(const char *path, int home)
{
	int n = 0;

	if (path)
		enter(path);
	struct if_nameindex *list = if_nameindex();
	if (!list)
		fail("if_nameindex");
	for (const struct if_nameindex *i = list; i->if_index; i++)
		n += strcmp(i->if_name, "lo") != 0;
	if_freenameindex(list);
	if (path)
		leave(home);
	return n;
}
