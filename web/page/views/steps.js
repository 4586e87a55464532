// The steps of attention as a row of buttons with small pictures: one of them is shown large.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;

  // Names are the program's (`attend --step`), titles are the page's.
  const kTitles = {tokens: 'tokens', embeddings: 'embeddings', positions: '+ positions', inputs: '= inputs', key_embeddings: 'embeddings of keys',
    key_positions: '+ positions', key_inputs: '= inputs of keys', q: 'q', k: 'k', v: 'v', rotated_q: 'q rotated', rotated_k: 'k rotated',
    scores: 'scores q · k', from_positions: 'what positions change', capped: 'capped', biased: 'biases and mask', weights: 'softmax: weights',
    mixed: 'weights × v', output: 'output'};
  const kColors = [[178, 24, 43], [33, 102, 172]];  // above and below zero, as in the pictures
  const kSide = 56;

  // Steps that leave everything as it was for these choices are shown as such.
  function idle(step, {kind, softcap, masks}) {
    if (/positions$|inputs$/.test(step) && step !== 'from_positions') return kind !== 'added';
    if (step.startsWith('rotated')) return kind !== 'rotated';
    if (step === 'from_positions') return kind === 'none';
    if (step === 'capped') return !softcap && kind !== 'content';
    if (step === 'biased') return !masks && !kind.endsWith('_bias');
    return false;
  }

  explorer.step_names = (two_texts) => Object.keys(kTitles).filter((name) => two_texts || !name.startsWith('key_'));

  // The first matrix of a table as pixels; null is hidden.
  function paint(canvas, table, of_weights) {
    const rows = Array.isArray(table[0][0]) ? table[0] : table, high = Math.min(rows.length, kSide), wide = Math.min(rows[0].length, kSide);
    canvas.width = wide;
    canvas.height = high;
    const context = canvas.getContext('2d'), image = context.createImageData(wide, high);
    const largest = Math.max(1e-300, ...rows.flat().map((value) => Math.abs(value ?? 0)));
    for (let row = 0; row < high; ++row) for (let column = 0; column < wide; ++column) {
      const value = rows[row][column], at = 4 * (row * wide + column);
      const color = value === null ? [128, 128, 128] : kColors[value < 0 || of_weights ? 1 : 0];
      image.data.set([...color, value === null ? 90 : Math.round(255 * Math.abs(value) / largest)], at);
    }
    context.putImageData(image, 0, 0);
  }

  // `choose(name)` is called by a click.
  explorer.step_row = (choose) => {
    const row = make('div', {class: 'steps', role: 'group', 'aria-label': 'Steps of attention: choose one to see it large'});
    return {
      row,
      // `all` is what `attend --step all --json` gives, or null for texts that are too long for small pictures.
      show({chosen, two_texts, about, all, tokens}) {
        const names = explorer.step_names(two_texts), focus = row.contains(document.activeElement) ? document.activeElement.dataset.step : null;
        row.replaceChildren(...names.map((name) => {
          const table = all?.steps[name], quiet = idle(name, about);
          const canvas = table ? make('canvas', {'aria-hidden': 'true'}) : make('span', {class: 'count', 'aria-hidden': 'true'}, name === 'tokens' ? String(tokens) : '▦');
          if (table) paint(canvas, table, name === 'weights');
          return make('button', {type: 'button', 'data-step': name, class: quiet ? 'idle' : '', 'aria-pressed': String(name === chosen),
            title: quiet ? 'changes nothing with these choices' : '', onclick: () => choose(name)}, canvas, kTitles[name]);
        }));
        if (focus !== null) row.querySelector(`[data-step="${focus}"]`)?.focus();
      },
    };
  };
})();
