"""What bench/encodings compares and computes, on made-up numbers; with PROGRAM, whether every scheme of it is decided on.

    encodings_test.py [PROGRAM]
"""

import copy
import json
import math
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench" / "encodings"))

import cases  # noqa: E402
import chart  # noqa: E402
import page  # noqa: E402
import schemes  # noqa: E402
import tables  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None


def rows_of(test, scheme, *numbers):
    """A row for each seed."""
    if test in cases.TASKS:
        return [{"test": "tasks", "scheme": scheme, "seed": seed, test: {"letters": each}} for seed, each in enumerate(numbers)]
    return [{"test": test, "scheme": scheme, "seed": seed, "sliding": each} for seed, each in enumerate(numbers)]


class Schemes(unittest.TestCase):
    def setUp(self):
        self.known = sorted({name for case in schemes.TRAINED + schemes.EXTENSIONS for name in schemes.names_of(case)} | set(schemes.LEFT_OUT))

    def test_of_the_program_are_all_decided_on(self):
        if PROGRAM:
            self.assertEqual(schemes.undecided([each["name"] for each in json.loads(subprocess.check_output([PROGRAM, "list", "--json"]))]), [])

    def test_that_nobody_decided_on_are_complaints(self):
        self.assertEqual(schemes.undecided(self.known), [])
        self.assertEqual(schemes.undecided([*self.known, "new"]), ["new is neither compared nor left out"])
        self.assertEqual(schemes.undecided([name for name in self.known if name != "alibi"]), ["alibi is not a scheme of the program"])

    def test_have_a_seed_where_they_have_weights(self):
        self.assertEqual(schemes.spec_of("t5:bidirectional=no", 64, {"t5"}, 2), "t5:bidirectional=no:seed=2")
        self.assertEqual(schemes.spec_of("tape:length={trained}", 64, {"t5"}, 2), "tape:length=64")

    def test_are_extended_by_as_much_as_tests_are_longer(self):
        linear, longrope = schemes.EXTENSIONS[0], schemes.EXTENSIONS[-1]
        self.assertEqual(schemes.spec_of(linear, 64, (), 0), "rotary_linear:factor=8")
        self.assertEqual(schemes.spec_of(linear, cases.LONGEST_LINE, (), 0), "rotary_linear:factor=2")
        self.assertIn(":long_factor=1,1,8,8,8,8:", schemes.spec_of(longrope, 64, (), 0))


class Tasks(unittest.TestCase):
    def test_have_prompts_of_letters_that_no_line_has(self):
        lines, prompts = cases.lines_of_tasks()
        self.assertEqual(len(lines), cases.LINES)
        self.assertLessEqual({len(line.partition(">")[0]) - 1 for line in lines}, set(range(1, cases.LONGEST + 1)))
        known = {line[1:].partition(">")[0] for line in lines}
        for count, some in prompts.items():
            self.assertEqual(len(some), len(cases.TASKS) * cases.PROMPTS)
            self.assertTrue(all(len(prompt) == count + 2 and prompt[1:-1] not in known for prompt in some))

    def test_have_their_answers_in_the_lines(self):
        answers = {"C": lambda text: text, "R": lambda text: text[::-1], "S": lambda text: "".join(sorted(text))}
        for line in cases.lines_of_tasks()[0][:100]:
            asked, _, answer = line.partition(">")
            self.assertEqual(answer, answers[asked[0]](asked[1:]))

    def test_are_marked_letter_by_letter_and_as_a_whole(self):
        got = cases.marked(["Cba>", "Cba>", "Rab>", "Sba>", "Sba>"], ["ba", "bb", "", "abc", "ab"])
        self.assertEqual(got, {"copy": (0.75, 0.5), "reverse": (0, 0), "sort": (1, 0.5)})


class Numbers(unittest.TestCase):
    def test_are_means_and_deviations_of_losses(self):
        losses = [math.exp(each) for each in (1, 2, 3)]
        numbers = tables.Numbers({"rows": rows_of("cpp", "alibi", *([loss, None, loss, loss] for loss in losses))})
        first, missing, *_ = numbers.of("cpp", "alibi")
        self.assertAlmostEqual(first[0], 2)
        self.assertAlmostEqual(first[1], 1)  # divided by n - 1
        self.assertEqual((first[2], missing), (3, None))
        self.assertEqual([point[0] for point in numbers.band("cpp", "alibi")], [64, 256, 512])
        self.assertAlmostEqual(numbers.band("cpp", "alibi")[0][3], math.exp(3))

    def test_of_one_seed_have_no_deviation(self):
        numbers = tables.Numbers({"rows": rows_of("sort", "alibi", [1, 0.5, 0.25, 0])})
        self.assertEqual(numbers.of("sort", "alibi")[1], (0.5, 0, 1))

    def test_say_how_many_seeds_they_are_of(self):
        some = rows_of("cpp", "alibi", [1], [1])
        self.assertEqual(tables.Numbers({"rows": some}).seeds(), "2 seeds")
        self.assertEqual(tables.Numbers({"rows": some + rows_of("cpp", "none", [1])}).seeds(), "1 to 2 seeds")
        self.assertEqual(tables.Numbers({"rows": rows_of("cpp", "none", [1])}).seeds(), "1 seed")

    def test_grow_by_the_worst_length(self):
        rows = rows_of("english", "alibi", [10, 11, 12, 10]) + rows_of("cpp", "alibi", [10, 9, 9, None])
        same, infinite = tables.growth(tables.Numbers({"rows": rows}), "alibi")
        self.assertAlmostEqual(same, 1.2)
        self.assertEqual(infinite, math.inf)


class Charts(unittest.TestCase):
    def test_keep_names_apart_and_in_order(self):
        places = chart.spread([10, 11, 12, 95], 13, 0, 100)
        self.assertTrue(all(b - a >= 13 - 1e-9 for a, b in zip(places, places[1:], strict=False)))
        self.assertLessEqual(places[-1], 100)

    def test_have_bands_and_escape_names(self):
        picture = chart.draw("A & B", "", [("one", [("none", [(1, 0.1, 0.2, 0.3), (2, 0.2, 0.3, 0.4)])])], [1, 2])
        self.assertIn("A &amp; B", picture)
        self.assertIn('fill-opacity="0.2"', picture)


class Page(unittest.TestCase):
    def setUp(self):
        self.results = json.loads(page.RESULTS.read_text())

    def test_has_every_scheme(self):
        for test in (*cases.TEXTS, "tasks"):
            self.assertEqual({row["scheme"] for row in self.results["rows"] if row["test"] == test}, set(tables.SCHEMES))

    def test_is_of_these_settings(self):
        for name, value in cases.settings({}).items():
            if name != "sha256":
                self.assertEqual(self.results[name], value)

    def test_and_charts_are_what_the_results_give(self):
        for path, content in page.files(self.results).items():
            self.assertEqual(path.read_text(), content, f"{path.name}: bench/encodings/page.py writes it")

    def test_changes_with_the_results(self):
        changed = copy.deepcopy(self.results)
        next(row for row in changed["rows"] if row["test"] == "cpp")["sliding"][0] *= 2
        self.assertNotEqual(page.files(changed)[page.PAGE], page.PAGE.read_text())


if __name__ == "__main__":
    unittest.main()
