/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h: network namespaces and links for kernel tests.
 *
 * Check runs each test in a process of its own, so what is made here is gone when the test ends,
 * however it ends. Everything aborts the test when it fails.
 */
#ifndef RAILHEAD_LIB_TESTING_NET_H
#define RAILHEAD_LIB_TESTING_NET_H

#include "lib/net/nl.h"
#include "lib/sys/netns.h"

/* net_enter_new - go into a new network namespace (and user namespace, unless root); lo is up. */
void net_enter_new(void);

/* net_another - one more namespace, as a descriptor; the caller stays where it is. */
struct netns net_another(void);

/* net_self - the one the caller is in. */
struct netns net_self(void);

/* net_socket, net_socket_in - a netlink socket here, or there. Free with nl_release(). */
struct nl *net_socket(void);
struct nl *net_socket_in(const struct netns *ns);

/* net_veth - a veth pair, both ends up: a here, b in ns (NULL: here as well). */
void net_veth(const char *a, const char *b, const struct netns *ns);

/* net_link - a link of a kind that needs no parameters ("bridge"), not up. */
void net_link(const char *kind, const char *name);

/* net_ifindex, net_up - the number of a link that must exist; set it up. */
int net_ifindex(struct nl *nl, const char *name);
void net_up(struct nl *nl, const char *name);

/* net_sysctl - /proc/sys/net/<path> of the caller's namespace. */
void net_sysctl(const char *path, const char *value);

/*
 * A socket whose kernel is the test: what is requested can be read from peer, and answers can be
 * put there beforehand (the request will have the number 1).
 */
struct net_fake {
	struct nl *nl;
	int peer;
};
struct net_fake net_fake(void);

/* net_say - one message as one datagram to fake->nl. */
struct nlmsghdr;
void net_say(const struct net_fake *fake, const struct nlmsghdr *head, const void *body,
	     size_t len);

/*
 * net_say_link - the kernel's description of a link, in answer to request seq: name, number, flags,
 * type, addresses, mtu, lower and upper device, kind, bus address and alias, for hardware that no
 * test can make.
 */
struct link_info;
struct hw_addr;
void net_say_link(const struct net_fake *fake, uint32_t seq, const struct link_info *li,
		  const struct hw_addr *broadcast);

/*
 * net_hear - the next request about links that was sent to the fake kernel: what it asks for, as a
 * description. *moves: it names another namespace. Returns its type (RTM_*).
 */
uint16_t net_hear(const struct net_fake *fake, struct link_info *asked, bool *moves);

/* net_ack - an acknowledgement of request seq; errnum 0: success. */
void net_ack(const struct net_fake *fake, uint32_t seq, int errnum);

/* net_done - the end of the answers to request seq, which asked for a list. */
void net_done(const struct net_fake *fake, uint32_t seq);

#endif
