// SVG to PNG and PDF through librsvg and cairo.
#include <cairo-pdf.h>
#include <cairo.h>
#include <librsvg/rsvg.h>

#include <cmath>

#include "pictures/png/librsvg/owned.h"
#include "pictures/png/librsvg/sharp_images.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/canvas.h"

namespace sextant {
namespace {

using pictures::Owned;

constexpr double kMaxPixels = 16384;  // per side: a gibibyte of image
constexpr double kPointsPerPixel = 72.0 / 96;
constexpr double kImageScale = 4;  // readers of PDF smooth images with few pixels

[[noreturn]] void fail(GError* error) {
  const std::string why = error != nullptr ? error->message : "unknown";
  g_clear_error(&error);
  throw Error("picture.svg", "could not be rendered: " + why);
}

cairo_status_t append(void* closure, const unsigned char* bytes, unsigned int count) {
  // An exception must not pass through cairo, which is C.
  try {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
  } catch (...) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

void check(cairo_status_t status, const char* kind) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw Error(std::string("picture.") + kind,
              "could not be made: " + std::string(cairo_status_to_string(status)));
}

// Draws the picture on a surface, `scale` units per CSS pixel; images keep `image_scale` pixels.
void draw_on(cairo_t* canvas, const Picture& picture, double scale, double image_scale) {
  GError* error = nullptr;
  const std::string svg = pictures::with_sharp_images(picture.svg, image_scale);
  // Unlimited: an image of a long table inside the SVG is one long attribute.
  const Owned<GInputStream, g_object_unref> stream(
      g_memory_input_stream_new_from_data(svg.data(), static_cast<gssize>(svg.size()), nullptr));
  const Owned<RsvgHandle, g_object_unref> handle(rsvg_handle_new_from_stream_sync(
      stream.get(), nullptr, RSVG_HANDLE_FLAG_UNLIMITED, nullptr, &error));
  if (handle == nullptr) fail(error);
  rsvg_handle_set_dpi(handle.get(), 96);
  const RsvgRectangle viewport{0, 0, picture.width * scale, picture.height * scale};
  if (rsvg_handle_render_document(handle.get(), canvas, &viewport, &error) == 0) fail(error);
}

}  // namespace

bool can_render_png() { return true; }

std::string render_png(const Picture& picture, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    throw Error("render_png.scale", "must be positive, got " + shortest(scale));
  }
  const double width = std::ceil(picture.width * scale);
  const double height = std::ceil(picture.height * scale);
  if (!(width >= 1 && height >= 1)) throw Error("render_png.picture", "must have a size");
  if (width > kMaxPixels || height > kMaxPixels) {
    throw Error("render_png.scale", "must keep the image within " + fixed(kMaxPixels, 0) +
                                        " pixels per side, got " + fixed(width, 0) + " x " +
                                        fixed(height, 0));
  }
  const Owned<cairo_surface_t, cairo_surface_destroy> surface(cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  check(cairo_surface_status(surface.get()), "png");
  const Owned<cairo_t, cairo_destroy> canvas(cairo_create(surface.get()));
  cairo_set_source_rgb(canvas.get(), 1, 1, 1);
  cairo_paint(canvas.get());
  draw_on(canvas.get(), picture, scale, scale);
  check(cairo_status(canvas.get()), "png");
  std::string png;
  check(cairo_surface_write_to_png_stream(surface.get(), append, &png), "png");
  return png;
}

std::string render_pdf(const Picture& picture) {
  const double width = picture.width * kPointsPerPixel, height = picture.height * kPointsPerPixel;
  if (!(width > 0 && height > 0)) throw Error("render_pdf.picture", "must have a size");
  if (picture.width > kMaxPixels || picture.height > kMaxPixels) {
    throw Error("render_pdf.picture", "must have up to " + fixed(kMaxPixels, 0) +
                                          " pixels per side, got " + fixed(picture.width, 0) +
                                          " x " + fixed(picture.height, 0));
  }
  std::string pdf;
  const Owned<cairo_surface_t, cairo_surface_destroy> surface(
      cairo_pdf_surface_create_for_stream(append, &pdf, width, height));
  check(cairo_surface_status(surface.get()), "pdf");
  // Sizes and titles are then plain text, in files of every version of cairo.
  cairo_pdf_surface_restrict_to_version(surface.get(), CAIRO_PDF_VERSION_1_4);
  const auto say = [&](cairo_pdf_metadata_t what, const std::string& text) {
    if (!text.empty()) cairo_pdf_surface_set_metadata(surface.get(), what, text.c_str());
  };
  say(CAIRO_PDF_METADATA_TITLE, picture.title);
  say(CAIRO_PDF_METADATA_SUBJECT, picture.description);
  say(CAIRO_PDF_METADATA_CREATE_DATE, "1970-01-01T00:00:00Z");  // the same bytes every time
  {
    const Owned<cairo_t, cairo_destroy> canvas(cairo_create(surface.get()));
    draw_on(canvas.get(), picture, kPointsPerPixel, kImageScale);
    check(cairo_status(canvas.get()), "pdf");
  }
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()), "pdf");
  return pdf;
}

}  // namespace sextant
