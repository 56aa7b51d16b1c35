/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig_test.c: what is read of a kubeconfig, and what is refused with which advice. */
#include "cluster/kube/kubeconfig.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static const struct kubeconfig_source here = { "/etc/kube", NULL };

#define CLUSTER(keys) "clusters: [{name: c, cluster: {" keys "}}]\n"
#define USER(keys)    "users: [{name: u, user: {" keys "}}]\n"
#define CONTEXT       "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
#define GOOD          "server: \"https://a:6443/\""

static void refuses(const char *text, const char *why)
{
	struct kubeconfig k = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(kubeconfig_read(text, strlen(text), &here, &k, &e), -1);
	ck_assert_msg(strstr(e.msg, why), "%s", e.msg);
	ck_assert_ptr_null(k.server);
}

static struct kubeconfig reads(const char *text, const struct kubeconfig_source *from)
{
	struct kubeconfig k = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!kubeconfig_read(text, strlen(text), from, &k, &e), "%s", e.msg);
	return k;
}

static const char whole[] =
	"apiVersion: v1\n"
	"clusters:\n"
	"- name: other\n"
	"  cluster: {server: http://wrong}\n"
	"- name: c\n"
	"  cluster:\n"
	"    server: https://[fd00::1]:6443/k8s/\n"
	"    certificate-authority-data: Q0E=\n"
	"    certificate-authority: wins-not\n"
	"    insecure-skip-tls-verify: false\n"
	"users:\n"
	"- name: u\n"
	"  user: {client-certificate: pki/u.pem, client-key: /pki/u.key, token: ~}\n"
	"- name: t\n"
	"  user: {token: text, tokenFile: run/token}\n"
	"contexts:\n"
	"- name: x\n"
	"  context: {cluster: c, user: u, namespace: agents}\n"
	"- name: y\n"
	"  context: {cluster: c, user: t}\n"
	"current-context: x\n";

START_TEST(a_whole_one)
{
	static const struct kubeconfig_source other = { "/etc/kube", "y" };
	struct kubeconfig k = reads(whole, &here);

	ck_assert_str_eq(k.server, "https://[fd00::1]:6443/k8s");
	ck_assert_str_eq(k.namespace, "agents");
	ck_assert_str_eq(k.ca.text, "CA");
	ck_assert_ptr_null(k.ca.path);
	ck_assert_str_eq(k.cert.path, "/etc/kube/pki/u.pem");
	ck_assert_str_eq(k.key.path, "/pki/u.key");
	ck_assert(!k.token.text && !k.token.path);
	kubeconfig_clear(&k);
	k = reads(whole, &other);
	ck_assert_str_eq(k.token.path, "/etc/kube/run/token");
	ck_assert(!k.token.text && !k.cert.path && !k.namespace);
	kubeconfig_clear(&k);
}
END_TEST

/* Each YAML is a JSON as well. */
START_TEST(a_json_one)
{
	struct kubeconfig k =
		reads("{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://a\"}}],"
		      "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"t\"}}],"
		      "\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\","
		      "\"user\":\"u\"}}],\"current-context\":\"x\"}",
		      &here);

	ck_assert_str_eq(k.token.text, "t");
	kubeconfig_clear(&k);
}
END_TEST

START_TEST(refused_credentials)
{
	static const struct {
		const char *user, *why;
	} bad[] = {
		{ "exec: {command: aws}", "users[\"u\"].user.exec: a credential plugin" },
		{ "auth-provider: {name: gcp}", "auth-provider: Kubernetes has removed" },
		{ "username: a", "username: Kubernetes has removed passwords" },
		{ "password: a", "ServiceAccount" },
		{ "as: root", "impersonation" },
		{ "client-certificate: a", "belong together" },
		{ "client-key-data: QQ==", "belong together" },
		{ "client-key-data: '*'", "client-key-data: not a text in base64" },
		{ "client-key-data: AAAA", "client-key-data: not a text in base64" },
		{ "token: [a]", "token: not a text" },
	};
	char text[1024];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		(void)snprintf(text, sizeof(text),
			       CLUSTER(GOOD) "users: [{name: u, user: {%s}}]\n" CONTEXT,
			       bad[i].user);
		refuses(text, bad[i].why);
	}
}
END_TEST

START_TEST(refused_clusters)
{
	refuses(CLUSTER("server: a") USER("") CONTEXT, "write it as https://");
	refuses(CLUSTER("server: 'ftp://a'") USER("") CONTEXT, "write it as https://");
	refuses(CLUSTER("server: 'https://'") USER("") CONTEXT, "write it as https://");
	refuses(CLUSTER("server: 'https://u@a'") USER("") CONTEXT, "write it as https://");
	refuses(CLUSTER("") USER("") CONTEXT, "clusters[\"c\"].cluster.server");
	refuses(CLUSTER(GOOD ", insecure-skip-tls-verify: true") USER("") CONTEXT,
		"use certificate-authority");
	refuses(CLUSTER(GOOD ", proxy-url: 'http://p'") USER("") CONTEXT, "proxy-url");
	refuses(CLUSTER(GOOD ", tls-server-name: b") USER("") CONTEXT, "tls-server-name");
	refuses(USER("") CONTEXT, "clusters[\"c\"].cluster: there is none");
	refuses("clusters: 3\n" USER("") CONTEXT, "clusters: not a list");
	refuses(CLUSTER(GOOD) CONTEXT, "users[\"u\"].user: there is none");
	refuses(CLUSTER(GOOD) USER(""), "current-context: there is none");
	refuses(CLUSTER(GOOD) USER("") "current-context: z\n", "contexts[\"z\"].context: there is");
	refuses("contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n",
		"it needs cluster and user");
}
END_TEST

START_TEST(refused_shapes)
{
	refuses("[]", "current-context: there is none");
	refuses(CLUSTER("server: [a]") USER("") CONTEXT, "cluster.server: not a text");
	refuses(CLUSTER("certificate-authority: [a], " GOOD) USER("") CONTEXT,
		"certificate-authority: not a text");
	refuses(CLUSTER(GOOD) USER("tokenFile: {}") CONTEXT, "tokenFile: not a text");
	refuses("current-context: []\n", "current-context: not a text");
	refuses("contexts: [{name: x, context: {cluster: []}}]\ncurrent-context: x\n",
		"cluster: not a text");
	refuses("contexts: [{name: x, context: {cluster: c, user: []}}]\ncurrent-context: x\n",
		"user: not a text");
	refuses("contexts: [{name: x, context: {user: u}}]\ncurrent-context: x\n",
		"it needs cluster and user");
	refuses("contexts: [7, {name: []}, {name: x, context: 7}]\ncurrent-context: x\n",
		"contexts[\"x\"].context: there is none");
	refuses("contexts: [{[a]: b}]\ncurrent-context: x\n", "line 1: a key is not a text");
	refuses("contexts: [{name: \"x\\0y\"}]\ncurrent-context: x\n", "has a NUL character");
	refuses("a: &a [b]\nc: *a\n", "line 2: aliases (*name) are not supported");
	refuses(CLUSTER(GOOD ", insecure-skip-tls-verify: 'no'") USER("") CONTEXT,
		"use certificate-authority");
	refuses(CLUSTER(GOOD) USER("token: 7") CONTEXT, "token: not a text");
}
END_TEST

/* Of two entries with one name the first counts, as for kubectl. */
START_TEST(the_first_entry_of_a_name_counts)
{
	struct kubeconfig k = reads(CLUSTER(GOOD) "users: [{name: u, user: {token: a}}, "
						  "{name: u, user: {token: b}}]\n" CONTEXT,
				    &here);

	ck_assert_str_eq(k.token.text, "a");
	kubeconfig_clear(&k);
}
END_TEST

START_TEST(no_yaml)
{
	auto_free char *deep = calloc(1, 4096);

	refuses("", "current-context");
	refuses("a: [", "kubeconfig: line");
	refuses("\t\xff", "kubeconfig: line");
	memset(deep, '[', 4000);
	refuses(deep, "too many levels");
}
END_TEST

static int read_one(void *arg, struct err *e)
{
	struct kubeconfig k = { 0 };

	(void)arg;
	if (kubeconfig_read(whole, sizeof(whole) - 1, &here, &k, e))
		return -1;
	kubeconfig_clear(&k);
	return 0;
}

START_TEST(no_memory)
{
	ck_assert_str_eq(alloc_fail_each(read_one, NULL), "ok");
}
END_TEST

TEST_PROGRAM("kubeconfig", a_whole_one, a_json_one, refused_credentials, refused_clusters,
	     refused_shapes, the_first_entry_of_a_name_counts, no_yaml, no_memory)
