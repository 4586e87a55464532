// The small models of the teaching documents.
#pragma once

#include "sextant/lessons/attention_block.h"
#include "sextant/lessons/attention_steps.h"
#include "sextant/lessons/heads.h"
#include "sextant/lessons/last_word_sum.h"
#include "sextant/lessons/named_table.h"
#include "sextant/lessons/order_difference.h"
#include "sextant/lessons/order_lab.h"
#include "sextant/lessons/position_effect.h"
#include "sextant/lessons/recommendation.h"
#include "sextant/lessons/sentence_attention.h"
#include "sextant/lessons/similarity.h"
#include "sextant/lessons/vector_attention.h"
#include "sextant/lessons/word_arithmetic.h"
