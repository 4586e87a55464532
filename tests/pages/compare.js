// The part of two pictures that differs, by blocks of 8 x 8 pixels, or a text that says why they cannot be compared.
(async (first, second) => {
  const kMostShift = 8;  // pixels
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
  const blocks = (image, shift) => {
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, shift, 8 * width, 8 * height, 0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  };
  // Lines of text have other heights by a fraction of a pixel where the system rounds glyphs otherwise: down a long page these
  // add up. So each row of blocks may lie one pixel higher or lower than the row before it, and no more.
  const x = blocks(a, 0), moved = new Map();
  const differing = (row, shift) => {
    if (!moved.has(shift)) moved.set(shift, blocks(b, shift));
    const y = moved.get(shift);
    let count = 0;
    for (let i = 4 * width * row; i < 4 * width * (row + 1); i += 4) {
      if (Math.max(Math.abs(x[i] - y[i]), Math.abs(x[i + 1] - y[i + 1]), Math.abs(x[i + 2] - y[i + 2])) > 24) ++count;
    }
    return count;
  };
  let differ = 0, shift = 0;
  for (let row = 0; row < height; ++row) {
    let least = differing(row, shift);
    for (const near of least > 0 ? [shift - 1, shift + 1].filter((one) => Math.abs(one) <= kMostShift) : []) {
      const count = differing(row, near);
      if (count < least) [least, shift] = [count, near];
    }
    differ += least;
  }
  return differ / (width * height);
})
