/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a topology file: all indices of the machine are valid, and parents come before children. */
#include "lib/testing/fuzz.h"
#include "topo/read/read.h"

#define IN(i, n) ((i) == TOPO_NONE || (i) < (n))

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	FUZZ_OUT(struct topo_machine, m);
	FUZZ_OUT(struct err, e);

	if (!fuzz_ok(topo_read_xml(text, size, &m, &e), &e, &m, sizeof(m)))
		return 0;
	for (size_t i = 0; i < m.n_pci; i++)
		MUST(IN(m.pci[i].parent, i) && m.pci[i].root < m.n_roots);
	for (size_t i = 0; i < m.n_gpus; i++)
		MUST(m.gpu[i].pci < m.n_pci && (i == 0 || m.gpu[i].index >= m.gpu[i - 1].index));
	for (size_t i = 0; i < m.n_hcas; i++) {
		MUST(IN(m.hca[i].pci, m.n_pci) && m.hca[i].card <= i && m.hca[i].n_ports == 1);
		MUST((m.hca[i].pci == TOPO_NONE) == (m.hca[i].cpu != TOPO_NONE));
		MUST(utf8_valid(m.hca[i].name, strlen(m.hca[i].name)) &&
		     m.hca[i].cpu + 1 <= m.n_cpus);
	}
	topo_machine_clear(&m);
	return 0;
}
