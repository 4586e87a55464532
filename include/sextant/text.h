// Text: sentences, words, vocabularies, sub-words and word vectors.
#pragma once

#include "sextant/text/segment.h"
#include "sextant/text/subword.h"
#include "sextant/text/vocabulary.h"
#include "sextant/text/word_vectors.h"
