// The steps of attention and their order: boxes with small pictures and arrows between them. One step is shown large.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;

  // Names are the program's (`attend --step`), titles are the page's.
  const kTitles = {tokens: 'tokens', embeddings: 'embeddings', positions: 'positions', inputs: '+ = inputs', key_embeddings: 'embeddings of keys',
    key_positions: 'positions of keys', key_inputs: '+ = inputs of keys', q: 'q', k: 'k', v: 'v', rotated_q: 'q rotated', rotated_k: 'k rotated',
    scores: 'scores q · k', from_positions: 'what positions change', capped: 'capped', biased: 'biases and mask', weights: 'softmax: weights',
    mixed: 'weights × v', output: 'output', residual: 'add to the input, norm'};
  const kColors = [[178, 24, 43], [33, 102, 172]];  // above and below zero, as in the pictures
  const kSide = 56;

  // The stage and lanes of a box: lane 1 is for positions, then q, k and v.
  const kShared = {q: [4, 2], k: [4, 3], v: [4, 4], rotated_q: [5, 2], rotated_k: [5, 3], scores: [6, 2, 4], from_positions: [7, 1], capped: [7, 2, 4],
    biased: [8, 2, 4], weights: [9, 2, 4], mixed: [10, 2, 5], output: [11, 2, 5], residual: [12, 2, 5]};
  const kOneText = {tokens: [1, 2, 5], embeddings: [2, 2, 5], positions: [2, 1], inputs: [3, 2, 5], ...kShared};
  const kTwoTexts = {tokens: [1, 1, 5], positions: [2, 1], embeddings: [2, 2], key_embeddings: [2, 3], key_positions: [2, 4], inputs: [3, 1, 3], key_inputs: [3, 3, 5], ...kShared};
  const kEdges = ['tokens embeddings', 'tokens key_embeddings', 'embeddings inputs', 'positions inputs', 'key_embeddings key_inputs', 'key_positions key_inputs', 'inputs q',
    'q rotated_q', 'k rotated_k', 'rotated_q scores', 'rotated_k scores', 'scores capped', 'capped biased', 'biased weights', 'weights mixed', 'v mixed', 'mixed output',
    'output residual', 'inputs residual'];

  // Steps that change nothing with these choices are marked.
  function idle(step, {kind, softcap, masks}) {
    if (/positions$|inputs$/.test(step) && step !== 'from_positions') return kind !== 'added';
    if (step.startsWith('rotated')) return kind !== 'rotated';
    if (step === 'from_positions') return kind === 'none';
    if (step === 'capped') return !softcap && kind !== 'content';
    if (step === 'biased') return !masks && !kind.endsWith('_bias');
    return false;
  }
  // The steps at which positions act.
  const acts = (step, {kind}) => ({added: /^(key_)?positions$/, rotated: /^rotated/, distance_bias: /^from_positions$/, indexed_bias: /^from_positions$/,
    content: /^from_positions$/}[kind] ?? /^$/).test(step);

  // The flow of the lesson omits boxes that are not steps of this model.
  const left_out = (name, {kind}) => name === 'capped' || name === 'from_positions' && !/bias|content/.test(kind);

  explorer.step_names = (two_texts) => Object.keys(kTitles).filter((name) => name !== 'residual' && (two_texts || !name.startsWith('key_')));

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

  // A click calls `choose(name)`. A `whole` flow ends in the sum with the input, which this small model does not have.
  explorer.step_row = (choose, {whole = false} = {}) => {
    const row = make('div', {class: 'steps', role: 'group', 'aria-label': 'Steps of attention: choose one to see it large'});
    let edges = [];
    const lines = () => explorer.connect(row, edges, (name) => row.querySelector(`[data-step="${name}"]`));
    new ResizeObserver(lines).observe(row);
    return {
      row,
      // `all` is the output of `attend --step all --json`, or null for texts that are too long for small pictures.
      show({chosen, two_texts, about, all, tokens}) {
        const places = two_texts ? kTwoTexts : kOneText, names = Object.keys(kTitles).filter((name) => places[name] && (whole ? !left_out(name, about) : name !== 'residual'));
        const focus = row.contains(document.activeElement) ? document.activeElement.dataset.step : null, from = two_texts ? 'key_inputs' : 'inputs';
        edges = [...kEdges, `${from} k`, `${from} v`, /bias|content/.test(about.kind) ? 'from_positions biased' : '', whole ? 'scores biased' : ''].map((edge) => edge.split(' '))
          .filter((edge) => edge.every((name) => names.includes(name)));
        row.replaceChildren(...names.map((name) => {
          const table = all?.steps[name], quiet = idle(name, about), [stage, first, last = first + 1] = places[name];
          const canvas = table ? make('canvas', {'aria-hidden': 'true'}) : make('span', {class: 'count', 'aria-hidden': 'true'}, name === 'tokens' ? String(tokens) : name === 'residual' ? '+' : '▦');
          if (table) paint(canvas, table, name === 'weights');
          return make('button', {type: 'button', 'data-step': name, class: [quiet && 'idle', acts(name, about) && 'acts'].filter(Boolean).join(' '), 'aria-pressed': String(name === chosen),
            title: quiet ? 'changes nothing with these choices' : '', style: `--stage: ${stage}; --lanes: ${first} / ${last}`, onclick: () => choose(name)}, canvas, kTitles[name]);
        }));
        lines();
        if (focus !== null) row.querySelector(`[data-step="${focus}"]`)?.focus();
      },
    };
  };
})();
