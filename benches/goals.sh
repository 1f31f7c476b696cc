#!/usr/bin/env bash
# Times `shardlint check` against other tools on logs of one size, in turns, and prints ratios of medians: only the ratios of
# one run mean anything. Tools that are not installed are left out.
#
#   benches/goals.sh BINARY DECLARATIONS MIXED [SPARSE] [LEGACY]
#
# MIXED    a structured log; MIXED.gz beside it is timed too
# SPARSE   a structured log with few slow queries
# LEGACY   a text log as servers before 4.4 write it
#
# INFLATE  the executable of `cargo bench --no-run --bench inflate`, for what inflating alone takes
# RUNS     how often each is timed (default 3)
# LONG     if set, a million shapes and ten times MIXED through a pipe are timed too, once
set -uo pipefail
export LC_ALL=C
[ $# -ge 3 ] || { sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//'; exit 2; }
binary=$1 declarations=$2 mixed=$3 sparse=${4:-} legacy=${5:-}
runs=${RUNS:-3}
results=$(mktemp)
trap 'rm -f "$results"' EXIT

have() { command -v "$1" > /dev/null 2>&1; }

# name command…: wall seconds, user seconds and peak memory in KiB, added to the results.
timed() {
    local name=$1
    shift
    /usr/bin/time -a -o "$results" -f "$name %e %U %M" "$@" > /dev/null 2>&1 < /dev/null
}

# A command of the shell, timed with all that it starts.
timed_shell() {
    timed "$1" bash -o pipefail -c "$2"
}

check() {
    local name=$1
    shift
    timed "$name" "$binary" check --schema "$declarations" --format json "$@"
}

# A log of so many shapes, each seen once.
shapes() {
    awk -v count="$1" 'BEGIN {
        for (i = 0; i < count; i++)
            printf "{\"t\":{\"$date\":\"2026-11-30T08:%02d:%02d.%03d+00:00\"},\"s\":\"I\",\"c\":\"COMMAND\",\"id\":51803,\"ctx\":\"conn%d\",\"msg\":\"Slow query\",\"attr\":{\"type\":\"command\",\"ns\":\"shop.orders\",\"command\":{\"find\":\"orders\",\"filter\":{\"field%d\":%d,\"other%d\":\"x\"},\"$db\":\"shop\"},\"planSummary\":\"COLLSCAN\",\"keysExamined\":0,\"docsExamined\":%d,\"nreturned\":1,\"durationMillis\":%d}}\n", i / 60000 % 60, i / 1000 % 60, i % 1000, i % 97, i, i, i % 7, i % 5000, i % 900
    }'
}
export -f shapes

# The mean milliseconds of twenty runs of a command.
latency() {
    local name=$1 start run
    shift
    start=$(date +%s%N)
    for ((run = 0; run < 20; run++)); do "$@" > /dev/null 2>&1; done
    printf '%-44s %8.1f ms\n' "$name" "$(((($(date +%s%N) - start)) / 20000))e-3"
}

projection="select attr.ns, attr.queryHash, count(*) from read_ndjson('$mixed', columns={'msg':'varchar', 'attr':'struct(ns varchar, \"queryHash\" varchar, \"durationMillis\" bigint)'}, ignore_errors=true) where msg = 'Slow query' group by all"

for ((run = 0; run < runs; run++)); do
    check mixed-2 --threads 2 "$mixed"
    check mixed-1 --threads 1 "$mixed"
    timed_shell stdin "cat '$mixed' | '$binary' check --schema '$declarations' --format json --threads 2 -"
    have rg && timed rg rg -c '"Slow query"' "$mixed"
    timed wc wc -l "$mixed"
    have jq && timed_shell jq-part "head -c 104857600 '$mixed' | sed '\$d' | jq -c 'select(.msg==\"Slow query\")|.attr.ns'"
    timed_shell mixed-part "head -c 104857600 '$mixed' | sed '\$d' | '$binary' check --schema '$declarations' --format json --threads 2 -"
    have duckdb && timed duckdb duckdb -c "set threads=2; $projection"
    if [ -f "$mixed.gz" ]; then
        check gz --threads 2 "$mixed.gz"
        timed gzip gzip -dc "$mixed.gz"
        [ -n "${INFLATE:-}" ] && timed inflate "$INFLATE" "$mixed.gz"
    fi
    if [ -n "$sparse" ]; then
        check sparse --threads 2 "$sparse"
        have rg && timed rg-sparse rg -c '"Slow query"' "$sparse"
    fi
    if [ -n "$legacy" ]; then
        check legacy --threads 2 "$legacy"
        have mloginfo && have script && timed mloginfo script -qec "mloginfo --no-progressbar --queries '$legacy'" /dev/null
    fi
done

if [ -n "${LONG:-}" ]; then
    timed_shell shapes "shapes 1000000 | '$binary' check --schema '$declarations' --format json --threads 2 -"
    timed_shell pipe-1 "cat '$mixed' | '$binary' check --schema '$declarations' --format json --threads 2 -"
    timed_shell pipe-10 "for i in 1 2 3 4 5 6 7 8 9 10; do cat '$mixed'; done | '$binary' check --schema '$declarations' --format json --threads 2 -"
fi

awk '
function median(name, column,   count, list, i, j, swap) {
    count = seen[name]
    for (i = 1; i <= count; i++) list[i] = value[name, column, i] + 0
    for (i = 2; i <= count; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) { swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}
function ratio(text, a, b) {
    if ((a in seen) && (b in seen) && median(b, 1) > 0) printf "%-44s %8.3f\n", text, median(a, 1) / median(b, 1)
}
!/^Command / {
    if (!($1 in seen)) order[++names] = $1
    i = ++seen[$1]
    for (column = 1; column <= 3; column++) value[$1, column, i] = $(column + 1)
}
END {
    printf "%-14s %8s %8s %8s\n", "", "wall s", "user s", "peak MB"
    for (i = 1; i <= names; i++) printf "%-14s %8.2f %8.2f %8.1f\n", order[i], median(order[i], 1), median(order[i], 2), median(order[i], 3) / 1024
    print ""
    ratio("mixed, 2 threads, against rg -c", "mixed-2", "rg")
    ratio("mixed, 2 threads, against wc -l", "mixed-2", "wc")
    ratio("sparse against rg -c", "sparse", "rg-sparse")
    ratio("against jq (100 MB through a pipe)", "mixed-part", "jq-part")
    ratio("against the projection of duckdb", "mixed-2", "duckdb")
    ratio("legacy against mloginfo", "legacy", "mloginfo")
    ratio("1 thread over 2 threads", "mixed-1", "mixed-2")
    ratio("stdin against file", "stdin", "mixed-2")
    ratio(".gz against gzip -dc", "gz", "gzip")
    ratio(".gz against inflating alone", "gz", "inflate")
    ratio("ten times as much through a pipe", "pipe-10", "pipe-1")
}' "$results"
sample=$(mktemp --suffix=.log)
trap 'rm -f "$results" "$sample"' EXIT
head -50 "$mixed" > "$sample"
latency "check of 50 lines" "$binary" check --schema "$declarations" "$sample"
latency "route of one operation" "$binary" route --shard-key 'shop.orders={customerId: 1}' 'db.orders.find({customerId: 5})'
