# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: waiting. Sourced by run.sh, before ../harness/cases.sh.
#
# Nothing is slept for: what is waited for is a condition, and LONG is how long a busy machine may take over it, in seconds.

LONG=${LONG:-180}
PATIENCE=$LONG EVIDENCE_LINES=45
