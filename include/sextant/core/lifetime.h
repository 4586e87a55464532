// SEXTANT_LIFETIME_BOUND after a member function: its result must not outlive the object. Clang
// warns where it does (-Wdangling); other compilers do not look.
#pragma once

#if defined(__clang__)
#define SEXTANT_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define SEXTANT_LIFETIME_BOUND
#endif
