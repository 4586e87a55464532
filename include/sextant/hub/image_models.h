// Reads and writes image models as Hugging Face folders: ViT and DeiT.
#pragma once

#include <string>

#include "sextant/core/dtype.h"
#include "sextant/models/image_model.h"

namespace sextant {

// Returns whether config.json of a folder, or of a model in the cache of huggingface_hub, has a
// model_type of images: vit or deit.
bool is_image_model(const std::string& folder);

// Reads config.json and model.safetensors, or its shards, of model_type vit or deit. Class logits
// are read if the first of `architectures` has them (ViTForImageClassification,
// DeiTForImageClassification, DeiTForImageClassificationWithTeacher), a pooler if the file has one.
// The token and the decoder of masked image modelling are not read. Images must be normalised as
// preprocessor_config.json says, which is not read.
//
// `dtype` is the type of the matrices, as in load_pretrained(). Throws an Error with the file and
// the key or tensor, before memory is taken for the model, as load_pretrained().
ImageModel load_image_model(const std::string& folder, WeightType dtype = WeightType::float32);

// Writes config.json and model.safetensors, float32, float16 or bfloat16, as a new folder, which
// gets its name when it is complete; transformers opens it. Throws an Error with save_image_model.
// dtype for another type, for a folder that exists, and for weights of 16 bits.
void save_image_model(const ImageModel& model, const std::string& folder,
                      DType dtype = DType::float32);

}  // namespace sextant
