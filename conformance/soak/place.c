/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: what the kernel has of an attachment. */
#include "conformance/soak/soak.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "conformance/harness/netns.h"

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

struct question {
	const struct attachment *a;
	int n_addresses;
	bool yes;
};

static void answer(void *arg)
{
	struct question *q = arg;
	struct ifaddrs *list = NULL;

	q->yes = if_nametoindex(IFNAME) != 0;
	if (q->yes && q->n_addresses && getifaddrs(&list))
		fail("getifaddrs");
	for (int i = 0; q->yes && i < q->n_addresses; i++)
		q->yes = has_address(list, q->a->address[i]);
	if (list)
		freeifaddrs(list);
}

static bool ask(struct question q)
{
	if (netns_call(q.a->netns, answer, &q))
		fail(q.a->netns);
	return q.yes;
}

bool place_has(const struct attachment *a)
{
	return ask((struct question){ .a = a, .n_addresses = a->n_addresses });
}

bool place_has_link(const struct attachment *a)
{
	return ask((struct question){ .a = a });
}

int place_links(void)
{
	struct if_nameindex *list = if_nameindex();
	int n = 0;

	if (!list)
		fail("if_nameindex");
	for (const struct if_nameindex *i = list; i->if_index; i++)
		n += strcmp(i->if_name, "lo") != 0;
	if_freenameindex(list);
	return n;
}
