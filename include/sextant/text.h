// Text: files, sentences, words, vocabularies, sub-words, tokenizers and word vectors.
#pragma once

#include "sextant/text/libraries.h"
#include "sextant/text/pairs.h"
#include "sextant/text/pretrained_tokenizer.h"
#include "sextant/text/segment.h"
#include "sextant/text/subword.h"
#include "sextant/text/text_decoder.h"
#include "sextant/text/token_array.h"
#include "sextant/text/token_file.h"
#include "sextant/text/tokenizer.h"
#include "sextant/text/vocabulary.h"
#include "sextant/text/word_text.h"
#include "sextant/text/word_vectors.h"
