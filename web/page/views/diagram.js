// Draws where a model's positions act, from the output of `sextant info --model`: at the embedding, or inside every block.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;
  const kSvg = 'http://www.w3.org/2000/svg';
  const kWide = 210, kHigh = 30, kGap = 14, kInner = 4;
  const kActs = {rotated: 'rotate q and k', distance_bias: 'are added to the scores', indexed_bias: 'are added to the scores', content: 'add terms to the scores'};

  const shape = (name, attributes, text = '') => {
    const element = document.createElementNS(kSvg, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== '') element.textContent = text;
    return element;
  };

  // One stack, upwards from its tokens: [lines of boxes], with marked positions. A box shows its `inside` below its name.
  function boxes_of(info, {layers, tokens, cross, out}) {
    const inside = info.schemes.filter((one) => kActs[one.kind]), beside = info.schemes.filter((one) => one.kind === 'added');
    const around = (text) => info.config.pre_norm === false ? `${text}, add, norm` : `norm, ${text}, add`;
    return [
      {text: tokens}, {text: 'embedding'},
      ...beside.map((one) => ({text: `+ ${one.title}`, positions: true})),
      {block: layers, boxes: [
        {text: around('self attention'), inside: inside.map((one) => ({text: `${one.title}: ${kActs[one.kind]}`, positions: true}))},
        ...(cross ? [{text: around('cross attention'), cross: true}] : []),
        {text: around('feed-forward')}]},
      ...out.map((text) => ({text})),
    ];
  }

  const box_height = (box) => kHigh + (box.inside || []).length * (kHigh + kInner);

  // Returns the top of the stack and the middle of its cross attention, where the output of the encoder enters.
  function draw_stack(svg, boxes, left, bottom, off) {
    let y = bottom, cross = bottom;
    const put = (box, x, wide) => {
      const high = box_height(box), low = y;
      y -= high;
      const kind = box.positions ? (off ? 'positions off' : 'positions') : box.cross ? 'box cross' : 'box';
      svg.append(shape('rect', {x, y, width: wide, height: high, rx: 5, class: kind}));
      svg.append(shape('text', {x: x + wide / 2, y: y + kHigh / 2 + 4, 'text-anchor': 'middle', class: box.positions && off ? 'off' : ''}, box.text));
      if (box.cross) cross = y + high / 2;
      const top = y;
      y = low;
      for (const one of box.inside || []) {
        y -= kInner;
        put(one, x + kInner, wide - 2 * kInner);
      }
      y = top;
    };
    const arrow = () => {
      svg.append(shape('line', {x1: left + kWide / 2, x2: left + kWide / 2, y1: y, y2: y - kGap, class: 'arrow'}));
      y -= kGap;
    };
    boxes.forEach((box, i) => {
      if (i > 0) arrow();
      if (!box.block) return put(box, left, kWide);
      const low = y;
      y -= 8;
      box.boxes.forEach((one, j) => {
        if (j > 0) y -= 4;
        put(one, left + 8, kWide - 16);
      });
      y -= 8;
      const frame = shape('rect', {x: left, y, width: kWide, height: low - y, rx: 8, class: 'block'});
      svg.prepend(frame);
      svg.append(shape('text', {x: left + kWide + 6, y: (low + y) / 2 + 4, class: 'times'}, '× ' + box.block));
    });
    return {top: y, cross};
  }

  const height_of = (boxes) => boxes.reduce(
    (sum, box) => sum + kGap + (box.block ? box.boxes.reduce((all, one) => all + box_height(one) + 4, 12) : kHigh), 0);

  // "Rotary positions rotate q and k inside every block."
  explorer.where_positions_act = (info) => {
    const titles = (kind) => info.schemes.filter(kind).map((one) => one.title);
    const beside = titles((one) => one.kind === 'added'), inside = info.schemes.filter((one) => kActs[one.kind]);
    const says = [...(beside.length ? [`${beside.join(' and ')}: added once to the embeddings, below the first block`] : []),
      ...inside.map((one) => `${one.title}: inside every block, where they ${kActs[one.kind]}`)];
    return says.length === 0 ? 'This model has no positions.' : `Its positions are ${says.join('; and ')}.`;
  };

  explorer.diagram = (info, off) => {
    const {config} = info, pairs = config.kind === 'translator';
    const decoder = boxes_of(info, {layers: config.layers, tokens: pairs ? 'what is written' : 'the text', cross: pairs,
      out: config.logits === false ? ['a vector for each token'] : ['norm and map to the vocabulary', ...(config.pointer ? ['pointer: copy a source token'] : []),
        `probabilities of ${config.kind === 'masked' ? 'each' : 'the next'} token`]});
    const encoder = pairs ? boxes_of(info, {layers: config.encoder_layers || config.layers, tokens: 'what is read', cross: false, out: []}) : [];
    const margin = 12, step = kWide + 58, high = Math.max(height_of(decoder), height_of(encoder)) + margin;
    const wide = (pairs ? 2 : 1) * step + margin, bottom = high - margin / 2;
    const svg = shape('svg', {viewBox: `0 0 ${wide} ${high}`, width: wide, role: 'img', class: 'diagram', 'aria-label': explorer.where_positions_act(info)});
    const {cross} = draw_stack(svg, decoder, margin + (pairs ? step : 0), bottom, off);
    if (pairs) {
      const {top} = draw_stack(svg, encoder, margin, bottom, off), between = margin + kWide + (step - kWide) * 0.75;
      svg.append(shape('path', {d: `M${margin + kWide / 2} ${top} V${top - kGap} H${between} V${cross} H${margin + step + 8}`, class: 'arrow encoded', fill: 'none'}));
    }
    return make('figure', {}, svg, make('figcaption', {class: 'note'}, explorer.where_positions_act(info) + (off && info.schemes.length ? ' They are switched off now.' : '')));
  };
})();
