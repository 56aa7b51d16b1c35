/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into static programs only. libnl's archive has functions that look up names of hosts and
 * protocols; we call none of them, but they sit in objects that we need. These answers in their
 * place keep glibc's resolver, which loads shared libraries of the host, out of programs that have
 * to run on hosts with any C library.
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
