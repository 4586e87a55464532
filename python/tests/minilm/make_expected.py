#!/usr/bin/env python3
"""Writes what transformers computes of all-MiniLM-L6-v2 in float64: expected.json, beside this script.

    make_expected.py FOLDER      the model's folder; needs torch 2.13 and transformers 5.24
"""

import json
import sys
from pathlib import Path

import torch
from sentences import SENTENCES, rounded
from transformers import AutoModel, AutoTokenizer

folder = sys.argv[1]
model, tokenizer = AutoModel.from_pretrained(folder, dtype=torch.float64).eval(), AutoTokenizer.from_pretrained(folder)
vectors, states = [], None
for sentence in SENTENCES:
    with torch.no_grad():
        made = model(**tokenizer(sentence, return_tensors="pt", truncation=True, max_length=256), output_hidden_states=True)
    mean = made.last_hidden_state[0].mean(0)
    vectors.append(mean / mean.norm())
    states = states or made.hidden_states
similarities = torch.stack(vectors) @ torch.stack(vectors).T
json.dump(
    {
        "ids": tokenizer(SENTENCES[0])["input_ids"],
        "states": [rounded(layer[0, :, :8]) for layer in states],  # of the first sentence, the first channels
        "vectors": rounded(torch.stack(vectors)[:, :8]),
        "similarities": rounded(similarities),
    },
    (Path(__file__).parent / "expected.json").open("w"),
)
