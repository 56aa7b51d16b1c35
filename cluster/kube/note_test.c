/* SPDX-License-Identifier: Apache-2.0 */
/* note_test.c: Events as an API server takes them, and names that are none. */
#include "cluster/kube/note.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static const struct kube_place place = { "https://a", "agents" };
static const struct cluster_event lost = { .id = 0xabc,
					   .at = INT64_C(1793422800123456789),
					   .node = "n1",
					   .reason = "AddressConflict",
					   .action = "Keep",
					   .note = "two",
					   .warning = true,
					   .namespace = "ns",
					   .pod = "p1",
					   .uid = "u-1" };

static void is(char *got, const char *want)
{
	ck_assert_str_eq(got, want);
	free(got);
}

static char *made(const struct cluster_event *event)
{
	auto_json struct json *n = NULL;
	struct err e;

	return kube_note_json(event, &n, &e) ? strdup(e.msg) : json_print(n, false);
}

/* The event with these texts, as the API server gets it. */
static void is_made(const struct cluster_event *event, const char *namespace, const char *rest)
{
	char want[1024];

	(void)snprintf(want, sizeof(want),
		       "{\"metadata\":{\"name\":\"railhead-0000000000000abc\","
		       "\"namespace\":\"%s\"},\"apiVersion\":\"events.k8s.io/v1\","
		       "\"kind\":\"Event\",\"eventTime\":\"2026-10-31T05:00:00.123456Z\","
		       "\"reportingController\":\"railhead.io/railheadd\","
		       "\"reportingInstance\":\"n1\",\"action\":\"Keep\","
		       "\"reason\":\"AddressConflict\",%s}",
		       namespace, rest);
	is(made(event), want);
}

START_TEST(about_a_pod)
{
	struct cluster_event event = lost;

	is_made(&event, "ns",
		"\"type\":\"Warning\",\"note\":\"two\",\"regarding\":{\"apiVersion\":\"v1\","
		"\"kind\":\"Pod\",\"name\":\"p1\",\"namespace\":\"ns\",\"uid\":\"u-1\"}");
	is(kube_note_url(&place, &event), "https://a/apis/events.k8s.io/v1/namespaces/ns/events");
	event.uid = "";
	auto_free char *text = made(&event);
	ck_assert_ptr_null(strstr(text, "uid"));
}
END_TEST

START_TEST(about_a_pool)
{
	struct cluster_event event = lost;

	event.of_pool = true;
	event.namespace = "";
	is_made(&event, "default",
		"\"type\":\"Warning\",\"note\":\"two\",\"regarding\":{\"apiVersion\":"
		"\"railhead.io/v1alpha1\",\"kind\":\"RailPool\",\"name\":\"p1\","
		"\"uid\":\"u-1\"}");
	is(kube_note_url(&place, &event),
	   "https://a/apis/events.k8s.io/v1/namespaces/default/events");
}
END_TEST

START_TEST(about_the_node)
{
	struct cluster_event event = lost;

	event.pod = event.namespace = event.uid = "";
	event.warning = false;
	is_made(&event, "default",
		"\"type\":\"Normal\",\"note\":\"two\",\"regarding\":{\"apiVersion\":\"v1\","
		"\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"n1\"}");
	is(kube_note_url(&place, &event),
	   "https://a/apis/events.k8s.io/v1/namespaces/default/events");
}
END_TEST

START_TEST(long_and_strange_texts)
{
	struct cluster_event event = lost;
	char note[3000];

	memset(note, 'x', sizeof(note) - 1);
	note[sizeof(note) - 1] = '\0';
	event.note = note;
	auto_free char *text = made(&event);
	ck_assert_uint_lt(strlen(text), 1024 + 500);
	event = lost;
	event.namespace = "a/b";
	is(made(&event), "event: pod \"a/b/p1\" is not a Kubernetes name");
	event = lost;
	event.pod = "../x";
	is(made(&event), "event: pod \"ns/../x\" is not a Kubernetes name");
	event = lost;
	event.namespace = "";
	is(made(&event), "event: pod \"/p1\" is not a Kubernetes name");
}
END_TEST

static int make_one(void *arg, struct err *e)
{
	auto_json struct json *n = NULL;
	auto_free char *url = NULL;

	if (kube_note_json(arg, &n, e))
		return -1;
	url = kube_note_url(&place, arg);
	return url ? 0 : err_nomem(e);
}

START_TEST(no_memory)
{
	struct cluster_event event = lost;

	ck_assert_str_eq(alloc_fail_each(make_one, &event), "ok");
}
END_TEST

TEST_PROGRAM("kube_note", about_a_pod, about_a_pool, about_the_node, long_and_strange_texts,
	     no_memory)
