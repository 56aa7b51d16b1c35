/* SPDX-License-Identifier: Apache-2.0 */
/* scrape.h: the request of a scrape: GET /metrics, as RFC 9112 writes it. Pure. */
#ifndef RAILHEAD_RAILHEADD_METRICS_SCRAPE_H
#define RAILHEAD_RAILHEADD_METRICS_SCRAPE_H

#include "lib/base/base.h"

#define SCRAPE_REQUEST_MAX 8192 /* bytes, up to the empty line */

struct scrape {
	unsigned status; /* of the answer: 200, 400, 404, 405 */
	bool open;       /* the client reads OpenMetrics */
};

/* scrape_parse - the text of a request up to its empty line, as a string. */
struct scrape scrape_parse(const char *text);

#endif
