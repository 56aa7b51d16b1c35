/* SPDX-License-Identifier: Apache-2.0 */
/* redact.c: which names have values that may be shown, and a walk over JSON and over text. */
#include "railctl/attachments/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- names ---- */

/*
 * Keys of configurations, and fields of logs, whose values say nothing secret: railhead's, those of
 * CNI and of the kubelet.
 */
static const char shown[] =
	",BUG_REPORT_URL,CNI_COMMAND,CNI_CONTAINERID,CNI_IFNAME,CNI_NETNS,HOME_URL,ID,ID_LIKE"
	",IgnoreUnknown,K8S_POD_INFRA_CONTAINER_ID,K8S_POD_NAME,K8S_POD_NAMESPACE,K8S_POD_UID"
	",NAME,PRETTY_NAME,SUPPORT_URL,UID,VERSION,VERSION_CODENAME,VERSION_ID,acpiIndex"
	",action,adding,additionalInfo,address,addresses,advmss,after,allocated,altnames"
	",apiVersion,apparmor,args,assign,attempt,audit,auditLog,background,bcqueuelen,binDir"
	",blockSize,bond,boot,bounded,bridge,broadcast,bufferBytes,capabilities,charDevices"
	",cidr,cidrs,clusterNetwork,cni,cniPath,cniVersion,cniVersions,cnp,code,component"
	",confDir,config,configList,container,containerID,containerName,context,cooldown,count"
	",critical,dad,dataDir,dataDirect,dataDirs,datastore_type,default,defaultNetworks"
	",delegate,delegates,deleting,desc,detail,details,device,deviceID,deviceInfo"
	",deviceName,deviceNodes,devicePlugin,deviceType,devices,dirty,disableCheck,dns,domain"
	",driver,dscp,dst,duration,ecn,enable_overlapping_ranges,endpoints,err,error,errors"
	",etcd,event,every,except,exclude,excludeTopology,excludes,fence,fieldPath,firstGuid"
	",fixedNamespaces,folder,forceAddress,gateway,gateways,generation,gid,gids,gpus,grace"
	",gro,gso,guid,guidFrom,guidPool,guids,gw,hairpinMode,heartbeat,holder,host"
	",hostnamePattern,hugetlbfs,ibKubernetesEnabled,id,ifindex,ifname,index,index0"
	",infinibandGUID,inode64,intel_iommu,interface,interval,iommu,ip,ipMasq,ipOverIb,ipam"
	",ipamTimeout,ipoib,ips,ipv4MaxSize,ipv6,isDefaultGateway,isGateway,isRdma,kind"
	",kubeconfig,kubelet,kubernetes,labels,lacpRate,latency,left,level,link,linkDown"
	",linkInContainer,linkState,linkType,link_state,listen,logDirs,logFile,logLevel"
	",logToStderr,log_file,log_file_path,log_level,lossy,lower,lowerdir,mac,macPrefix,macs"
	",making,master,matchMaster,maxRate,maxSize,max_tx_rate,membership,message,method"
	",metrics,micros,miimon,min,minRate,min_tx_rate,mntNs,mode,msg,mtu,mtuSize"
	",multusConfigFile,multusNamespace,name,nameservers,namespace,namespaceIsolation"
	",namespaces,near,nearOnly,needVhostNet,netdev,netns,netnsCookie,netnsDev,netnsInode"
	",network,network_name,networks,node,nodeGuid,nodeHold,nodename,nodes,normal,nr_blocks"
	",nr_inodes,numa,object,of,operation,outcome,ownMac,owner,pagesize,partitions,parts"
	",passes,passthru,passwordFile,path,pci,pciID,periodicUpdateInterval,permanentMac,pf"
	",pfMac,pfSide,pfc,pfcStormTimeout,pid,pidFile,pidNs,pkey,plugin,plugins,pod,podIP"
	",podName,podNamespace,podSandboxID,podUID,pods,pool,pools,portGuid,portMappings"
	",prefix,prevResult,priority,priorityBuffers,priorityQueues,probe,profile,program"
	",promiscMode,proto,ptmxmode,qos,queueBandwidth,quota,rail,rails,range,rangeEnd"
	",rangeStart,range_end,range_start,ranges,rc,rdma,rdmaDevice,rdmaHcaMax,rdmaIsolation"
	",rdmaTimeout,reason,release,renumbered,repair,request,res,reserved,resolvConf"
	",resource,resourceList,resourceName,resourcePrefix,resources,restoreFrom,result,ret"
	",rings,roles,routes,routing,runtimeConfig,rx,sandbox,sandboxID,schema,search,select"
	",selectors,serial,share,shared,since,size,slice,snat,socketPath,source,speed,spoofchk"
	",start,state,status,statusCode,statusWhenFull,sticky,stickyKeep,strict,strictCooldown"
	",subnet,subtype,supernets,syndrome,syscall,table,thisNodeOnly,tier,tiers,time"
	",tokenFile,trafficClass,trust,tunePodRoutes,tx,txQueueLen,type,uid,umcast,unit,up"
	",upperdir,uptime,url,user,users,uverbs,vepa,verb,version,veth,vf,vfioPciMode,vhostNet"
	",vlan,vlanId,vlanProto,vlanQoS,vlanTrunk,volumeName,width,workdir,xmitHashPolicy,";

/* They name a file. Anything else under these keys may be the content of one. */
static const char *const paths[] = { "ca", "cert", "key" };

/* Their keys are names that a person chose, such as those of sysctl variables. */
static const char *const maps[] = { "capabilities", "labels", "quota", "sysctl", "tiers" };

/* Parts of names of secrets, in lower case, without "_" and "-". Words of their own: */
static const char *const secret_parts[] = { "password",  "passwd", "passphrase", "pwd",
					    "secret",    "token",  "credential", "privatekey",
					    "accesskey", "apikey", "bearer",     "cookie" };
static const char *const secret_words[] = { "auth", "authorization", "community",
					    "pass", "pin",           "psk" };

static bool in_list(const char *word, const char *const *list, size_t n)
{
	while (n && strcmp(word, list[n - 1]) != 0)
		n--;
	return n > 0;
}

#define IN_LIST(word, list) in_list(word, list, ARRAY_SIZE(list))

static bool is_shown(const char *name, const char *value)
{
	char word[64];
	const int n = snprintf(word, sizeof(word), ",%s,", name);

	if (!strchr(name, ',') && n < (int)sizeof(word) && strstr(shown, word))
		return true;
	if (strncmp(name, "NCCL_", 5) == 0 || strncmp(name, "net.", 4) == 0)
		return true;
	return IN_LIST(name, paths) && *value == '/';
}

/* "wifi_psk", "x-Auth", "apiKey"; the path of a file ("passwordFile") is not a secret. */
static bool is_secret(const char *name)
{
	char joined[128] = "";
	size_t n = 0;

	for (const char *part = name; *part;) {
		const size_t start = n;

		/* A part ends at "_", "-", "." and before a capital letter. */
		do {
			if (isalnum((unsigned char)*part) && n + 1 < sizeof(joined))
				joined[n++] = (char)tolower((unsigned char)*part);
			part++;
		} while (isalnum((unsigned char)*part) &&
			 !(isupper((unsigned char)*part) && islower((unsigned char)part[-1])));
		joined[n] = '\0';
		if (IN_LIST(joined + start, secret_words))
			return true;
	}
	if (n >= 4 && strcmp(joined + n - 4, "file") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(secret_parts); i++) {
		if (strstr(joined, secret_parts[i]))
			return true;
	}
	return false;
}

/* "preshared_key: x", "signingKey: x"; "monkey" is a word. */
static bool redact_is_key(const char *name)
{
	const size_t n = strlen(name);

	return n >= 3 && strcasecmp(name + n - 3, "key") == 0 &&
	       (n == 3 || name[n - 3] == 'K' || !isalnum((unsigned char)name[n - 4]));
}

/* ---- text ---- */

/* A line, or the rest of it. */
struct rest {
	const char *s;
	size_t len;
};

static void redact_show(struct rest *r, size_t n, struct text *out)
{
	text_add_len(out, r->s, n);
	r->s += n;
	r->len -= n;
}

static void hide(struct rest *r, size_t n, struct text *out)
{
	text_add(out, REDACTED);
	r->s += n;
	r->len -= n;
}

static size_t span(const struct rest *r, const char *chars, bool of)
{
	size_t n = 0;

	while (n < r->len && (r->s[n] && strchr(chars, r->s[n])) == of)
		n++;
	return n;
}

/* How long the text is until a quote that has no backslash before it. */
static size_t until_quote(const struct rest *r)
{
	size_t n = 0;

	while (n < r->len && r->s[n] != '"')
		n += r->s[n] == '\\' && n + 1 < r->len ? 2 : 1;
	return n;
}

/* A value after "=" or a scheme. One with brackets or quotes has no end that can be relied on. */
static void hide_value(struct rest *r, struct text *out)
{
	const bool quoted = r->len && *r->s == '"';

	if (quoted)
		redact_show(r, 1, out);
	const size_t n = quoted ? until_quote(r) : span(r, " \t,;&\"", false);
	const struct rest value = { r->s, n };

	hide(r, quoted || span(&value, "([{<'\\", false) == n ? n : r->len, out);
}

/* "user:password@" and "?query" behind "://". */
static void show_url(struct rest *r, struct text *out)
{
	redact_show(r, 3, out);
	const size_t user = span(r, "@/?# \t\"", false);

	if (user < r->len && r->s[user] == '@')
		hide(r, user, out);
	redact_show(r, span(r, "? \t\"", false), out);
	if (r->len && *r->s == '?') {
		redact_show(r, 1, out);
		hide(r, span(r, " \t\"", false), out);
	}
}

/* Between a name and its value: a quote, blanks, and ":" or "=". *sign is 0 if it is neither. */
static size_t to_value(const struct rest *r, char *sign)
{
	size_t n = 0;

	n += n < r->len && r->s[n] == '\\';
	n += n < r->len && (r->s[n] == '"' || r->s[n] == '\'');
	while (n < r->len && (r->s[n] == ' ' || r->s[n] == '\t'))
		n++;
	*sign = '\0';
	if (n < r->len && (r->s[n] == ':' || r->s[n] == '='))
		*sign = r->s[n++];
	while (n < r->len && (r->s[n] == ' ' || r->s[n] == '\t'))
		n++;
	return n;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static void show_word(struct rest *r, enum redact_words words, struct text *out)
{
	char word[128], sign;
	size_t n = 0;

	while (n < r->len && is_word_char(r->s[n]))
		n++;
	const size_t len = n < sizeof(word) ? n : sizeof(word) - 1;

	memcpy(word, r->s, len);
	word[len] = '\0';
	/* A token of JSON Web has no name that tells it. */
	if (n > 20 && strncmp(word, "eyJ", 3) == 0) {
		hide(r, n, out);
		return;
	}
	redact_show(r, n, out);
	const size_t gap = to_value(r, &sign);

	if (gap == r->len)
		return;
	const bool key = words == REDACT_LOG && sign == ':' &&
			 isspace((unsigned char)r->s[gap - 1]) && r->s[gap] != '/' &&
			 redact_is_key(word);

	if (key || (is_secret(word) && (sign || (words == REDACT_LOG && *r->s != '/')))) {
		redact_show(r, gap, out);
		if (*r->s == '"')
			redact_show(r, 1, out);
		hide(r, words == REDACT_LOG ? r->len : until_quote(r), out);
		return;
	}
	const bool scheme = strcasecmp(word, "bearer") == 0 || strcasecmp(word, "basic") == 0;
	const bool field = sign == '=' || (sign && !isspace((unsigned char)*r->s) && *r->s != ':');

	if (sign ? words == REDACT_LOG && field && !is_shown(word, r->s + gap) : scheme) {
		redact_show(r, gap, out);
		hide_value(r, out);
	}
}

static void redact_line(struct rest r, enum redact_words words, struct text *out)
{
	while (r.len) {
		size_t n = 0;

		if (r.len > 3 && strncmp(r.s, "://", 3) == 0) {
			show_url(&r, out);
		} else if (is_word_char(*r.s)) {
			show_word(&r, words, out);
		} else {
			while (n < r.len && !is_word_char(r.s[n]) && (n == 0 || r.s[n] != ':'))
				n++;
			redact_show(&r, n, out);
		}
	}
}

void redact_text(const char *s, size_t len, enum redact_words words, struct text *out)
{
	const char *const end = s + len;
	const char *first = memmem(s, len, "-----END", 8);
	/* Within a private key, from the start as well: its BEGIN may be before the text. */
	bool key = first && !memmem(s, (size_t)(first - s), "-----BEGIN", 10);

	text_add(out, "");
	while (s < end) {
		const char *newline = memchr(s, '\n', (size_t)(end - s));
		const size_t n = (size_t)((newline ? newline : end) - s);
		const bool was = key;

		if (memmem(s, n, "-----BEGIN", 10) && memmem(s, n, "PRIVATE", 7))
			key = true;
		if (memmem(s, n, "-----END", 8))
			key = false;
		if (key || was)
			text_add(out, REDACTED);
		else
			redact_line((struct rest){ s, n }, words, out);
		if (newline)
			text_add_len(out, "\n", 1);
		s += n + (newline != NULL);
	}
}

/* ---- JSON ---- */

static struct json *copy_string(const char *s)
{
	struct json *array = json_new_array(), *copy = NULL;
	auto_text struct text text = { 0 };

	redact_text(s, strlen(s), REDACT_LOG, &text);
	if (array && !text.failed && json_push_str(array, text.s) == 0)
		copy = json_dup(json_first(array));
	json_free(array);
	return copy;
}

static struct json *copy_of(const struct json *n, const char *key);

/*
 * The parser bounds the depth of a tree. key is the items' in an array. any_key: the keys of this
 * object are names that a person chose.
 */
static struct json *copy_items(const struct json *n, const char *key, bool any_key)
{
	const bool object = json_type(n) == JSON_OBJECT;
	struct json *out = object ? json_new_object() : json_new_array();

	json_each (item, n) {
		const char *name = object ? json_key(item) : key;
		struct json *copy =
			!out ? NULL : copy_of(item, any_key && !is_secret(name) ? NULL : name);

		if (!copy || (object ? json_put(out, name, copy) : json_push(out, copy))) {
			json_free(out);
			return NULL;
		}
	}
	return out;
}

/* key NULL: the value may be shown. */
static struct json *copy_of(const struct json *n, const char *key)
{
	const char *text = json_str(n);

	if (json_type(n) == JSON_NULL || json_type(n) == JSON_BOOL)
		return json_dup(n);
	if (key && !is_shown(key, text ? text : "") && !IN_LIST(key, maps))
		return copy_string(REDACTED);
	if (json_type(n) == JSON_OBJECT || json_type(n) == JSON_ARRAY)
		return copy_items(n, key, key && json_type(n) == JSON_OBJECT && IN_LIST(key, maps));
	return text ? copy_string(text) : json_dup(n);
}

struct json *redact(const struct json *conf)
{
	return copy_of(conf, NULL);
}
