/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static.c: linked into static programs only. libnl's archive has functions that look up names of
 * hosts and protocols. We call none of them, but they are in objects that we need. These functions
 * replace the ones of glibc's resolver, because the resolver loads shared libraries of the host. A
 * static program must run on hosts with any C library.
 */
#include <netdb.h>
#include <stddef.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are reserved */

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **result)
{
	(void)node;
	(void)service;
	(void)hints;
	*result = NULL;
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

const char *gai_strerror(int code)
{
	(void)code;
	return "names are not looked up";
}

struct protoent *getprotobyname(const char *name)
{
	(void)name;
	return NULL;
}

struct protoent *getprotobynumber(int number)
{
	(void)number;
	return NULL;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
