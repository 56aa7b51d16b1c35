#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# undo.sh: DEL of the sriov plugin for a device that is no VF, called as a plugin is.
#
# DEL looks at who a device is and leaves alone what is no VF, as the veth of fakesys.sh; so the bench puts it back
# itself, and makes the plugin's books say so. FLOOR: the program that moves.
set -eu
entry=$(grep -l "\"container\":\"$CNI_CONTAINERID\"" /run/railhead/vf/*)
[[ $(<"$entry") =~ \"netdev\":\{\"name\":\"([^\"]*)\" ]]
FLOOR_DEVICE=${BASH_REMATCH[1]} "$FLOOR"
sed -i 's/,"owner":{[^}]*}//; s/"dirty":[0-9]*/"dirty":0/' "$entry"
rm /run/railhead/attachments/*/"$CNI_CONTAINERID,$CNI_IFNAME"
