#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# undo.sh: DEL of the sriov plugin for a device that is not a VF, called as a plugin is.
#
# DEL leaves a device alone that is not a VF, such as the veth of fakesys.sh. So the bench returns the device itself, and
# changes the plugin's state file. FLOOR: the program that moves a device.
set -eu
entry=$(grep -l "\"container\":\"$CNI_CONTAINERID\"" /run/railhead/vf/*)
[[ $(<"$entry") =~ \"netdev\":\{\"name\":\"([^\"]*)\" ]]
FLOOR_DEVICE=${BASH_REMATCH[1]} "$FLOOR"
sed -i 's/,"owner":{[^}]*}//; s/"dirty":[0-9]*/"dirty":0/' "$entry"
rm /run/railhead/attachments/*/"$CNI_CONTAINERID,$CNI_IFNAME"
