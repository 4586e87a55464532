// Patches through a stack, and what is read from its first tokens.
#include "sextant/models/image_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "layers/attention/attend.h"
#include "models/stack_pass.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

constexpr const char* kImages = "image_model.images";

Tensor<float> small_normal(const Shape& shape, FirstWeights weights) {
  return weights.tensor<float>(shape, [](NumpyRandom& random) { return 0.02 * random.normal(); });
}

const ImageConfig& checked_image_config(const ImageConfig& config) {
  check_image_config(config);
  return config;
}

// Contiguous images, and the patches of each.
struct Images {
  Tensor<float> packed;  // empty: `pixels` are those that were given
  View<const float> pixels;
  GridSize grid;
};

Images checked_images(const ImageConfig& c, View<const float> given) {
  if (given.rank() != 4 || given.size(0) < 1 || given.size(1) != c.channels) {
    throw Error(kImages, "must be [images, " + std::to_string(c.channels) +
                             ", height, width] with an image or more, got " +
                             given.shape().to_string());
  }
  Images images{{}, given, c.grid_of(given.size(2), given.size(3), kImages)};
  if (!given.is_contiguous()) {
    images.packed = copy_of(given);
    images.pixels = std::as_const(images.packed).view();
  }
  const auto all = std::span(images.pixels.data(), static_cast<std::size_t>(given.count()));
  const auto bad = std::ranges::find_if(all, [](float x) { return !std::isfinite(x); });
  if (bad == all.end()) return images;
  throw Error(kImages, "must hold finite numbers, got " + std::to_string(*bad) + " in image " +
                           std::to_string((bad - all.begin()) / (all.size() / given.size(0))));
}

// Puts the pixels of each patch into a row: channel by channel, each from top to bottom.
void take_patches(const ImageConfig& c, GridSize grid, const float* image, float* to) {
  const std::int64_t width = grid.columns * c.patch_width;
  const std::int64_t plane = grid.rows * c.patch_height * width;
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const float* corner = image + row * c.patch_height * width + column * c.patch_width;
      for (std::int64_t channel = 0; channel < c.channels; ++channel) {
        for (std::int64_t y = 0; y < c.patch_height; ++y) {
          to = std::copy_n(corner + channel * plane + y * width, c.patch_width, to);
        }
      }
    }
  }
}

// Returns the positions of this grid where it is not that of the config; else nothing.
Tensor<float> resized_positions(const ImageModel& model, GridSize grid) {
  const GridSize own = model.config.grid();
  if (grid.rows == own.rows && grid.columns == own.columns) return {};
  Tensor<double> table(model.positions.shape());
  std::ranges::copy(model.positions.span(), table.data());
  const Tensor<double> resized =
      resize_grid(std::as_const(table).view(),
                  {.old_size = own, .new_size = grid, .prefix = model.config.prefix()});
  auto rounded = Tensor<float>::uninitialized(resized.shape());
  std::ranges::transform(resized.span(), rounded.data(),
                         [](double x) { return static_cast<float>(x); });
  return rounded;
}

// The tokens of all images, one after the other, [images tokens, width], in the pass's memory.
struct PatchTokens {
  std::vector<std::int64_t> segments;
  View<const float> x;

  std::int64_t images() const { return std::ssize(segments) - 1; }
};

PatchTokens embed_patches(const ImageModel& model, View<const float> given, Pass& pass) {
  layers::check_whole(pass, kImages);
  const ImageConfig& c = model.config;
  const Images images = checked_images(c, given);
  const std::int64_t count = given.size(0), patches = images.grid.rows * images.grid.columns;
  const std::int64_t tokens = c.prefix() + patches, pixels = images.pixels.count() / count;
  const Tensor<float> resized = resized_positions(model, images.grid);
  const float* const positions = resized.count() > 0 ? resized.data() : model.positions.data();
  const View<float> x = pass.memory.take<float>({count * tokens, c.width});
  const Workspace::Scope scope(pass.memory);
  const View<float> rows = pass.memory.take<float>({patches, c.patch_size()});
  PatchTokens result{{0}, x};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = i * tokens;
    take_patches(c, images.grid, images.pixels.data() + i * pixels, rows.data());
    float* const to =
        std::copy_n(model.tokens.data(), model.tokens.count(), x.data() + first * c.width);
    model.patches.forward(rows, View<float>(to, Shape{patches, c.width}), pass);
    float* const from = x.data() + first * c.width;
    for (std::int64_t k = 0; k < tokens * c.width; ++k) from[k] += positions[k];
    result.segments.push_back(first + tokens);
  }
  return result;
}

View<const float> infer_patches(const ImageModel& model, const PatchTokens& read, Pass& pass,
                                const TransformerStack<float>::Observer& observer = {}) {
  return model.stack.infer(read.x, {.segments = read.segments}, pass, observer);
}

// Row `token` of each image, [images, width].
Tensor<float> token_of_each(View<const float> y, const PatchTokens& read, std::int64_t token) {
  const std::int64_t width = y.size(1);
  auto rows = Tensor<float>::uninitialized({read.images(), width});
  for (std::int64_t i = 0; i < read.images(); ++i) {
    const std::int64_t row = read.segments[static_cast<std::size_t>(i)] + token;
    std::copy_n(y.data() + row * width, width, rows.data() + i * width);
  }
  return rows;
}

Tensor<float> mapped(const Linear<float>& linear, const Tensor<float>& x, const Pass& pass) {
  auto y = Tensor<float>::uninitialized({x.size(0), linear.weight.size(0)});
  linear.forward(x.view(), y.view(), pass);
  return y;
}

}  // namespace

ImageModel::ImageModel(const ImageConfig& given, std::optional<UnsetWeights> unset)
    : config(checked_image_config(given)), stack([&] {
        NumpyRandom random(config.seed + 1);
        return TransformerStack<float>(config.transformer().stack(true),
                                       unset ? FirstWeights(*unset) : FirstWeights(random));
      }()) {
  NumpyRandom random(config.seed);
  const FirstWeights weights = unset ? FirstWeights(*unset) : FirstWeights(random);
  const GridSize grid = config.grid();
  patches = Linear<float>::glorot(config.patch_size(), config.width, weights);
  tokens = small_normal({config.prefix(), config.width}, weights);
  positions = small_normal({config.prefix() + grid.rows * grid.columns, config.width}, weights);
  const auto start = [&](std::optional<Linear<float>>& linear, std::int64_t width) {
    if (width > 0) linear = Linear<float>::glorot(config.width, width, weights);
  };
  start(pooler, config.pooler_width);
  start(output, config.classes);
  start(distillation_output, config.distillation_head ? config.classes : 0);
}

std::vector<Tensor<float>> ImageModel::hidden_states(View<const float> images, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const PatchTokens read = embed_patches(*this, images, pass);
  const Shape shape{read.images(), read.segments[1], config.width};
  std::vector<Tensor<float>> states;
  infer_patches(*this, read, pass, {.residual = [&](View<const float> x) {
    std::copy_n(x.data(), x.count(),
                states.emplace_back(Tensor<float>::uninitialized(shape)).data());
  }});
  return states;
}

Tensor<float> ImageModel::last_hidden_states(View<const float> images, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const PatchTokens read = embed_patches(*this, images, pass);
  const View<const float> y = infer_patches(*this, read, pass);
  auto states = Tensor<float>::uninitialized({read.images(), read.segments[1], config.width});
  std::copy_n(y.data(), y.count(), states.data());
  return states;
}

Tensor<float> ImageModel::vectors(View<const float> images, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const PatchTokens read = embed_patches(*this, images, pass);
  Tensor<float> of_class = token_of_each(infer_patches(*this, read, pass), read, 0);
  if (!pooler) return of_class;
  Tensor<float> pooled = mapped(*pooler, of_class, pass);
  for (float& x : pooled.span()) x = static_cast<float>(std::tanh(static_cast<double>(x)));
  return pooled;
}

Tensor<float> ImageModel::logits(View<const float> images, Pass& pass) const {
  if (!output) {
    throw Error("model.logits",
                "must be of a model with classes: this one has hidden states alone");
  }
  const Workspace::Scope scope(pass.memory);
  const PatchTokens read = embed_patches(*this, images, pass);
  const View<const float> y = infer_patches(*this, read, pass);
  Tensor<float> logits = mapped(*output, token_of_each(y, read, 0), pass);
  if (!distillation_output) return logits;
  const Tensor<float> others = mapped(*distillation_output, token_of_each(y, read, 1), pass);
  for (std::int64_t i = 0; i < logits.count(); ++i) {
    logits.data()[i] = (logits.data()[i] + others.data()[i]) / 2;
  }
  return logits;
}

std::vector<Tensor<float>> ImageModel::attention_maps(View<const float> image, Pass& pass,
                                                      const MapSelection& chosen) const {
  if (image.rank() != 3) {
    throw Error("image_model.image", "must be [" + std::to_string(config.channels) +
                                         ", height, width], got " + image.shape().to_string());
  }
  const Workspace::Scope scope(pass.memory);
  const PatchTokens read = embed_patches(*this, image.split(0, 1), pass);
  std::vector<Tensor<float>> maps;
  infer_patches(*this, read, pass, models::weights_into<float>(stack, chosen, &maps));
  return maps;
}

std::vector<std::string> ImageModel::token_names(GridSize grid) const {
  std::vector<std::string> names{"[CLS]"};
  if (config.distillation) names.emplace_back("[DIST]");
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      names.push_back(std::to_string(row) + "," + std::to_string(column));
    }
  }
  return names;
}

Parameters<float> ImageModel::parameters() {
  Parameters<float> list;
  patches.append_parameters(list, "patches.");
  list.push_back({"tokens", &tokens, false});
  list.push_back({"positions", &positions, false});
  stack.append_parameters(list, "stack.");
  if (pooler) pooler->append_parameters(list, "pooler.");
  if (output) output->append_parameters(list, "output.");
  if (distillation_output) distillation_output->append_parameters(list, "output.distillation.");
  return list;
}

Parameters<const float> ImageModel::parameters() const {
  return for_reading(const_cast<ImageModel*>(this)->parameters());
}

}  // namespace sextant
