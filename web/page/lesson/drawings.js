// Draws small pictures of the lesson, narrow enough for a phone: clocks, curves with words on them, vectors as bars, lines by length.
'use strict';

(() => {
  const explorer = globalThis.explorer, kSvg = 'http://www.w3.org/2000/svg';
  const kWide = 340;

  const shape = (name, attributes, text = '') => {
    const element = document.createElementNS(kSvg, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== '') element.textContent = text;
    return element;
  };
  const canvas = (high, label) => shape('svg', {viewBox: `0 0 ${kWide} ${high}`, class: 'drawing', role: 'img', 'aria-label': label});

  // Each pair of channels is a hand: sine to the right, cosine upwards, so that it starts at 12 and turns clockwise.
  explorer.draw_clocks = (words, table, hides) => {
    const pairs = table[0].length / 2, step = 52, left = 78, svg = canvas(step * words.length + 22, 'Clock hands of each place');
    for (let pair = 0; pair < pairs; ++pair) svg.append(shape('text', {x: left + 32 + pair * 65, y: 14, 'text-anchor': 'middle', class: 'quiet'}, `clock ${pair + 1}`));
    words.forEach((word, row) => {
      const y = 48 + row * step;
      svg.append(shape('text', {x: 0, y: y + 4}, `${row} ${word}`));
      for (let pair = 0; pair < pairs; ++pair) {
        const x = left + 32 + pair * 65, [sine, cosine] = [table[row][2 * pair], table[row][2 * pair + 1]];
        svg.append(shape('circle', {cx: x, cy: y, r: 21, class: 'dial'}));
        svg.append(hides(row) ? shape('text', {x, y: y + 5, 'text-anchor': 'middle'}, '?')
          : shape('line', {x1: x, y1: y, x2: x + 18 * sine, y2: y - 18 * cosine, class: 'hand'}));
      }
    });
    return svg;
  };

  // Draws columns of a table by position, each in a panel, with the words at the first positions.
  explorer.draw_curves = (words, table, columns, hides) => {
    const high = 84, svg = canvas(high * columns.length + 16, `Channels ${columns.join(', ')} by place, with the words on them`);
    const x = (row) => 16 + row * (kWide - 32) / (table.length - 1);
    columns.forEach((column, panel) => {
      const y = (value) => panel * high + 50 - 26 * value;
      svg.append(shape('text', {x: kWide, y: panel * high + 12, 'text-anchor': 'end', class: 'quiet'}, `channel ${column}`),
        shape('line', {x1: 0, x2: kWide, y1: y(0), y2: y(0), class: 'axis'}),
        shape('polyline', {points: table.map((row, i) => `${x(i)},${y(row[column])}`).join(' '), class: 'curve'}));
      words.forEach((word, row) => !hides(row) && svg.append(shape('circle', {cx: x(row), cy: y(table[row][column]), r: 3, class: 'point'}),
        shape('text', {x: x(row), y: y(table[row][column]) - 6, 'text-anchor': row === 0 ? 'start' : 'middle', class: 'small'}, word)));
    });
    table.forEach((_, row) => svg.append(shape('text', {x: x(row), y: high * columns.length + 12, 'text-anchor': 'middle', class: 'small quiet'}, String(row))));
    return svg;
  };

  // Draws pairs of channels as arrows, before and after a rotation.
  explorer.draw_turns = (pairs) => {
    const svg = canvas(164, 'A query before and after its rotation'), step = kWide / pairs.length;
    pairs.forEach(({before, after, titles}, i) => {
      const x = step * (i + 0.5), y = 66, largest = Math.hypot(...before), to = ([a, b]) => ({x2: x + 56 * a / largest, y2: y - 56 * b / largest});
      svg.append(shape('circle', {cx: x, cy: y, r: 56, class: 'dial'}), shape('line', {x1: x, y1: y, ...to(after), class: 'hand'}),
        shape('line', {x1: x, y1: y, ...to(before), class: 'hand faint'}),
        ...titles.map((title, line) => shape('text', {x, y: 142 + 15 * line, 'text-anchor': 'middle', class: 'small'}, title)));
    });
    return svg;
  };

  // Draws the channels of two vectors as pairs of bars on both sides of zero; with `hides` only the first vector.
  explorer.draw_vectors = (names, vectors, {hides = false, most = 8} = {}) => {
    const count = Math.min(most, vectors[0].length), step = 30, largest = Math.max(...vectors.flatMap((one) => one.slice(0, count).map(Math.abs)));
    const svg = canvas(step * count + 24, `The first ${count} channels of the output of ${names.join(' and of ')}`), zero = 190, unit = 100 / largest;
    names.forEach((name, i) => svg.append(shape('rect', {x: i * 170, y: 4, width: 10, height: 10, class: i === 0 ? 'first' : 'second'}), shape('text', {x: i * 170 + 15, y: 13, class: 'small'}, name)));
    for (let channel = 0; channel < count; ++channel) {
      const y = 24 + channel * step;
      svg.append(shape('text', {x: 0, y: y + 15, class: 'small quiet'}, `channel ${channel}`));
      vectors.forEach((vector, i) => {
        const value = vector[channel], top = y + 11 * i;
        if (i === 1 && hides) return svg.append(shape('text', {x: zero, y: top + 9, class: 'small'}, '?'));
        svg.append(shape('rect', {x: Math.min(zero, zero + unit * value), y: top, width: Math.max(1, unit * Math.abs(value)), height: 9, class: i === 0 ? 'first' : 'second'}),
          shape('text', {x: value < 0 ? zero + 4 : zero - 4, y: top + 8, 'text-anchor': value < 0 ? 'start' : 'end', class: 'tiny'}, explorer.digits(value)));
      });
    }
    svg.append(shape('line', {x1: zero, x2: zero, y1: 20, y2: 22 + step * count, class: 'axis'}));
    return svg;
  };

  // Draws lines of {title, values} by length; a value may be missing.
  explorer.draw_lines = (lengths, series, shown) => {
    const high = 250, all = series.flatMap(({values}) => values).filter((value) => value !== null), least = Math.floor(Math.min(...all)) - 1, most = Math.ceil(Math.max(...all)) + 1;
    const svg = canvas(high, 'Perplexity by length'), x = (i) => 30 + i * 205 / (lengths.length - 1), y = (value) => high - 34 - (value - least) * (high - 50) / (most - least);
    for (let value = least + (least % 2); value <= most; value += 2) svg.append(shape('line', {x1: 28, x2: 240, y1: y(value), y2: y(value), class: 'axis'}), shape('text', {x: 22, y: y(value) + 4, 'text-anchor': 'end', class: 'small quiet'}, String(value)));
    lengths.forEach((length, i) => svg.append(shape('text', {x: x(i), y: high - 18, 'text-anchor': 'middle', class: 'small quiet'}, String(length))));
    svg.append(shape('text', {x: 135, y: high - 3, 'text-anchor': 'middle', class: 'small quiet'}, 'length of the text in characters'));
    svg.append(shape('text', {x: 0, y: 10, class: 'small quiet'}, 'perplexity'));
    const ends = series.map(({title, values}, i) => ({title, i, values: values.slice(0, shown).map((value, at) => ({value, at})).filter(({value}) => value !== null)}));
    const beside = x(shown - 1) + 18;
    let below = -Infinity;  // names must not overlap
    for (const one of [...ends].sort((a, b) => y(a.values.at(-1).value) - y(b.values.at(-1).value))) {
      const {value, at} = one.values.at(-1), height = Math.max(y(value), below + 14);
      below = height;
      svg.append(shape('polyline', {points: one.values.map((point) => `${x(point.at)},${y(point.value)}`).join(' '), class: `series series${one.i}`}),
        ...one.values.map((point) => shape('circle', {cx: x(point.at), cy: y(point.value), r: 3, class: `dot series${one.i}`})),
        shape('line', {x1: x(at) + 4, y1: y(value), x2: beside - 3, y2: height, class: 'axis leads'}), shape('text', {x: beside, y: height + 4, class: 'small'}, at < shown - 1 ? `${one.title} (${lengths[at]})` : one.title));
    }
    return svg;
  };
})();
