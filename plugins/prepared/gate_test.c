/* SPDX-License-Identifier: Apache-2.0 */
/* gate_test.c: what the hook reads of a container, and to which pod a cgroup belongs. */
#include "lib/testing/testing.h"
#include "plugins/prepared/gate.h"

#define UID "0b8d1c9e-7f0a-4c5e-9d77-2f1f6c1f0a11"
#define LOW "0b8d1c9e_7f0a_4c5e_9d77_2f1f6c1f0a11"

START_TEST(the_cgroup_of_a_pod_is_known_in_both_spellings)
{
	static const char *const of_pod[] = {
		"0::/kubepods/burstable/pod" UID "/c1\n",
		"12:pids:/kubepods/pod" UID "/c1\n0::/\n",
		"3:cpu:/\n0::/kubepods.slice/kubepods-pod" LOW ".slice/cri-containerd-1.scope\n",
		"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" LOW
		".slice/crio-1.scope",
		"0::/kubelet.slice/kubelet-kubepods-besteffort-pod" LOW ".slice",
	};
	static const char *const of_others[] = {
		"",
		"0::/\n",
		"0::/kubepods/pod" UID "x/c1\n",
		"0::/kubepods/xpod" UID "/c1\n",
		"0::/kubepods/x-pod" UID "/c1\n",
		"0::/kubepods/" UID "/c1\n",
		"0::/kubepods/pod" LOW "/c1\n",
		"0::/kubepods.slice/kubepods-pod" UID ".slice/c1\n",
		"0::/kubepods.slice/kubepodspod" LOW ".slice/c1\n",
		"0::/kubepods.slice/kubepods-pod" LOW ".slice.slice/c1\n",
		"0::/kubepods.slice/kubepods-pod0b8d.slice/c1\n",
		"0::/.slice/pod\n",
	};

	char uid[64];

	for (size_t i = 0; i < ARRAY_SIZE(of_pod); i++) {
		ck_assert_msg(gate_is_in_pod(of_pod[i], UID), "%s", of_pod[i]);
		ck_assert_msg(gate_pod_of(of_pod[i], uid) && !strcmp(uid, UID), "%s", of_pod[i]);
	}
	/* A kubelet in a pod: the inner one counts. */
	ck_assert(gate_pod_of("0::/kubepods/pod1/c1/kubelet/kubepods/pod2/c2\n", uid));
	ck_assert_str_eq(uid, "2");
	ck_assert(!gate_pod_of("0::/kubepods.slice/kubepods-burstable.slice\n1:/:/pod\n", uid));
	for (size_t i = 0; i < ARRAY_SIZE(of_others); i++)
		ck_assert_msg(!gate_is_in_pod(of_others[i], UID), "%s", of_others[i]);
}
END_TEST

START_TEST(the_state_of_a_container_is_read)
{
	static const char good[] =
		"{\"ociVersion\":\"1.0.2\",\"id\":\"c1\",\"status\":\"creating\","
		"\"pid\":4711,\"bundle\":\"/run/c1\",\"annotations\":{}}";
	static const char *const bad[] = {
		"",
		"{}",
		"{\"pid\":0,\"bundle\":\"/b\"}",
		"{\"pid\":4711}",
		"{\"pid\":-1,\"bundle\":\"/b\"}",
		"{\"pid\":4711,\"bundle\":\"\"}",
	};
	struct gate_state s;
	struct err e;

	ck_assert_int_eq(gate_state_decode(good, strlen(good), &s, &e), 0);
	ck_assert_int_eq(s.pid, 4711);
	ck_assert_str_eq(s.bundle, "/run/c1");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(gate_state_decode(bad[i], strlen(bad[i]), &s, &e), -1);
		ck_assert_int_eq(e.code, ERR_DECODE);
	}
}
END_TEST

START_TEST(the_runtime_names_the_pod)
{
	static const struct {
		const char *config, *ns, *name;
	} all[] = {
		{ "{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"p\","
		  "\"io.kubernetes.cri.sandbox-namespace\":\"n\"}}",
		  "n", "p" },
		{ "{\"annotations\":{\"io.kubernetes.pod.name\":\"q\","
		  "\"io.kubernetes.pod.namespace\":\"n\"}}",
		  "n", "q" },
		{ "{\"annotations\":{\"io.kubernetes.pod.name\":\"a b\","
		  "\"io.kubernetes.pod.namespace\":\"n\"}}",
		  "unknown", UID },
		{ "{}", "unknown", UID },
	};
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_json struct json *config = NULL;
		struct prepared_id pod = { .uid = UID };

		ck_assert_int_eq(
			json_parse(all[i].config, strlen(all[i].config), "test", &config, &e), 0);
		gate_pod_names(config, &pod);
		ck_assert_str_eq(pod.ns, all[i].ns);
		ck_assert_str_eq(pod.name, all[i].name);
	}
}
END_TEST

static const char *netns_of(const char *text, struct json **tree)
{
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", tree, &e), 0);
	return gate_netns_path(*tree);
}

START_TEST(the_network_namespace_is_that_of_the_bundle)
{
	auto_json struct json *a = NULL, *b = NULL, *c = NULL;

	ck_assert_str_eq(netns_of("{\"linux\":{\"namespaces\":[{\"type\":\"pid\",\"path\":\"/p\"},"
				  "{\"type\":\"network\",\"path\":\"/n\"}]}}",
				  &a),
			 "/n");
	ck_assert_ptr_null(netns_of("{\"linux\":{\"namespaces\":[{\"type\":\"network\"}]}}", &b));
	ck_assert_ptr_null(netns_of("{\"linux\":[]}", &c));
}
END_TEST

TEST_PROGRAM("prepared_gate", the_cgroup_of_a_pod_is_known_in_both_spellings,
	     the_state_of_a_container_is_read, the_runtime_names_the_pod,
	     the_network_namespace_is_that_of_the_bundle)
