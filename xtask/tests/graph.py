"""Reads the exported link graph with NetworkX and compares its three forms.

    python3 graph.py LINKS.graphml EDGES.tsv WEBGRAPH_BASE

Prints one line per problem and exits with 1 when there is any.
"""

import sys

import networkx


def main():
    graphml, edges, base = sys.argv[1:4]
    graph = networkx.read_graphml(graphml)
    problems = []
    if not graph.is_directed() or graph.is_multigraph():
        problems.append(f"{type(graph).__name__}: each pair should stand there once, directed")
    urls = {node: data["url"] for node, data in graph.nodes(data=True)}
    known = set(urls.values())
    from_graphml = {
        (urls[source], urls[target]): (data["weight"], data.get("words", ""))
        for source, target, data in graph.edges(data=True)
    }
    from_list = {}
    with open(edges, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            source, target, count, words = line.rstrip("\n").split("\t")
            if target in known:
                from_list[source, target] = (float(count), words)
    if from_graphml != from_list:
        problems.append(f"GraphML has {len(from_graphml)} edges, the list {len(from_list)}")
    with open(f"{base}.urls", encoding="utf-8") as lines:
        names = lines.read().splitlines()
    with open(f"{base}.graph-txt", encoding="ascii") as lines:
        count = int(next(lines))
        rows = [[int(word) for word in line.split()] for line in lines]
    if not count == len(names) == len(rows) == len(known):
        problems.append(f"{count} nodes, {len(names)} names, {len(rows)} lines, {len(known)} known")
    if any(row != sorted(set(row)) for row in rows):
        problems.append("successors do not rise")
    from_text = {(names[n], names[m]) for n, row in enumerate(rows) for m in row}
    if from_text != set(from_list):
        problems.append(f"WebGraph has {len(from_text)} edges, the list {len(from_list)}")
    print(f"{len(known)} nodes, {len(from_list)} edges")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
