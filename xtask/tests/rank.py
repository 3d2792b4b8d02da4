"""Compares ranks with those of NetworkX on the exported link graph.

    python3 rank.py BINARY DATA LINKS.graphml [--no-harmonic]

A link counts once, however often it stands on a page, so the weights of the export are left out.
Prints one line per problem and exits with 1 when there is any; the last line is a summary.
"""

import json
import subprocess
import sys

import networkx


def top(binary, data, by):
    command = [binary, "--data", data, "--format", "json", "top", "--by", by, "--limit", "1000000000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def pagerank(graph):
    """NetworkX's own, whether or not there is a SciPy to compute with."""
    options = {"alpha": 0.85, "tol": 1e-12, "max_iter": 1000}
    try:
        return networkx.pagerank(graph, **options)
    except ImportError:
        from networkx.algorithms.link_analysis import pagerank_alg

        return pagerank_alg._pagerank_python(graph, **options)


def main():
    binary, data, graphml, *flags = sys.argv[1:]
    exported = networkx.read_graphml(graphml)
    urls = {about["url"]: node for node, about in exported.nodes(data=True)}
    graph = networkx.DiGraph()
    graph.add_nodes_from(exported)
    graph.add_edges_from(exported.edges())
    wanted = pagerank(graph)
    problems, rows = [], top(binary, data, "rank")
    if {row["url"] for row in rows} != set(urls):
        problems.append(f"{len(rows)} URLs have a rank, {len(urls)} are exported")
    if any(a["rank"] < b["rank"] for a, b in zip(rows, rows[1:])):
        problems.append("the ranks do not fall")
    if abs(sum(row["rank"] for row in rows) - 1) > 1e-9:
        problems.append("the ranks do not add up to one")
    off = 0
    for row in rows:
        if row["url"] in urls:
            node = urls[row["url"]]
            off = max(off, abs(row["rank"] - wanted[node]))
            if row["backlinks"] != graph.in_degree(node):
                problems.append(f"{row['url']}: {row['backlinks']} back-links")
    if off > 1e-6:
        problems.append(f"a rank is off by {off}")
    near = None
    if "--no-harmonic" not in flags:
        wanted = networkx.harmonic_centrality(graph)
        rows = top(binary, data, "harmonic")
        near = max(abs(row["harmonic"] - wanted[urls[row["url"]]]) for row in rows)
        if near > 1e-6 or len(rows) != len(urls):
            problems.append(f"a harmonic centrality is off by {near}")
    for problem in problems[:20]:
        print(problem)
    size = {"nodes": graph.number_of_nodes(), "edges": graph.number_of_edges()}
    print(json.dumps({**size, "off": off, "harmonic_off": near}))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
