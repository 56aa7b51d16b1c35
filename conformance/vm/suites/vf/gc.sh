# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# gc.sh: entries of lives that are over, and of owners that have gone.
up
vf create --pf "$A" --count 0
vf create --pf "$A" --count 3
addresses
remember
pods a b
check "ADD" add a "$(on "$VA0" '"vlan":7')"
check "ADD" add b "$(on "$VA1")"
no_pods a
check "a dry run" vf_fails "would-be-repaired $VA0: its owner a is gone" repair --dry-run
check "repair" vf repair
check "frees what the dead had" said "repaired $VA0"
check "and leaves the living alone" said "left-alone $VA1: it belongs to container b"
check "DEL" del b "$(on "$VA1")"
check "as before" as_before
echo 0 >"$PA/sriov_numvfs"
echo 1 >"$PA/sriov_numvfs"
check "others in their place: repair" eval 'vf repair && said "3 repaired"'
check "forgets them" is "$(ls /run/railhead/vf)" ""
"$RAILCTL" attachments repair >$W/said
no_pods b
