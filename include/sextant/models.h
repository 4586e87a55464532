// Models: language models, translators and image models, their configuration, sampling and beam
// search.
#pragma once

#include "sextant/models/average.h"
#include "sextant/models/beam_search.h"
#include "sextant/models/fill_masks.h"
#include "sextant/models/generate.h"
#include "sextant/models/generate_batch.h"
#include "sextant/models/image_model.h"
#include "sextant/models/language_model.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/model_folder.h"
#include "sextant/models/sampling.h"
#include "sextant/models/text_model.h"
#include "sextant/models/text_stream.h"
#include "sextant/models/text_windows.h"
#include "sextant/models/token_model.h"
#include "sextant/models/transformer_config.h"
#include "sextant/models/translate.h"
#include "sextant/models/translate_lines.h"
#include "sextant/models/translator.h"
