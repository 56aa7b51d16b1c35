# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# seconds: 80
# masters: VLANs and bonds that the first pod makes and the last one removes: the black-box tests of "master" on demand.
# CASES: which of them. QUICK=1: each third one.
modprobe bonding max_bonds=0
modprobe -a 8021q macvlan ipvlan bridge
[ -z "${QUICK-}" ] || export EVERY=3
# shellcheck disable=SC2086 # words
HELPERS=$HELPERS/attach exec conformance/attach/run.sh "$BIN" ${CASES:-ondemand}
