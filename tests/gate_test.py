"""The gate's verdicts, on made-up times."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))

import gate  # noqa: E402

# Factors of noise, whose median is 1.
NOISE = [1.00, 0.98, 1.02, 1.01, 0.99, 1.03, 0.97, 1.005, 0.995]


def times(factor=1.0, noise=NOISE):
    return [factor * each for each in noise]


def row_of(factor, noise=NOISE, limit=0.03):
    return gate.compare({"case": [1.0] * len(noise)}, {"case": times(factor, noise)}, limit)[0]


class Intervals(unittest.TestCase):
    def test_hold_the_median_with_the_confidence_of_the_binomial_distribution(self):
        # Of n values in order, the first and the last enclose the median with 1 - 2 / 2^n: 6 are enough for 95 %.
        self.assertEqual(gate.interval([6, 5, 4, 3, 2, 1]), (1, 3.5, 6))
        # With 9, one may be left out at each end: 1 - 2 (1 + 9) / 512 = 96.1 %.
        self.assertEqual(gate.interval(range(1, 10)), (2, 5, 8))
        # With 20, five may be: 1 - 2 * 21,700 / 2^20 = 95.9 %.
        self.assertEqual(gate.interval(range(1, 21)), (6, 10.5, 15))

    def test_need_enough_rounds(self):
        with self.assertRaisesRegex(ValueError, "6 rounds or more, got 5"):
            gate.interval([1, 2, 3, 4, 5])


class Verdicts(unittest.TestCase):
    def test_a_loss_beyond_the_limit_and_the_noise_fails(self):
        self.assertTrue(row_of(1.10)["fails"])
        self.assertAlmostEqual(row_of(1.10)["ratio"], 1.10)

    def test_a_loss_within_the_limit_or_the_noise_passes(self):
        self.assertFalse(row_of(1.02)["fails"])
        # 5 % slower, but the interval begins below 3 %: 0.98 * 1.05 = 1.029.
        self.assertFalse(row_of(1.05)["fails"])
        self.assertFalse(row_of(0.8)["fails"])

    def test_one_disturbed_round_changes_nothing(self):
        disturbed = [*NOISE[:8], 9.0]
        self.assertFalse(row_of(1.0, disturbed)["fails"])
        self.assertTrue(row_of(1.10, [*NOISE[:8], 0.1])["fails"])

    def test_rounds_are_compared_in_pairs(self):
        # A machine that becomes slower and slower: both builds alike.
        slower = [1.5**n for n in range(8)]
        row = gate.compare({"case": slower}, {"case": [1.01 * each for each in slower]}, 0.03)[0]
        self.assertAlmostEqual(row["low"], 1.01)
        self.assertFalse(row["fails"])

    def test_cases_of_one_side_are_left_out(self):
        rows = gate.compare({"a": times(), "b": times()}, {"b": times(), "c": times()}, 0.03)
        self.assertEqual([row["case"] for row in rows], ["b"])

    def test_the_table_names_losses_and_gains(self):
        rows = gate.compare({"a": [1.0] * 9, "b": [1.0] * 9}, {"a": times(1.2), "b": times(0.5)}, 0.03)
        lines = gate.table(rows).splitlines()
        self.assertIn("LOSS", lines[1])
        self.assertIn("gain", lines[2])


class Rounds(unittest.TestCase):
    def test_alternate_which_build_is_first(self):
        order = []

        def measure(folder, _options):
            order.append(folder)
            return {"case": 1.0}

        with contextlib.redirect_stderr(io.StringIO()):
            old, new = gate.rounds("old", "new", mock.Mock(rounds=3), measure)
        self.assertEqual(order, ["old", "new", "new", "old", "old", "new"])
        self.assertEqual((old, new), ({"case": [1.0] * 3}, {"case": [1.0] * 3}))

    def test_read_what_the_programs_write(self):
        self.assertEqual(
            gate.seconds_of_attention([{"case": "causal N=512", "threads": 1, "ms": 2.5}]),
            {"attention causal N=512, 1 threads": 0.0025},
        )
        self.assertEqual(
            gate.seconds_of_training('a note\n{"case": "lm", "threads": 2, "seconds": [0.3, 0.2]}\n'),
            {"training lm, 2 threads": 0.2},
        )


class Main(unittest.TestCase):
    def end(self, factor, *arguments):
        """The exit status with a new build that takes `factor` times as long, and what was printed."""
        measured = {"old": 1.0, "new": factor}
        printed = io.StringIO()
        with (
            mock.patch.object(gate, "build_revision", return_value="old"),
            mock.patch.object(gate, "build", return_value="new"),
            mock.patch.object(gate, "measure", lambda folder, _options: {"case": measured[folder]}),
            mock.patch.object(gate, "rounds", lambda old, new, options: gate_rounds(old, new, options, gate.measure)),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            status = gate.main(["--against", "v1", *arguments])
        return status, printed.getvalue()

    def test_ends_with_1_for_a_loss_alone(self):
        status, text = self.end(1.05)
        self.assertEqual(status, 1)
        self.assertIn("1 of 1 cases lost more than 3 %: case", text)
        self.assertEqual(self.end(1.02)[0], 0)
        self.assertEqual(self.end(0.9)[0], 0)
        self.assertEqual(self.end(1.05, "--limit", "10")[0], 0)

    def test_keeps_results_by_the_family_of_the_processor(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "gate.json"
            path.write_text(json.dumps({"other family": {"case": {"ratio": 2}}}))
            self.end(0.9, "--record", "--results", str(path))
            kept = json.loads(path.read_text())
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [path])
        self.assertEqual(kept.pop("other family"), {"case": {"ratio": 2}})
        [cases] = kept.values()
        self.assertAlmostEqual(cases["case"]["ratio"], 0.9)
        self.assertEqual(cases["case"]["against"], "v1")

    def test_refuses_options_out_of_range(self):
        for arguments, text in (
            (["--rounds", "5"], "must be a number of at least 6, got '5'"),
            (["--limit", "nan"], "must be a number of at least 0, got 'nan'"),
            (["--program", "tables"], "invalid choice"),
        ):
            printed = io.StringIO()
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(printed):
                gate.parse(arguments)
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(text, printed.getvalue())

    def test_says_what_to_do_where_there_is_no_release(self):
        with (
            mock.patch.object(gate.subprocess, "run", return_value=mock.Mock(returncode=128)),
            self.assertRaisesRegex(SystemExit, "no tag vX.Y.Z here; --against must name a revision"),
        ):
            gate.newest_release()


class Processors(unittest.TestCase):
    def test_have_a_family(self):
        intel = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon\n\nvendor_id : other\n"
        self.assertEqual(gate.processor_family(intel), "GenuineIntel family 6 model 85")
        self.assertEqual(gate.processor_family("CPU implementer : 0x41\nCPU part : 0xd40\n"), "arm implementer 0x41 part 0xd40")
        self.assertEqual(gate.processor_family(""), "unknown processor")


gate_rounds = gate.rounds

if __name__ == "__main__":
    unittest.main()
