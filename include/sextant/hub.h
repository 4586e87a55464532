// Models of the Hugging Face hub as models of this library.
#pragma once

#include "sextant/hub/image_models.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/hub/save_pretrained.h"
#include "sextant/hub/sentence_vectors.h"
