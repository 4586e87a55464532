// The operator alone: headers of other components need not be there.
#include <sextant/attention.h>
#include <sextant/core.h>

int main() {
  sextant::Tensor<float> q(sextant::Shape{1, 2, 3, 8}), out(q.shape());
  for (float& x : q.span()) x = 1;
  sextant::attention(q, q, q, out, {.causal = sextant::Causal::top_left});
  for (const float x : out.span()) {
    if (x != 1) return 1;  // the mean of equal values
  }
  return 0;
}
