/* SPDX-License-Identifier: Apache-2.0 */
/* config.c: 1.9, configuration, runtimeConfig, args and CNI_ARGS. */
#include "conformance/spec/items.h"

#include <string.h>

static void cni_079(struct t *t)
{
	set(t, "capabilities", "{\"portMappings\":true,\"mac\":true}");
	set(t, "runtimeConfig", "{\"portMappings\":[]}");
	add_and_del(t, "a");
}

static void cni_080(struct t *t)
{
	set(t, "runtimeConfig",
	    "{\"portMappings\":[{\"hostPort\":8080,\"containerPort\":80,\"protocol\":\"tcp\"}],"
	    "\"bandwidth\":{\"ingressRate\":2048,\"ingressBurst\":1600,\"egressRate\":4096,"
	    "\"egressBurst\":1600},"
	    "\"dns\":{\"searches\":[\"example.org\"],\"servers\":[\"192.0.2.1\"],\"options\":["
	    "\"ndots:2\"]},"
	    "\"infinibandGUID\":\"24:8a:07:03:00:8d:ae:2e\",\"deviceID\":\"0000:04:00.5\","
	    "\"aliases\":[\"a\"],\"cgroupPath\":\"/kubelet/x\",\"CNIDeviceInfoFile\":\"/run/"
	    "k8s.cni.cncf.io/devinfo/x\","
	    "\"io.kubernetes.cri.pod-annotations\":{\"a\":\"b\"}}");
	add_and_del(t, "a");
}

static void cni_081(struct t *t)
{
	set(t, "runtimeConfig", "{\"xUnknownCapability\":{\"a\":[1,2]}}");
	if (!add_and_del(t, "a") || !t->p->mac || t->p->kind != INTERFACE)
		return;
	set(t, "runtimeConfig", "{\"mac\":\"not a MAC\"}");
	refused(t, "ADD", NULL);
}

static void cni_082(struct t *t)
{
	set(t, "runtimeConfig",
	    "{\"bandwidth\":{\"ingressRate\":1000000,\"ingressBurst\":4294967295,"
	    "\"egressRate\":1000000,\"egressBurst\":4294967295}}");
	add_and_del(t, "a");
}

static void cni_083(struct t *t)
{
	const char *request = jstr(t->p->tree, "requestable");

	set(t, "args", "{\"cni\":{\"labels\":[{\"key\":\"app\",\"value\":\"x\"}],\"other\":5}}");
	if (!add_and_del(t, "a") || t->p->kind != IPAM || !*request)
		return;
	/* The same datum in both: CNI_ARGS does not count. */
	set(t, "args", text("{\"cni\":{\"ips\":[\"%s\"]}}", request));
	t->args = text("IgnoreUnknown=1;IP=%s", jstr(t->p->tree, "request"));
	if (!ok(t, "ADD"))
		return;
	expect(t,
	       jlen(t->doc, "ips") == 1 &&
		       strncmp(address_in(t->doc, 0), request, strlen(request)) == 0,
	       "args.cni.ips goes before IP in CNI_ARGS: %s", request);
}

static void has_mac(struct t *t, const char *mac, const char *from)
{
	if (!ok(t, "ADD"))
		return;
	expect(t, strcmp(jstr(link_of(t->ns, t->ifname), "address"), mac) == 0,
	       "the MAC address must be that of %s", from);
	ok(t, "DEL");
}

static void cni_084(struct t *t)
{
	pod(t, "a");
	set(t, "capabilities", "{\"mac\":true}");
	t->args = "IgnoreUnknown=1;MAC=02:00:00:00:00:02";
	has_mac(t, "02:00:00:00:00:02", "CNI_ARGS");
	set(t, "mac", "\"02:00:00:00:00:01\"");
	has_mac(t, "02:00:00:00:00:02", "CNI_ARGS, before mac");
	set(t, "runtimeConfig", "{\"mac\":\"02:00:00:00:00:03\"}");
	has_mac(t, "02:00:00:00:00:03", "runtimeConfig, before CNI_ARGS");
	t->args = NULL;
	unset(t, "runtimeConfig");
	has_mac(t, "02:00:00:00:00:01", "mac");
}

static void accepted(struct t *t, const char *const *args, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		t->args = args[i];
		if (!add_and_del(t, text("p%zu", i)))
			return;
	}
}

static void cni_085(struct t *t)
{
	static const char *const good[] = { "", "IgnoreUnknown=1", "IgnoreUnknown=1;FOO=BAR",
					    "FOO=BAR;IgnoreUnknown=true;A=1" };
	static const char *const odd[] = { "FOO", "FOO=a=b", ";", "=", "A=1;" };

	accepted(t, good, COUNT(good));
	pod(t, "odd");
	for (size_t i = 0; i < COUNT(odd); i++) {
		t->args = odd[i];
		run(t, "ADD");
		if (t->rc)
			is_error(t, NULL);
		t->args = NULL;
		ok(t, "DEL");
	}
}

static void cni_086(struct t *t)
{
	static const char *const ignore[] = { "IgnoreUnknown=1;K8S_POD_NAME=x",
					      "K8S_POD_NAME=x;IgnoreUnknown=1",
					      "K8S_POD_NAME=x;IgnoreUnknown=true",
					      "K8S_POD_NAME=x;IgnoreUnknown=True;UNKNOWN=y" };

	accepted(t, ignore, COUNT(ignore));
}

#define POD_ARGS                                                                                   \
	"K8S_POD_NAMESPACE=default;K8S_POD_NAME=pod-1;K8S_POD_INFRA_CONTAINER_ID=0123abc;"         \
	"K8S_POD_UID=9f1c1c1e-0001-4242-8888-0123456789ab"

static void cni_087(struct t *t)
{
	static const char *const sent[] = {
		POD_ARGS ";IgnoreUnknown=1",
		"IgnoreUnknown=1;" POD_ARGS,
		"IgnoreUnknown=true;" POD_ARGS,
		"K8S_POD_NAME=p;IgnoreUnknown=1;K8S_POD_UID=u;K8S_POD_INFRA_CONTAINER_ID=i",
	};

	accepted(t, sent, COUNT(sent));
}

static void cni_088(struct t *t)
{
	static const char *const lenient[] = { "K8S_POD_NAME=x", "FOO=a=b;IgnoreUnknown=1",
					       "IgnoreUnknown=1;", ";;IgnoreUnknown=1" };

	accepted(t, lenient, COUNT(lenient));
}

static void cni_089(struct t *t)
{
	static const char *const bad[] = { "FOO", "MAC=nonsense", "IP=nonsense", "FOO=a=b",
					   "UNKNOWN=1" };

	for (size_t i = 0; i < COUNT(bad); i++) {
		if (!attach(t, text("p%zu", i)))
			return;
		t->args = bad[i];
		set(t, "runtimeConfig", "{\"mac\":5,\"ips\":[\"nonsense\"],\"bandwidth\":{}}");
		ok(t, "DEL");
		t->args = NULL;
		unset(t, "runtimeConfig");
	}
}

static void cni_090(struct t *t)
{
	pod(t, "a");
	set(t, "ipam", "{\"type\":\"../bin/" FAKE "\"}");
	refused(t, "ADD", NULL);
	expect(t, fake_calls("ADD") == 0, "a type with a path must not be run");
	set(t, "ipam", "{\"type\":\"" WORK "/bin/" FAKE "\"}");
	refused(t, "ADD", NULL);
	expect(t, fake_calls("ADD") == 0, "a type with a path must not be run");
}

static void cni_091(struct t *t)
{
	set(t, "dns",
	    "{\"nameservers\":[\"192.0.2.53\"],\"domain\":\"example.org\","
	    "\"search\":[\"example.org\"],\"options\":[\"ndots:2\"]}");
	if (!attach(t, "a"))
		return;
	expect(t, cJSON_Compare(jget(t->doc, "dns"), jget(t->conf, "dns"), true),
	       "dns of the configuration must be in the result");
}

static void cni_092(struct t *t)
{
	if (!attach(t, "a"))
		return;
	set_prev(t);
	jdel(t->conf, "prevResult>cniVersion");
	ok(t, "CHECK");
	if (!supports(t, "1.1.0"))
		return;
	use_version(t, "1.1.0");
	set(t, "prevResult>cniVersion", "\"1.0.0\"");
	ok(t, "CHECK");
}

const struct item items_config[] = {
	{ 79,
	  MUST,
	  ANY,
	  NEED_ADD,
	  "the key capabilities in a configuration is not an error",
	  cni_079,
	  NULL,
	  { "ADD?in=capabilities: error=2" } },
	{ 80,
	  CONV,
	  INTERFACE | IPAM,
	  NEED_ADD,
	  "runtimeConfig may have capabilities that this plugin does not use",
	  cni_080,
	  NULL,
	  { "ADD?in=portMappings: error=2", "ADD?in=cgroupPath: error=6" } },
	{ 81,
	  CONV,
	  ANY,
	  NEED_ADD,
	  "unknown keys of runtimeConfig are ignored; a bad value of a known key is an error",
	  cni_081,
	  NULL,
	  { "ADD?in=xUnknown: error=2", "ADD: unconf=runtimeConfig" } },
	{ 82,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "a bandwidth burst of 4294967295 is accepted",
	  cni_082,
	  NULL,
	  { "ADD?in=4294967295: error=6" } },
	{ 83,
	  CONV,
	  ANY,
	  NEED_ADD,
	  "unknown keys of args.cni are ignored; known keys win over CNI_ARGS",
	  cni_083,
	  NULL,
	  { "ADD?in=labels: error=7" } },
	{ 84,
	  LIB,
	  INTERFACE,
	  NEED_ADD | NEED_MAC,
	  "the MAC of runtimeConfig wins over CNI_ARGS, and CNI_ARGS over the configuration",
	  cni_084,
	  NULL,
	  { "ADD: unconf=runtimeConfig", "ADD: unsetenv=CNI_ARGS", "ADD: unconf=mac" } },
	{ 85,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "CNI_ARGS has KEY=VALUE pairs; other text is refused or ignored",
	  cni_085,
	  NULL,
	  { "ADD?env=CNI_ARGS=IgnoreUnknown=1;FOO=BAR: error=4", "ADD?env=CNI_ARGS=FOO: crash" } },
	{ 86,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "IgnoreUnknown works at any place in CNI_ARGS",
	  cni_086,
	  NULL,
	  { "ADD?env=CNI_ARGS=K8S_POD_NAME=x;IgnoreUnknown=true: error=4" } },
	{ 87,
	  LIB,
	  ANY,
	  NEED_ADD,
	  "CNI_ARGS in the form that runtimes send is accepted",
	  cni_087,
	  NULL,
	  { "ADD?env=CNI_ARGS: error=4" } },
	{ 88,
	  DES,
	  ANY,
	  NEED_ADD,
	  "unknown keys and small mistakes in CNI_ARGS are not errors",
	  cni_088,
	  NULL,
	  { "ADD?env=CNI_ARGS=K8S_POD_NAME=x: error=999",
	    "ADD?env=CNI_ARGS=IgnoreUnknown=1;: error=999" } },
	{ 89,
	  DES,
	  ANY,
	  NEED_ADD,
	  "DEL does not fail because of CNI_ARGS or runtimeConfig",
	  cni_089,
	  NULL,
	  { "DEL?env=CNI_ARGS=UNKNOWN=1: error=4", "DEL?in=nonsense: error=7" } },
	{ 90,
	  MUST,
	  INTERFACE,
	  0,
	  "ipam.type is a name, not a path",
	  cni_090,
	  NULL,
	  { "ADD?in=../bin: conf=ipam>type=\"" FAKE "\"" } },
	{ 91,
	  SHOULD,
	  INTERFACE,
	  NEED_ADD,
	  "the result has the dns of the configuration",
	  cni_091,
	  NULL,
	  { "ADD: del=dns", "ADD: set=dns>domain=\"other\"" } },
	{ 92,
	  MUST,
	  INTERFACE | META,
	  NEED_ADD | NEED_CHECK,
	  "prevResult may have no version, or 1.0.0 under 1.1.0",
	  cni_092,
	  NULL,
	  { "CHECK?in=\"1.0.0\": error=6", "CHECK: conf=prevResult={}" } },
};
const size_t n_items_config = COUNT(items_config);
