// Whether the program is built with the thread sanitizer, which some tests cannot run under.
#pragma once

#define SEXTANT_THREAD_SANITIZER 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef SEXTANT_THREAD_SANITIZER
#define SEXTANT_THREAD_SANITIZER 1
#endif
#elif defined(__SANITIZE_THREAD__)
#undef SEXTANT_THREAD_SANITIZER
#define SEXTANT_THREAD_SANITIZER 1
#endif
