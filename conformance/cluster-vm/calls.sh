#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# calls.sh: answers one call of machine.sh, as a CGI program of busybox in the guest.
#
# The first line of the body is a command, quoted for a shell; the rest is its input. The answer is its stdout, its
# stderr if it failed, and a last line with its status.
cd "$(</vm/job/tree)" || exit
# shellcheck source=conformance/cluster-vm/node.sh
. conformance/cluster-vm/node.sh
IFS= read -r words
printf 'Content-Type: application/octet-stream\r\n\r\n'
eval "$words" 2>"$W/stderr.$$"
rc=$?
[ $rc = 0 ] || cat "$W/stderr.$$"
rm -f "$W/stderr.$$"
printf '\n%d\n' $rc
