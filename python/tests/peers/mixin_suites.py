"""transformers' own tests of a model, ModelTesterMixin of its source archive, on the families of our tests, with Sextant as "sdpa"."""

import importlib
import sys
import types
import unittest
from functools import partial
from pathlib import Path
from unittest import SkipTest, mock

import torch
import transformers
from tiny_models import FAMILIES
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from sextant.torch import _transformers

SOURCE = Path(sys.prefix) / "transformers-source"  # where `make test-peers` unpacks the archive
# Bases of ModelTesterMixin that the archive does not have, and what they test is not attention.
ABSENT = {"exporters": ("test_export", "ExportTesterMixin"), "generation": ("test_utils", "GenerationTesterMixin")}
LENGTH = 12


class Tester:
    """What the tests ask about the model of a family."""

    is_training = True
    batch_size = 3
    seq_length = encoder_seq_length = decoder_seq_length = key_length = LENGTH

    def __init__(self, family):
        _, config, options, _ = FAMILIES[family]
        # Of T5, whose scores are not divided by sqrt(head_dim), the usual weights: the tests' tolerance is absolute.
        self.make = partial(getattr(transformers, config), **{**options, **({"initializer_factor": 1.0} if family == "t5" else {})})
        made = self.make()
        self.hidden_size, self.num_attention_heads = made.hidden_size, made.num_attention_heads
        self.num_hidden_layers, self.vocab_size = made.num_hidden_layers, made.vocab_size
        self.has_decoder = made.is_encoder_decoder

    def get_config(self):
        return self.make()

    def prepare_config_and_inputs_for_common(self):
        ids = torch.randint(2, self.vocab_size, (self.batch_size, LENGTH), generator=torch.Generator().manual_seed(0))
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        return self.make(), {**inputs, "decoder_input_ids": ids} if self.has_decoder else inputs


def problem(suite, test):
    """What a test complains of, or None; raises SkipTest for one that leaves itself out."""
    found = unittest.TestResult()
    suite(test).run(found)
    if found.skipped:
        raise SkipTest("transformers leaves it out for this model or on a processor")
    return next((text for _, text in found.errors + found.failures), None)


def compare(suite, test):
    ours = mock.Mock(wraps=_transformers.attention_forward)
    with (
        mock.patch.dict(ALL_ATTENTION_FUNCTIONS._global_mapping, {"sdpa": ours}),
        mock.patch.dict(ALL_MASK_ATTENTION_FUNCTIONS._global_mapping, {"sdpa": _transformers.model_mask}),
    ):
        complaint = problem(suite, test)
    if not ours.called:
        raise SkipTest("no attention is computed")
    if complaint is not None:
        if problem(suite, test) is not None:
            raise SkipTest("it fails with transformers' own attention")
        raise AssertionError(complaint.strip().splitlines()[-1])


def cases():
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    sys.path[:0] = [str(SOURCE)]
    for folder, (module, mixin) in ABSENT.items():
        sys.modules[f"tests.{folder}"] = types.ModuleType(f"tests.{folder}")
        sys.modules[f"tests.{folder}.{module}"] = types.SimpleNamespace(**{mixin: type(mixin, (), {})})
    common = importlib.import_module("tests.test_modeling_common").ModelTesterMixin
    for family, (model, *_) in FAMILIES.items():
        members = {"all_model_classes": (getattr(transformers, model),), "model_tester": Tester(family), "is_encoder_decoder": family == "t5"}
        suite = type(family, (common, unittest.TestCase), members)
        for test in unittest.TestLoader().getTestCaseNames(suite):
            yield f"{family}, {test}", partial(compare, suite, test)


NEEDS = "parameterized" if (SOURCE / "tests").exists() else "transformers' source archive"
SUITES = {"transformers, ModelTesterMixin": (NEEDS, cases)}
