// Reads maps: shows the exact number of the cell under the pointer, or at the cursor that the arrow keys move.
'use strict';

(() => {
  const explorer = globalThis.explorer, kSvg = 'http://www.w3.org/2000/svg';

  // The place of a map in a picture, in the units of its SVG.
  const read = ({dataset}) => Object.fromEntries(['panel', 'rows', 'columns', 'x', 'y', 'width', 'height'].map((name) => [name, Number(dataset[name] || 0)]));

  function cell_at(event) {
    const group = event.target.closest('[data-rows]');
    if (!group) return null;
    const map = read(group), point = new DOMPoint(event.clientX, event.clientY).matrixTransform(group.ownerSVGElement.getScreenCTM().inverse());
    const column = Math.floor((point.x - map.x) / map.width * map.columns), row = Math.floor((point.y - map.y) / map.height * map.rows);
    return row >= 0 && column >= 0 && row < map.rows && column < map.columns ? {...map, row, column} : null;
  }

  // The number of a cell in nested lists, one panel after the other; undefined if a cell of the
  // picture is not a cell of the table (its pixels are means).
  const flattened = new WeakMap();
  explorer.number_at = (values, {panel, rows, columns, row, column}) => {
    if (!flattened.has(values)) flattened.set(values, values.flat(Infinity));
    const flat = flattened.get(values);
    return flat.length % (rows * columns) === 0 ? flat[(panel * rows + row) * columns + column] : undefined;
  };

  // Makes `picture` readable: `describe(cell)` returns a promise of a text, which `reading` shows; a click or Enter
  // calls `pick(cell)`.
  explorer.read_maps = (picture, reading, describe, pick = null) => {
    let at = null, asked = 0;

    function mark(cell) {
      picture.querySelector('.cursor')?.remove();
      const svg = picture.querySelector('svg');
      if (!svg || cell === null) return;
      const rect = document.createElementNS(kSvg, 'rect');
      const wide = cell.width / cell.columns, high = cell.height / cell.rows;
      for (const [name, value] of Object.entries({class: 'cursor', x: cell.x + cell.column * wide, y: cell.y + cell.row * high, width: wide, height: high})) {
        rect.setAttribute(name, value);
      }
      svg.append(rect);
    }

    async function show(cell) {
      const mine = ++asked;
      at = cell;
      mark(cell);
      const text = cell === null ? '' : await describe(cell);
      if (mine === asked) reading.textContent = text;
    }

    let waiting = null;  // one pointer move per frame is enough
    picture.addEventListener('pointermove', (event) => {
      if (waiting === null) requestAnimationFrame(() => {
        const cell = cell_at(waiting);
        waiting = null;
        if (cell === null || at === null || ['panel', 'row', 'column'].some((name) => cell[name] !== at[name])) show(cell);
      });
      waiting = event;
    });
    picture.addEventListener('pointerleave', () => show(null));
    picture.addEventListener('click', (event) => {
      const cell = cell_at(event);
      if (cell !== null && pick !== null) pick(cell);
    });
    picture.addEventListener('keydown', (event) => {
      const maps = [...picture.querySelectorAll('[data-rows]')].map(read);
      const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (maps.length === 0 || event.target !== picture) return;
      if (event.key === 'Enter' && at !== null && pick !== null) return pick(at);
      if (event.key === 'Escape') return show(null);
      if (step === undefined) return;
      event.preventDefault();
      const map = maps.find((one) => one.panel === at?.panel) || maps[0];
      let row = at === null ? 0 : at.row + step[0], column = at === null ? 0 : at.column + step[1], next = map;
      if (column >= map.columns || column < 0) {  // over the edge into the next panel
        next = maps[(maps.indexOf(map) + (column < 0 ? -1 : 1) + maps.length) % maps.length];
        column = column < 0 ? next.columns - 1 : 0;
      }
      row = Math.min(Math.max(row, 0), next.rows - 1);
      show({...next, row, column});
      picture.querySelector('.cursor')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
    });
    // A new picture has no cursor; the cell at the old place is read again.
    return {
      again() {
        const map = at && [...picture.querySelectorAll('[data-rows]')].map(read).find((one) => one.panel === at.panel);
        show(map && at.row < map.rows && at.column < map.columns ? {...map, row: at.row, column: at.column} : null);
      },
    };
  };
})();
