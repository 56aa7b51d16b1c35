#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Inputs near the largest that are read, of the shapes that cost most: as many as possible of
# everything that is compared, searched or copied. Fuzzers stay far below that size.
#
# usage: tools/fuzz-large.sh DIR
# Writes DIR/TARGET.NAME, each / of TARGET a -, for example DIR/cni-protocol-result.routes.
set -eu
export LC_ALL=C

dir=${1:?usage: fuzz-large.sh DIR}

# N items with commas between them. In an item, @ is its number and ~ an address of 10.0.0.0/8.
list() # FILE HEAD ITEM N TAIL
{
	{
		printf '%b' "$2"
		seq 0 "$(($4 - 1))" | awk '{ i = $1 * 4; print $1, "10." int(i / 65536) "." int(i / 256) % 256 "." i % 256 }' |
			sed "s/\([^ ]*\) \(.*\)/$(printf '%s' "$3" | sed 's,[/&],\\&,g; s/@/\\1/g; s/~/\\2/g')/" | paste -s -d , | tr -d '\n'
		printf '%b' "$5"
	} >"$dir/$1"
}

run() # FILE HEAD PIECE SIZE TAIL: the piece again and again, to that size
{
	{
		printf '%b' "$2"
		yes "$3" | tr -d '\n' | tr '|' '\n' | head -c "$4"
		printf '%b' "$5"
	} >"$dir/$1"
}

list ipam-conf-conf.ranges '{"name":"n","ipam":{"ranges":[[' '{"subnet":"~/30"}' 30000 ']]}}'
list ipam-conf-conf.excludes '{"name":"n","ipam":{"range":"10.0.0.0/8","exclude":[' '"~"' 60000 ']}}'
list ipam-conf-conf.routes '{"name":"n","ipam":{"range":"10.0.0.0/8","routes":[' '{"dst":"~/30"}' 40000 ']}}'
list ipam-conf-conf.keys '{"name":"n","ipam":{' '"k@":0' 70000 ',"pool":"p"}}'
list ipam-conf-pool.ranges '{"subnet":"10.0.0.0/8","ranges":[' '"~"' 60000 ']}'
list ipam-conf-pool.quota '{"subnet":"10.0.0.0/8","quota":{' '"ns@":1' 70000 '}}'
list ipam-alloc-request.ips 'IP=' '~' 80000 '\n{"name":"n"}'
list ipam-lease-index.keys '[' '"~"' 60000 ']'
list cni-protocol-result.routes '\006{"routes":[' '{"dst":"~/30"}' 40000 ']}'
list cni-protocol-result.interfaces '\006{"interfaces":[' '{"name":"@"}' 1024 ']}'
list cni-protocol-result.keys '\006{' '"k@":0' 40000 '}'
list cni-protocol-conf.gc '\003{"cniVersion":"1.1.0","name":"n","cni.dev/valid-attachments":[' \
	'{"containerID":"@","ifname":"i"}' 2000 ']}'
list cni-record-record.keys '{"version":1,"network":"n","container":"c","ifname":"i","plugin":"p","kind":"k","netns":"/n","boot":"b","config":{' \
	'"k@":0' 60000 '}}'
list cni-protocol-delegate.keys '\001{' '"k@":0' 60000 ',"code":7}'
list lib-json-json.keys '{' '"k@":0' 3000 '}'
run cni-protocol-delegate.garbage '\001' 'Segmentation fault|' 1000000 ''
run lib-json-json.brackets '' '[' 1000000 ''
run lib-json-json.escapes '"' '\u00e9' 900000 '"'
run lib-json-json.digits '' '9' 1000000 ''
run ipam-lease-lease.pod '{"state":"leased","since":"0","pod":"' 'x' 1000000 '"}'
run plugins-ipam-resolv.lines '' 'search a b c|options x|' 65536 ''
run cni-protocol-env_args.pairs '' 'K8S_POD_NAME=p;' 130000 '\nK8S_POD_NAME'
run ipam-store-key.escapes 'o/' '%61' 99999 '/i/n'
