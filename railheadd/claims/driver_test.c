/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_test.c: the driver between a kubelet and its children. The kubelet is a client at its
 * sockets; what children do is in files, as in the program they are processes of their own.
 */
#include "railheadd/claims/driver.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cluster/testing/loop.h"
#include "lib/grpc/call.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/testing/api_server.h"
#include "railheadd/testing/grpc_peer.h"

#define KUBELET  "/mnt/k"
#define REGISTER KUBELET "/" DRIVER_REGISTRY "/" DRIVER_REGISTER
#define CALLS    KUBELET "/" DRIVER_FOLDER "/" DRIVER_SOCKET
#define DRA      "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/"
#define ONE      "\0\0\0\0\x0f\x0a\x0d\x0a\2ns\x12\2u1\x1a\3one"
#define TWO      "\0\0\0\0\x0f\x0a\x0d\x0a\2ns\x12\2u2\x1a\3two"
#define REQUEST(path_, body_)                                                                      \
	{                                                                                          \
		.path = (path_), .body = (body_), .n_body = sizeof(body_) - 1                      \
	}

static struct event_base *base;
static struct claims_driver *driver;
static struct ctx ctx;

/* ---- children: each adds a line to /mnt/log; they wait while /mnt/hold is there ---- */

static void note(const char *what, const struct dra_request *r)
{
	char line[128];
	int fd = open("/mnt/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	(void)snprintf(line, sizeof(line), "%s %s\n", what, r->n ? r->of[0].uid : "");
	/* check.h has a descriptor of its own, which is not one of a child. */
	(void)!write(fd, line, strlen(line));
	(void)close(fd);
}

static int prepare(const struct jobs_place *p, const struct dra_request *r)
{
	(void)p;
	note("begin", r);
	while (access("/mnt/hold", F_OK) == 0)
		(void)usleep(1000);
	note("prepared", r);
	return slow_say(NULL, "yes", 3);
}

static int unprepare(const struct jobs_place *p, const struct dra_request *r)
{
	struct err e = { .code = ERR_IO };

	(void)p;
	note("ended", r);
	(void)snprintf(e.msg, sizeof(e.msg), "no disk");
	return access("/mnt/broken", F_OK) == 0 ? slow_say(&e, NULL, 0) : slow_say(NULL, "gone", 4);
}

static int publish(const struct jobs_place *p, const struct jobs_published *last, bool look)
{
	struct jobs_published now = *last;
	char answer[sizeof(now) + 5];

	(void)p;
	note(look ? "look" : "publish", &(struct dra_request){ .n = 0 });
	now.writes = access("/mnt/old-server", F_OK) == 0;
	now.counting = now.writes ? FEATURE_OFF : FEATURE_ON;
	memcpy(answer, &now, sizeof(now));
	(void)snprintf(answer + sizeof(now), 5, "good");
	return slow_say(NULL, answer, sizeof(now) + 4);
}

static int tell(const struct jobs_place *p)
{
	struct err e = { .code = ERR_UNAVAILABLE };

	(void)p;
	note("tell", &(struct dra_request){ .n = 0 });
	return access("/mnt/broken", F_OK) == 0 ? slow_say(&e, NULL, 0) : slow_say(NULL, NULL, 0);
}

/* ---- what happened ---- */

static char *logged(void)
{
	static char text[4096];
	int fd = open("/mnt/log", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	ck_assert(n >= 0);
	text[n] = '\0';
	if (fd >= 0)
		(void)close(fd);
	return text;
}

static bool has_line(const void *want)
{
	return strstr(logged(), want) != NULL;
}
static bool has_lines_twice(const void *want)
{
	const char *at = strstr(logged(), want);

	return at && strstr(at + 1, want);
}

static bool is_there(const void *path)
{
	return access(path, F_OK) == 0;
}

static struct agent_conf_kube kube; /* a kubeconfig: Prepare is that of the program */

static void begin(void)
{
	static const struct agent_conf_groups none = { .n = 0 };

	base = loop_new();
	const struct claims_driver_conf conf = {
		.base = base,
		.kubelet = KUBELET,
		.place = { .ctx = &ctx,
			   .kube = &kube,
			   .node = "n1",
			   .bin = "/mnt/bin",
			   .groups = &none },
		.prepare = kube.kubeconfig ? NULL : prepare,
		.unprepare = unprepare,
		.publish = publish,
		.tell = tell,
	};
	struct err e;

	(void)signal(SIGPIPE, SIG_IGN); /* as in the program */
	ctx.log.fd = -1;
	ctx.run_dir = "/mnt/run";
	ck_assert_msg(claims_driver_new(&conf, &driver, &e) == 0, "%s", e.msg);
}

static void with_kubelet(void)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir(KUBELET, 0755), 0);
	ck_assert_int_eq(mkdir(KUBELET "/" DRIVER_REGISTRY, 0755), 0);
	begin();
}

static void end(void)
{
	claims_driver_free(driver);
	loop_free(base);
}

static void call(struct grpc_peer *p, const struct testing_request *r)
{
	grpc_peer_call(p, r, 0);
}

static void expect(const struct grpc_peer *p, const char *body, size_t len)
{
	loop_until(base, grpc_peer_call_ended, p);
	ck_assert_msg(p->call->n_body == len && memcmp(p->call->body, body, len) == 0, "%s",
		      p->call->headers);
}
#define EXPECT(p, body) expect((p), (body), sizeof(body) - 1)

/* ---- tests ---- */

START_TEST(the_kubelet_registers_it)
{
	static const struct testing_request info = REQUEST(
						    "/pluginregistration.Registration/GetInfo",
						    "\0\0\0\0\0"),
					    status = REQUEST("/pluginregistration.Registration/"
							     "NotifyRegistrationStatus",
							     "\0\0\0\0\2\x08\1");
	struct grpc_peer p;

	with_kubelet();
	loop_until(base, is_there, REGISTER);
	ck_assert(is_there(CALLS));
	grpc_peer_join(&p, base, REGISTER);
	call(&p, &info);
	loop_until(base, grpc_peer_call_ended, &p);
	ck_assert_ptr_nonnull(memmem(p.call->body, p.call->n_body, CALLS, strlen(CALLS)));
	loop_until(base, has_line, "look");
	/* Its slices may have been deleted meanwhile. */
	call(&p, &status);
	EXPECT(&p, "\0\0\0\0\0");
	loop_until(base, has_lines_twice, "look");
	grpc_peer_leave(&p);
	end();
	ck_assert(!is_there(REGISTER) && !is_there(CALLS));
}
END_TEST

START_TEST(both_calls)
{
	static const struct testing_request prepares = REQUEST(DRA "NodePrepareResources", ONE),
					    ends = REQUEST(DRA "NodeUnprepareResources", ONE);
	struct grpc_peer p;

	with_kubelet();
	loop_until(base, is_there, REGISTER);
	grpc_peer_join(&p, base, CALLS);
	call(&p, &prepares);
	EXPECT(&p, "\0\0\0\0\3yes");
	call(&p, &ends);
	EXPECT(&p, "\0\0\0\0\4gone");
	grpc_peer_leave(&p);
	end();
}
END_TEST

#define CLAIM                                                                                      \
	"{\"metadata\":{\"name\":\"one\",\"namespace\":\"ns\",\"uid\":\"u1\"},\"status\":{"        \
	"\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"railhead.io\"," \
	"\"pool\":\"n1\",\"device\":\"rails\"}],\"config\":[{\"source\":\"FromClass\","            \
	"\"requests\":[],\"opaque\":{\"driver\":\"railhead.io\",\"parameters\":{\"apiVersion\":"   \
	"\"railhead.io/v1alpha1\",\"kind\":\"RailConfig\",\"network\":{\"kind\":\"macvlan\"}}}}]"  \
	"}},\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"pu\"}]}}"
#define GET_CLAIM "GET /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/one\n"
#define GET_POD   "GET /api/v1/namespaces/ns/pods/p\n"

/* A pod with the UID of the claim is another one. */
static void is_refused(struct grpc_peer *p)
{
	static const struct testing_request prepares = REQUEST(DRA "NodePrepareResources", ONE);
	static const char why[] = "another pod is named p by now, with the UID u1";

	call(p, &prepares);
	loop_until(base, grpc_peer_call_ended, p);
	ck_assert_msg(memmem(p->call->body, p->call->n_body, why, strlen(why)), "%s",
		      p->call->headers);
}

/* A child reads nothing again, unless it could not be read. */
START_TEST(claim_and_pod_are_read_ahead)
{
	struct grpc_peer p;

	kube.kubeconfig = "/mnt/kubeconfig";
	with_kubelet();
	(void)api_server_begin();
	testing_file("/mnt/answer", 0600, CLAIM);
	loop_until(base, is_there, REGISTER);
	grpc_peer_join(&p, base, CALLS);
	is_refused(&p);
	ck_assert_str_eq(api_server_asked(), GET_CLAIM GET_POD);
	testing_file("/mnt/fail", 0600, "");
	is_refused(&p);
	ck_assert_str_eq(api_server_asked(), GET_CLAIM GET_CLAIM GET_POD);
	is_refused(&p);
	ck_assert_str_eq(api_server_asked(), GET_CLAIM GET_POD);
	grpc_peer_leave(&p);
	end();
}
END_TEST

/* The end of a claim waits for its begin. Another claim does not wait. */
START_TEST(requests_of_one_claim_in_their_order)
{
	static const struct testing_request one = REQUEST(DRA "NodePrepareResources", ONE),
					    end_one = REQUEST(DRA "NodeUnprepareResources", ONE),
					    end_two = REQUEST(DRA "NodeUnprepareResources", TWO);
	struct grpc_peer p, q, r;

	with_kubelet();
	testing_file("/mnt/hold", 0600, "");
	loop_until(base, is_there, REGISTER);
	grpc_peer_join(&p, base, CALLS);
	grpc_peer_join(&q, base, CALLS);
	grpc_peer_join(&r, base, CALLS);
	call(&p, &one);
	loop_until(base, has_line, "begin u1");
	call(&q, &end_one);
	call(&r, &end_two);
	EXPECT(&r, "\0\0\0\0\4gone");
	ck_assert(!has_line("ended u1"));
	/* The kubelet has no more patience; the claim is ended all the same, after it. */
	grpc_peer_cancel(&p);
	ck_assert_int_eq(unlink("/mnt/hold"), 0);
	EXPECT(&q, "\0\0\0\0\4gone");
	ck_assert_ptr_nonnull(strstr(logged(), "prepared u1"));
	ck_assert_ptr_nonnull(strstr(strstr(logged(), "prepared u1"), "ended u1"));
	grpc_peer_leave(&p);
	grpc_peer_leave(&q);
	grpc_peer_leave(&r);
	end();
}
END_TEST

START_TEST(a_child_that_fails_and_a_bad_request)
{
	static const struct testing_request fails = REQUEST(DRA "NodeUnprepareResources", ONE),
					    bad = REQUEST(DRA "NodePrepareResources",
							  "\0\0\0\0\2\x0a\0");
	struct grpc_peer p;

	with_kubelet();
	testing_file("/mnt/broken", 0600, "");
	loop_until(base, is_there, REGISTER);
	grpc_peer_join(&p, base, CALLS);
	call(&p, &fails);
	EXPECT(&p, "");
	ck_assert_ptr_nonnull(strstr(p.call->headers, "no disk"));
	call(&p, &bad);
	EXPECT(&p, "");
	ck_assert_ptr_nonnull(strstr(p.call->headers, "a claim without namespace"));
	grpc_peer_leave(&p);
	end();
}
END_TEST

/* Without a kubelet there is no folder; and somebody removes a socket. */
START_TEST(sockets_come_and_come_again)
{
	(void)testing_dir();
	begin();
	loop_until(base, has_line, "tell");
	ck_assert(!is_there(CALLS) && !has_line("look"));
	ck_assert_int_eq(mkdir(KUBELET, 0755), 0);
	ck_assert_int_eq(mkdir(KUBELET "/" DRIVER_REGISTRY, 0755), 0);
	loop_until(base, is_there, REGISTER);
	loop_until(base, has_line, "look");
	ck_assert_int_eq(unlink(REGISTER), 0);
	loop_until(base, is_there, REGISTER);
	end();
}
END_TEST

static void log_to_file(void)
{
	ctx.log.fd = open("/mnt/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	ctx.log.level = LOG_LEVEL_INFO;
	ctx.log.tag = "test";
}

/* As in a container with a folder /run/railhead of its own. It writes no slices. */
START_TEST(a_second_driver_leaves_the_first_one_alone)
{
	struct claims_driver *first;
	struct event_base *its;

	with_kubelet();
	loop_until(base, has_line, "look");
	loop_until(base, has_line, "tell");
	ck_assert_int_eq(unlink("/mnt/log"), 0);
	first = driver;
	its = base;
	begin();
	log_to_file();
	loop_until(base, has_line, "another process listens there; it is left alone");
	loop_until(base, has_line, "tell");
	ck_assert(!has_line("look"));
	claims_driver_free(driver);
	loop_free(base);
	driver = first;
	base = its;
	ck_assert(is_there(REGISTER) && is_there(CALLS));
	(void)close(ctx.log.fd);
	ctx.log.fd = -1;
	end();
}
END_TEST

/* One that came before the driver, and one that comes later; the folder comes with the first. */
START_TEST(refusals_are_told)
{
	const struct prepared_refusal r = {
		.claim = { .uid = "u1" }, .node = "n", .message = "m", .hint = ""
	};
	struct err e;

	with_kubelet();
	loop_until(base, has_line, "tell");
	ck_assert(!has_lines_twice("tell"));
	ck_assert_msg(prepared_refuse(&ctx, &r, &e) == 0, "%s", e.msg);
	loop_until(base, has_lines_twice, "tell");
	ck_assert_int_eq(unlink("/mnt/log"), 0);
	ck_assert_msg(prepared_refuse(&ctx, &r, &e) == 0, "%s", e.msg);
	loop_until(base, has_line, "tell");
	end();
}
END_TEST

/* Each publication is a message; the kubelet has both versions. */
START_TEST(health_of_the_devices)
{
	static const struct testing_request v1 = REQUEST("/v1.DRAResourceHealth/NodeWatchResources",
							 "\0\0\0\0\0"),
					    alpha = REQUEST("/v1alpha1.DRAResourceHealth/"
							    "NodeWatchResources",
							    "\0\0\0\0\0");
	struct grpc_peer p, q;

	with_kubelet();
	loop_until(base, is_there, REGISTER);
	grpc_peer_join(&p, base, CALLS);
	grpc_peer_call(&p, &v1, 9);
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_mem_eq(p.call->body, "\0\0\0\0\4good", 9);
	/* It came first, and gets the last message at once. */
	grpc_peer_join(&q, base, CALLS);
	grpc_peer_call(&q, &alpha, 9);
	loop_until(base, grpc_peer_has_answer, &q);
	ck_assert(!grpc_peer_call_ended(&q));
	grpc_peer_leave(&p);
	end();
	grpc_peer_leave(&q);
}
END_TEST

START_TEST(an_api_server_without_counters)
{
	with_kubelet();
	testing_file("/mnt/old-server", 0600, "");
	log_to_file();
	loop_until(base, has_line,
		   "1 ResourceSlices were written; the API server has no shared counters");
	(void)close(ctx.log.fd);
	ctx.log.fd = -1;
	end();
}
END_TEST

TEST_PROGRAM("driver", the_kubelet_registers_it, both_calls, requests_of_one_claim_in_their_order,
	     a_child_that_fails_and_a_bad_request, sockets_come_and_come_again,
	     a_second_driver_leaves_the_first_one_alone, refusals_are_told, health_of_the_devices,
	     an_api_server_without_counters, claim_and_pod_are_read_ahead)
