// Every file operation of this program, counted, so that it can fail, or a child can be killed just
// before any of them and half-way through any write.
#pragma once

namespace sextant {

// Ends this process by SIGKILL in place of the n-th operation from now (from 1; 0: never); with
// `half`, a write does its first half before.
void kill_at_operation(long n, bool half);
// The n-th operation from now and all later ones fail with ENOSPC, as on a full disk; but for
// removals. 0: none.
void fail_from_operation(long n);
long operations_done();  // since either was called
// Whether a file may get a name after it was made, as on most file systems.
void allow_links(bool allowed);

}  // namespace sextant
