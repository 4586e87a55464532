// Draws arrows between boxes that the style sheet has placed: from left to right, or from top to bottom on a narrow screen.
'use strict';

(() => {
  const explorer = globalThis.explorer, kSvg = 'http://www.w3.org/2000/svg';
  const kHead = 4;  // pixels

  const shape = (name, attributes) => {
    const element = document.createElementNS(kSvg, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  // `edges` are pairs of names, box(name) is an element inside `place`. An arrow longer than five boxes goes around them.
  explorer.connect = (place, edges, box) => {
    place.querySelector(':scope > svg')?.remove();
    const frame = place.getBoundingClientRect();
    if (frame.width === 0) return;
    const svg = shape('svg', {width: frame.width, height: frame.height, 'aria-hidden': 'true', class: 'edges'});
    const sides = (name) => {
      const {left, right, top, bottom} = box(name).getBoundingClientRect();
      return {left: left - frame.left, right: right - frame.left, top: top - frame.top, bottom: bottom - frame.top, x: (left + right) / 2 - frame.left, y: (top + bottom) / 2 - frame.top};
    };
    const down = getComputedStyle(place).getPropertyValue('--flow').trim() === 'down';
    for (const [from, to] of edges) {
      const a = sides(from), b = sides(to), far = to === 'residual' && from !== 'output';
      let path, tip;
      if (far) {
        path = down ? `M${a.right} ${a.y} H${frame.width - 4} V${b.y} H${b.right + kHead}` : `M${a.x} ${a.bottom} V${frame.height - 4} H${b.x} V${b.bottom + kHead}`;
        tip = down ? [b.right, b.y, 1, 0] : [b.x, b.bottom, 0, 1];
      } else if (down) {
        const middle = Math.max((a.bottom + b.top) / 2, b.top - 14), x = Math.min(Math.max(a.x, b.left + 8), b.right - 8);
        path = `M${a.x} ${a.bottom} V${middle} H${x} V${b.top - kHead}`;
        tip = [x, b.top, 0, -1];
      } else {
        const middle = Math.max((a.right + b.left) / 2, b.left - 8), y = Math.min(Math.max(a.y, b.top + 8), b.bottom - 8);
        path = `M${a.right} ${a.y} H${middle} V${y} H${b.left - kHead}`;
        tip = [b.left, y, -1, 0];
      }
      const [x, y, dx, dy] = tip;
      svg.append(shape('path', {d: path, class: 'edge', 'data-edge': `${from} ${to}`}),
        shape('path', {d: `M${x} ${y} L${x + kHead * (dx + dy)} ${y + kHead * (dy + dx)} L${x + kHead * (dx - dy)} ${y + kHead * (dy - dx)} Z`, class: 'tip'}));
    }
    place.append(svg);
  };
})();
