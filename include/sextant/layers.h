// Layers: embeddings, projections, attention, feed-forward blocks and stacks, with gradients.
#pragma once

#include "sextant/layers/activation.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/layers/attention_layer.h"
#include "sextant/layers/embedding.h"
#include "sextant/layers/feed_forward.h"
#include "sextant/layers/linear.h"
#include "sextant/layers/norm.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/pointer.h"
#include "sextant/layers/position_scheme.h"
#include "sextant/layers/position_tables.h"
#include "sextant/layers/scheme_positions.h"
#include "sextant/layers/stack_decoder.h"
#include "sextant/layers/token_loss.h"
#include "sextant/layers/transformer_stack.h"
