// The part of two pictures that differs, by blocks of 8 x 8 pixels, or a text that says why they cannot be compared.
(async (first, second) => {
  const load = async (data) => {
    const image = new Image();
    image.src = "data:image/webp;base64," + data;
    await image.decode();
    return image;
  };
  const a = await load(first), b = await load(second);
  if (Math.abs(a.width - b.width) > 1 || Math.abs(a.height - b.height) > 0.02 * a.height + 2) {
    return `${b.width} x ${b.height} instead of ${a.width} x ${a.height}`;
  }
  const width = Math.ceil(a.width / 8), height = Math.ceil(Math.min(a.height, b.height) / 8);
  const blocks = (image) => {
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, 8 * width, 8 * height, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  };
  const x = blocks(a), y = blocks(b);
  let differ = 0;
  for (let i = 0; i < x.length; i += 4) {
    if (Math.max(Math.abs(x[i] - y[i]), Math.abs(x[i + 1] - y[i + 1]), Math.abs(x[i + 2] - y[i + 2])) > 24) ++differ;
  }
  return differ / (width * height);
})
