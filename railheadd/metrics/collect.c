/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c: asks the driver, the repairer and the store of the node, and writes the text. */
#include "railheadd/metrics/collect.h"

#include "ipam/admin/admin.h"
#include "lib/base/version.h"
#include "railheadd/metrics/node_metrics.h"

char *collect_metrics(void *arg, bool open, struct err *e)
{
	const struct collect_from *from = arg;
	auto_json struct json *status = json_new_object(), *pools = NULL;
	struct exposition x = { .open = open };
	char *text;

	if (!status || json_add_str(status, "version", RAILHEAD_VERSION)) {
		(void)err_nomem(e);
		return NULL;
	}
	if (driver_status(from->driver, status, e) || repairer_status(from->repairer, status, e) ||
	    admin_pools(from->ipam, NULL, &pools, e))
		return NULL;
	node_metrics_add(&x, status, pools);
	text = exposition_end(&x);
	if (!text)
		(void)err_nomem(e);
	return text;
}
