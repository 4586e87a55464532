// Attention over a sequence that the ranks hold in parts. A program that names no type of MPI needs
// no header of it.
#include <sextant/ranks.h>

int main() {
  const sextant::ranks::Session session;
  const sextant::ranks::Communicator& comm = session.world();
  const sextant::ranks::ShardLayout layout(sextant::ranks::Sharding::contiguous, 6, comm.size());
  sextant::Tensor<float> q(sextant::Shape{1, 2, layout.count(comm.rank()), 8}), v(q.shape());
  for (float& x : v.span()) x = static_cast<float>(comm.rank() + 1);
  sextant::Tensor<float> out(q.shape());
  sextant::ranks::attention<float>(comm, q, q, v, out.view(), {},
                                   {.algorithm = sextant::ranks::Algorithm::gather});
  const float mean = static_cast<float>(comm.size() + 1) / 2;  // of all ranks' values
  for (const float x : out.span()) {
    if (comm.size() <= 2 && x != mean) return 1;
  }
  return 0;
}
