# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ipam.sh: pools, leases, verify.
# shellcheck disable=SC2154
