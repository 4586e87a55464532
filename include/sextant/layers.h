// Layers: embeddings, projections, heads, and the small models of the teaching documents.
#pragma once

#include "sextant/layers/embedding.h"
#include "sextant/layers/heads.h"
#include "sextant/layers/linear.h"
#include "sextant/layers/order_lab.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/sentence_attention.h"
#include "sextant/layers/similarity.h"
