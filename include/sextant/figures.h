// Figures: schemes, attention, losses and extrapolations as pictures, and the report as a page.
#pragma once

#include "sextant/figures/attention_maps.h"
#include "sextant/figures/attention_steps.h"
#include "sextant/figures/clock_hands.h"
#include "sextant/figures/environment.h"
#include "sextant/figures/extrapolation_chart.h"
#include "sextant/figures/figure.h"
#include "sextant/figures/head_roles.h"
#include "sextant/figures/last_word_sum.h"
#include "sextant/figures/loss_chart.h"
#include "sextant/figures/model_attention.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/figures/position_figures.h"
#include "sextant/figures/report.h"
#include "sextant/figures/scheme_array.h"
#include "sextant/figures/scheme_difference.h"
#include "sextant/figures/scheme_profiles.h"
