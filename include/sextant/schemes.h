// Positions: every scheme behind one small interface, and the tables they make.
#pragma once

#include "sextant/schemes/alibi.h"
#include "sextant/schemes/content_term.h"
#include "sextant/schemes/distance_bias.h"
#include "sextant/schemes/identify.h"
#include "sextant/schemes/indexed_bias.h"
#include "sextant/schemes/kerple.h"
#include "sextant/schemes/learned.h"
#include "sextant/schemes/position_table.h"
#include "sextant/schemes/rotary.h"
#include "sextant/schemes/scheme.h"
#include "sextant/schemes/sincos_2d.h"
#include "sextant/schemes/sincos_3d.h"
#include "sextant/schemes/sinusoidal.h"
#include "sextant/schemes/t5.h"
#include "sextant/schemes/timestep.h"
