/* SPDX-License-Identifier: Apache-2.0 */
/* tell_test.c: Events of refusals and statuses of claims. */
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sys/exec.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/claims/jobs.h"
#include "railheadd/testing/api_server.h"

#define CLAIMS        "/mnt/railhead/claims"
#define REFUSED       "/mnt/railhead/refused/"
#define ID(uid, name) "{\"uid\":\"" uid "\",\"namespace\":\"ns\",\"name\":\"" name "\"}"
#define NETWORK       "{\"name\":\"net\",\"type\":\"rails\",\"kind\":\"macvlan\",\"rails\":\"all\"}"
#define CLAIM                                                                                      \
	"{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\",\"uid\":\"cu\"},\"status\":{"          \
	"\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"railhead.io\"," \
	"\"pool\":\"n1\",\"device\":\"rails\"}],\"config\":[{\"source\":\"FromClass\","            \
	"\"requests\":[],\"opaque\":{\"driver\":\"railhead.io\",\"parameters\":{\"apiVersion\":"   \
	"\"railhead.io/v1alpha1\",\"kind\":\"RailConfig\",\"network\":{\"kind\":\"macvlan\"}}}}]"  \
	"}},\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"pu\"}]}}"

static struct ctx ctx;
static char why[sizeof(((struct err *)0)->msg)];

/* ---- the job ---- */

static int tell_in_child(const void *arg)
{
	return job_tell(arg);
}

static const char *tells(void)
{
	const struct agent_conf_kube kube = { .kubeconfig = "/mnt/kubeconfig" };
	static const struct agent_conf_groups none = { .n = 0 };
	const struct jobs_place place = {
		.ctx = &ctx, .kube = &kube, .node = "n1", .groups = &none
	};
	const struct exec_req req = { .path = "tell",
				      .run = tell_in_child,
				      .arg = &place,
				      .envp = environ,
				      .input = "",
				      .timeout_ms = 60000 };
	struct exec_child child;
	struct exec_result r;
	const void *bytes;
	size_t len;
	struct err e = { .msg = "" };

	ck_assert_msg(!exec_start(&req, &child, &e) && !exec_finish(&child, &r, &e), "%s", e.msg);
	(void)!slow_ended(&(struct slow_answer){ "tell", CHILD_ENDED, r.output, r.len }, &bytes,
			  &len, &e);
	free(r.output);
	memcpy(why, e.msg, sizeof(why));
	return why;
}

static void begin(void)
{
	static const char *const folders[] = { "/mnt/railhead", CLAIMS, CLAIMS "/pu", REFUSED };

	(void)testing_dir();
	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	ctx.run_dir = "/mnt/railhead";
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		ck_assert_int_eq(mkdir(folders[i], 0700), 0);
	(void)api_server_begin();
	testing_file("/mnt/answer", 0600, CLAIM);
}

static void refuse(const char *file, mode_t mode)
{
	testing_file(file, mode,
		     "{\"pod\":" ID("pu", "p") ",\"claim\":" ID(
			     "cu", "c") ",\"code\":13,"
					"\"node\":\"h\",\"message\":\"no rail\",\"hint\":\"\"}");
}

START_TEST(one_refusal_does_not_keep_the_others)
{
	begin();
	refuse(REFUSED "a.json", 0666);
	refuse(REFUSED "b.json", 0600);
	testing_file(REFUSED "c.json", 0600, "{");
	ck_assert_msg(strstr(tells(), "no Event of refusal a.json: ") == why, "%s", why);
	ck_assert_str_eq(api_server_asked(), "POST /apis/events.k8s.io/v1/namespaces/ns/events\n");
	ck_assert(access(REFUSED "a.json", F_OK) == 0);
	ck_assert(access(REFUSED "b.json", F_OK) && access(REFUSED "c.json", F_OK));
}
END_TEST

START_TEST(a_status_is_written_once)
{
	begin();
	testing_file(CLAIMS "/pu/cu.json", 0600,
		     "{\"version\":1,\"pod\":" ID("pu", "p") ",\"claim\":" ID(
			     "cu", "c") ",\"networks\":[" NETWORK "]}");
	ck_assert_str_eq(tells(), "");
	ck_assert_str_eq(api_server_asked(), "");
	testing_file(CLAIMS "/pu/cu.result", 0600,
		     "{\"version\":1,\"network\":\"\",\"sandbox\":\"\",\"ifname\":\"\","
		     "\"netns\":\"/x\",\"results\":[{\"interfaces\":[]}]}");
	ck_assert_str_eq(tells(), "");
	ck_assert_str_eq(api_server_asked(),
			 "GET /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c\n"
			 "PATCH /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status\n");
	ck_assert_str_eq(tells(), "");
	ck_assert_str_eq(api_server_asked(), "");
}
END_TEST

TEST_PROGRAM("tell", one_refusal_does_not_keep_the_others, a_status_is_written_once)
