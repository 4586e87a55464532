// Defines SEXTANT_LIFETIME_BOUND. After a member function it says that the result must not outlive
// the object. Clang warns if it does (-Wdangling); other compilers do not check.
#pragma once

#if defined(__clang__)
#define SEXTANT_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define SEXTANT_LIFETIME_BOUND
#endif
