// Tables of numbers that are chosen by a click, or by the arrow keys and Enter.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  // Writes a number with few digits; the attribute of the cell has all of them.
  explorer.short = (value, digits = 2) => value === null ? '−∞' : value.toFixed(digits).replace(/^-(0\.?0*)$/, '$1').replace('-', '−');

  // Writes a value with four digits, or as a power of ten.
  explorer.digits = (value) => value === null ? '−∞'
    : (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e5) ? value.toExponential(3) : value.toFixed(4)).replaceAll('-', '−');

  function tint(value, largest, of_weights) {
    if (value === null) return 'background: var(--soft)';
    const part = Math.min(Math.abs(value) / largest, 1) * 0.45;
    return `background: rgb(var(${value < 0 && !of_weights ? '--cold' : '--warm'}) / ${part.toFixed(3)})`;
  }

  // `values` is [rows][columns]; a cell for which `hides` is true shows a question mark. A choice calls pick() with the place in
  // the steps that where(row, column) returns.
  explorer.grid = ({label, name, rows, columns, values, head = null, hides = () => false, where = (row, column) => ({step: name, head, row, column}),
    of_weights = false, digits = 2, pick}) => {
    const largest = Math.max(1e-12, ...values.flat().map((value) => Math.abs(value ?? 0)));
    const cells = values.map((line, row) => line.map((value, column) => {
      const asked = hides(row, column), at = where(row, column);
      return make('td', {tabindex: -1, 'data-step': at.step, 'data-head': at.head, 'data-row': at.row, 'data-column': at.column,
        'data-value': asked ? null : JSON.stringify(value), style: asked ? null : tint(value, largest, of_weights),
        title: asked ? 'not shown yet' : value === null ? 'hidden' : String(value)}, asked ? '?' : explorer.short(value, digits));
    }));
    const body = make('tbody', {}, ...cells.map((line, row) => make('tr', {}, make('th', {scope: 'row'}, rows[row]), ...line)));
    const table = make('table', {class: 'numbers', role: 'grid', 'aria-label': label, 'data-count': columns.length},
      make('thead', {}, make('tr', {}, make('td'), ...columns.map((one) => make('th', {scope: 'col'}, one)))), body);
    const place = (cell) => ({row: cell.parentNode.rowIndex - 1, column: cell.cellIndex - 1});
    const choose = (cell) => {
      if (cell.dataset.value === undefined) return;
      document.querySelectorAll('.numbers [aria-selected]').forEach((one) => one.removeAttribute('aria-selected'));
      cell.setAttribute('aria-selected', 'true');
      const {row, column} = place(cell);
      pick(where(row, column));
    };
    const reach = (cell, focus = true) => {
      body.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1');
      cell.tabIndex = 0;
      if (focus) cell.focus();
    };
    reach(cells[0][0], false);
    body.addEventListener('click', (event) => {
      const cell = event.target.closest('td[data-row]');
      if (cell) [reach(cell), choose(cell)];
    });
    body.addEventListener('keydown', (event) => {
      const cell = event.target.closest('td[data-row]'), step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (cell && (event.key === 'Enter' || event.key === ' ')) {
        event.preventDefault();
        return choose(cell);
      }
      if (!cell || !step) return;
      event.preventDefault();
      const {row, column} = place(cell), next = cells[row + step[0]]?.[column + step[1]];
      if (next) reach(next);
    });
    return make('figure', {class: 'of-numbers'}, make('figcaption', {class: 'note', 'aria-hidden': 'true'}, label), table);
  };

  explorer.channels = (count) => Array.from({length: count}, (_, i) => String(i));
})();
