# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The page is that of a made cluster (cluster.py): conformance/agent has a page of real agents and stores.
# shellcheck disable=SC2154

PROXY=8099

prepare()
{
	mkdir -p "$W" && cd "$W" || exit 2
	"$HERE/proxy.py" $PROXY >"$W/requests" &
	eventually grep -q ready "$W/requests" || exit 2
}
fresh() { rm -rf "$W/evidence" "$W/skip" "$W/run" "$W"/*.html "$W"/*.png "$W"/*.pdf; }

# page_of NAME: $W/page.html of the made cluster
page_of()
{
	mkdir -p "$W/run"
	"$HERE/cluster.py" agent "$W/run/agent.sock" "$1" >"$W/agent" &
	eventually grep -q ready "$W/agent"
	"$HERE/cluster.py" answers "$1" | "$BIN/railctl" --run-dir "$W/run" cluster report - >"$W/page.html" 2>"$W/err" || fail "no page: $(<"$W/err")"
	kill $!
	rm -r "$W/run"
}
# browser ARGUMENT...: its own requests end at the proxy, too
browser()
{
	timeout -s KILL 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking --disable-component-update \
		--disable-sync --hide-scrollbars --window-size=1280,2000 --user-data-dir="$W/profile" --proxy-server=127.0.0.1:$PROXY --proxy-bypass-list='<-loopback>' \
		"$@" 2>"$W/browser.err" || fail "the browser: $(tail -c 600 "$W/browser.err")"
}
# dom FILE: what the browser made of it, in $W/dom
dom() { browser --dump-dom "file://$1" >"$W/dom"; }
# asked_for TEXT: a page asked for it
asked_for() { grep -qF "$1" "$W/requests"; }
# page_requests: of pages, not of the browser itself
page_requests() { grep -v -e ready -e 'google' "$W/requests"; }
# pictures NAME: light, dark, and printed
pictures()
{
	browser --screenshot="$W/light.png" "file://$W/page.html" >/dev/null
	browser --blink-settings=preferredColorScheme=0 --screenshot="$W/dark.png" "file://$W/page.html" >/dev/null
	browser --no-pdf-header-footer --print-to-pdf="$W/print.pdf" "file://$W/page.html" >/dev/null
	[ -z "${PICTURES-}" ] || { mkdir -p "$PICTURES" && for file in light.png dark.png print.pdf; do cp "$W/$file" "$PICTURES/$1-$file"; done; }
	[ -s "$W/light.png" ] && [ -s "$W/dark.png" ] || fail "no picture"
	! cmp -s "$W/light.png" "$W/dark.png" || fail "dark is as light"
	pdftotext "$W/print.pdf" "$W/print.txt" || fail "nothing was printed"
	has "what was printed" "$(<"$W/print.txt")" 'What was not looked at'
	# The edges of paper cut no word, and no column.
	pdftotext -bbox "$W/print.pdf" "$W/words" || fail "no words"
	eq "words at an edge" "$(tr -d '"' <"$W/words" | awk -F '[ =>]+' '$2 == "<page" { wide = $4 } $2 == "<word" && ($4 < 20 || $8 > wide - 20)' | head -n 3)" ""
	grep -o '<th scope=col[^>]*>[^<]*' "$W/page.html" | cut -d '>' -f 2 | sed 's/ link .*//' | sort -u >"$W/columns"
	eq "columns that are not printed" "$(while read -r column; do tr '\n' ' ' <"$W/print.txt" | grep -qF "$column" || echo "$column"; done <"$W/columns" | xargs)" ""
}
# rows_are NAME: each node of the cluster has a row in $W/dom
rows_are()
{
	grep -o '<th scope="row"><b class.*</th>' "$W/dom" | grep -o '<bdi>[^<]*</bdi>' | sed 's/<[^>]*>//g' | sort >"$W/rows"
	"$HERE/cluster.py" names "$1" | sort >"$W/names"
	eq "nodes without a row" "$(comm -13 "$W/rows" "$W/names" | xargs)" ""
}
# nothing_from_elsewhere: no element of $W/dom loads, links or runs something
nothing_from_elsewhere()
{
	eq "elements that load or run something" "$(grep -oiE '<(script|img|iframe|object|embed|link|a|form|base|audio|video)[ >]' "$W/dom" | sort -u | xargs)" ""
	eq "attributes that do" "$(grep -oiE '<[a-z]+( [a-z-]+=("[^"]*"|[^ >"]*))* (on[a-z]+|href|src|srcset|action)=' "$W/dom" | head -n 3)" ""
	eq "requests" "$(page_requests)" ""
}
# width_is_at_most PIXELS: a copy without the policy measures itself
width_is_at_most()
{
	sed '/Content-Security-Policy/,/>$/d; s|</body>|<script>document.title = document.documentElement.scrollWidth</script></body>|' "$W/page.html" >"$W/measured.html"
	dom "$W/measured.html"
	local width
	width=$(grep -o '<title>[0-9]*</title>' "$W/dom" | tr -cd '0-9')
	[ -n "$width" ] && [ "$width" -le "$1" ] || fail "the page is '$width' pixels wide"
}

# A page that loads something is seen; our page's policy stops it.
test_the_policy_stops_a_page_that_is_not_ours()
{
	page_of crossed
	local bad='<img src="http://192.0.2.1/stopped"><script>document.title = "ran"</script></body>'
	sed "s|</body>|$bad|" "$W/page.html" >"$W/stopped.html"
	sed "/Content-Security-Policy/,/>\$/d; s|</body>|${bad/stopped/open}|" "$W/page.html" >"$W/open.html"
	dom "$W/stopped.html"
	has "a script did not run" "$(<"$W/dom")" '<title>Rails of the cluster</title>'
	dom "$W/open.html"
	has "without the policy it runs" "$(<"$W/dom")" '<title>ran</title>'
	eventually asked_for 'http://192.0.2.1/open'
	! asked_for 'http://192.0.2.1/stopped' || fail "a picture from elsewhere was asked for"
	sed -i '/192.0.2.1.open/d' "$W/requests"
}

test_a_crossed_cable_is_seen()
{
	page_of crossed
	dom "$W/page.html"
	rows_are crossed
	nothing_from_elsewhere
	has "the finding" "$(<"$W/dom")" 'swap the cables of eth1 and eth2'
	eq "the outlier" "$(grep -c '<tr class="outlier">' "$W/dom")" 1
	eq "wrong rails" "$(grep '<tr class="outlier">' "$W/dom" | grep -o '<td class="bad"[^>]*><b>[^<]*</b>' | grep -c '<b>✗</b>')" 2
	pictures crossed
	width_is_at_most 1280
}
test_40_nodes_have_a_row_each()
{
	page_of 40
	dom "$W/page.html"
	rows_are 40
	nothing_from_elsewhere
	has "an unknown rail is not green" "$(<"$W/dom")" '<td class="unk"><b>?</b>'
	pictures 40
	has "printed" "$(<"$W/print.txt")" 'gpu-40'
	width_is_at_most 1280
}
test_hostile_texts_stay_texts()
{
	page_of hostile
	dom "$W/page.html"
	nothing_from_elsewhere
	has "its title" "$(<"$W/dom")" '<title>Rails of the cluster</title>'
	has "a text" "$(<"$W/dom")" '&lt;script&gt;document.title="ran"&lt;/script&gt;'
	hasnt "the direction of writing" "$(<"$W/dom")" $'\u202e'
	pictures hostile
	width_is_at_most 1280
}
test_64_links_of_a_node_do_not_widen_the_page()
{
	page_of wide
	dom "$W/page.html"
	rows_are wide
	width_is_at_most 1280
	pictures wide
}
test_large_clusters_have_at_most_2_MB()
{
	local n
	for n in 1024 8192; do
		page_of $n
		[ "$(stat -c %s "$W/page.html")" -le 2097152 ] || fail "$n nodes: $(stat -c %s "$W/page.html") bytes"
		dom "$W/page.html"
		nothing_from_elsewhere
		eq "a row a group" "$(grep -c '<tr class="g">' "$W/dom")" $((n / 32 + 1))
		width_is_at_most 1280
	done
	page_of 1024
	pictures 1024
}
