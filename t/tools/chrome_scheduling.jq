# The slices, states and flows of trencode -t chrome, as scheduling.py slices prints them.
def ns: . * 1000 | round;
([.traceEvents[] | select(.ph == "M" and .name == "thread_name") | {key: "\(.pid) \(.tid)", value: .args.name}] | from_entries) as $names
| ([.traceEvents[] | select(.cat == "trutils.scheduling") | . + {track: $names["\(.pid) \(.tid)"]}]
| map(. + ((.track | capture("^CPU (?<cpu>[0-9]+) ?(?<kind>irq|softirq)?$")) // {}))) as $events
| ($events[] | select(.ph == "X") | (.ts | ns) as $since | ($since + (.dur | ns)) as $until
	| if .args.open then
		if .cpu then ["open", .cpu, $since, .args.tid] else ["open state", .tid, $since, .name] end
	elif .kind then [.kind, .cpu, $since, $until, .args.irq // .args.vec]
	elif .cpu then [(if .args.unseen then "unseen" else "cpu" end), .cpu, $since, $until, .args.tid, .args.end_state]
	else ["state", .tid, $since, $until, .name] end),
($events | map(select(.ph == "s" or .ph == "f")) | group_by(.id)[] | . as [$a, $b]
	| (if $a.ph == "s" then [$a, $b] else [$b, $a] end) as [$s, $f]
	| ["flow", $s.cpu, $s.kind // "cpu", ($s.ts | ns), $f.cpu, ($f.ts | ns)])
| @tsv
