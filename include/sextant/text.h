// Text: files, sentences, words, vocabularies, sub-words, tokenizers, word vectors and BLEU.
#pragma once

#include "sextant/text/bleu.h"
#include "sextant/text/dates.h"
#include "sextant/text/pairs.h"
#include "sextant/text/segment.h"
#include "sextant/text/subword.h"
#include "sextant/text/tokenizer.h"
#include "sextant/text/vocabulary.h"
#include "sextant/text/word_vectors.h"
