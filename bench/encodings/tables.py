"""The tables and lists of docs/encodings.md: means and deviations over the seeds."""

import math
import statistics

import cases
import schemes

TITLES = {"english": "English", "cpp": "C++"}
LENGTHS = [int(length) for length in cases.LANGUAGE["test-lengths"].split(",")]
LETTERS = list(cases.TEST_LETTERS)
EXTENDED = "rotary, extended"
SCHEMES = {schemes.label_of(case): group for group, some in [*schemes.GROUPS.items(), (EXTENDED, schemes.EXTENSIONS)] for case in some}
LIMITS = 1.02, 1.5  # times the perplexity at the trained length: what counts as the same, and as broken
SOLVED = 0.95  # share of right letters


class Numbers:
    """What the results say of a scheme: mean, deviation and count over the seeds."""

    def __init__(self, results):
        self.rows = {}
        for row in results["rows"]:
            self.rows.setdefault((row["test"], row["scheme"]), []).append(row)

    def seeds(self):
        """How many seeds the rows have: "3 seeds", or "1 to 2 seeds" of a run that is not finished."""
        counts = {len(rows) for rows in self.rows.values()}
        if counts == {1}:
            return "1 seed"
        return f"{' to '.join(str(each) for each in sorted({min(counts), max(counts)}))} seeds"

    def of(self, test, scheme):
        """For each length (mean, deviation, count), or none where there is no number: losses, or shares of right letters of a task."""
        task = test in cases.TASKS
        rows = self.rows.get(("tasks" if task else test, scheme), [])
        found = []
        for place in range(len(LETTERS if task else LENGTHS)):
            values = [row[test]["letters"][place] if task else row["sliding"][place] for row in rows]
            values = [value if task else math.log(value) for value in values if value is not None]
            found.append((statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0, len(values)) if values else None)
        return found

    def band(self, test, scheme):
        """The points of a line with its band: (length or letters, low, middle, high)."""
        task = test in cases.TASKS
        shown = float if task else math.exp
        found = zip(LETTERS if task else LENGTHS, self.of(test, scheme), strict=True)
        return [(x, *(shown(each[0] + step * each[1]) for step in (-1, 0, 1))) for x, each in found if each]


def link(scheme):
    return " + ".join(f"[{name}](schemes/{name}.md)" for name in scheme.split(" + "))


def table(head, rows):
    first, *others = ["| " + " | ".join(line) + " |" for line in [head, *rows]]
    return "\n".join([first, "|" + "---|" * len(head), *others])


def percent(share):
    return f"{100 * share:.0f}"


def deviation(sign, words, each):
    """What follows a mean: nothing where there is one seed."""
    return sign + words if each[2] > 1 else ""


def perplexities(numbers, test):
    """A row for each scheme, in the order of the perplexity at the longest length."""
    rows = []
    for scheme, group in SCHEMES.items():
        first, *others = numbers.of(test, scheme)
        if not first:
            continue
        cells = [f"{math.exp(each[0]):.2f}" + deviation(" ×÷", f"{math.exp(each[1]):.3f}", each) if each else "-" for each in (first, *others)]
        ratio = f"{math.exp(others[-1][0] - first[0]):.2f}" if others[-1] else "-"
        rows.append((others[-1] or (math.inf,), first, [link(scheme), group, *cells, ratio]))
    return table(["scheme", "kind", *map(str, LENGTHS), f"{LENGTHS[-1]} / {LENGTHS[0]}"], [row for *_, row in sorted(rows)])


def shares(numbers, task):
    """A row for each scheme, in the order of the share of right letters over the unseen numbers of letters."""
    rows = []
    for scheme, group in SCHEMES.items():
        found = numbers.of(task, scheme)
        if not all(found):
            continue
        cells = [percent(each[0]) + deviation(" ± ", percent(each[1]), each) for each in found]
        rows.append((-sum(mean for mean, *_ in found[1:]), [link(scheme), group, *cells]))
    return table(["scheme", "kind", *map(str, LETTERS)], [row for *_, row in sorted(rows)])


def summary(numbers):
    rows = []
    for scheme in SCHEMES:
        cells = []
        for test in TITLES:
            first, *_, last = numbers.of(test, scheme)
            cells += [f"{math.exp(first[0]):.1f}" if first else "-", f"{math.exp(last[0] - first[0]):.2f}" if last else "-"]
        cells += [" / ".join(percent(each[0]) if each else "-" for each in numbers.of(task, scheme)) for task in cases.TASKS]
        rows.append([link(scheme), *cells])
    heads = [f"{title}, {what}" for title in TITLES.values() for what in (LENGTHS[0], f"{LENGTHS[-1]} / {LENGTHS[0]}")]
    return table(["scheme", *heads, *cases.TASKS], rows)


def listed(some):
    return ", ".join(f"`{scheme}`" for scheme in some) or "none of them"


def lowest(numbers, place, count=4):
    """The schemes with the lowest perplexities at a length, for both texts."""
    parts = []
    for test, title in TITLES.items():
        found = sorted((numbers.of(test, scheme)[place][0], scheme) for scheme in SCHEMES if numbers.of(test, scheme)[place])
        parts.append(f"{title}: " + ", ".join(f"`{scheme}` {math.exp(loss):.2f}" for loss, scheme in found[:count]))
    return "; ".join(parts)


def growth(numbers, scheme):
    """How many times larger the perplexity is at the worst length than at the trained one, for each text; infinite without a number."""
    found = [numbers.of(test, scheme) for test in TITLES]
    return [math.exp(max(each[0] for each in some) - some[0][0]) if all(some) else math.inf for some in found]


def facts(numbers):
    """What the means say, as a list."""
    same, broken = LIMITS
    tested = [scheme for scheme in SCHEMES if all(all(numbers.of(task, scheme)) for task in cases.TASKS)]
    solved = [scheme for scheme in tested if all(numbers.of(task, scheme)[0][0] >= SOLVED for task in cases.TASKS)]
    lines = [
        f"Lowest perplexity at the trained length, {LENGTHS[0]}. {lowest(numbers, 0)}.",
        f"Lowest perplexity at {LENGTHS[-1]}. {lowest(numbers, -1)}.",
        f"At no length above {same} times their perplexity at {LENGTHS[0]}, in both texts: {listed(s for s in SCHEMES if max(growth(numbers, s)) <= same)}.",
        f"Above {broken} times at some length, in both texts: {listed(s for s in SCHEMES if broken < min(growth(numbers, s)) < math.inf)}.",
        f"At least {percent(SOLVED)} % of the letters right in all tasks, with {LETTERS[0]} letters: {listed(solved)}.",
    ]
    for task in cases.TASKS:
        best = {count: sorted(((numbers.of(task, s)[place][0], s) for s in tested), reverse=True)[:4] for place, count in enumerate(LETTERS)}
        parts = [f"with {count}: " + ", ".join(f"`{scheme}` {percent(share)} %" for share, scheme in best[count]) for count in LETTERS[1:]]
        lines.append(f"Most letters right in {task}, {'; '.join(parts)}.")
    return "\n".join(f"- {line}" for line in lines)
