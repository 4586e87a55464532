// The controls of the attention view, the words with their weights, and the code that does the same.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;

  const options = explorer.command_options('attend', ['causal', 'heads', 'width', 'hide', 'window', 'temperature', 'softcap', 'sinks', 'seed']);

  explorer.attention_options = (scheme, draw) => {
    const place = make('div', {class: 'parameters'}), head = make('div');
    const set = (name, fallback = '') => (value) => {
      state.set({[name]: value === fallback ? null : value});
      draw();
    };
    function draw_head() {
      const heads = Math.min(Math.max(Number(options.value('heads')) || 1, 1), 64);
      head.replaceChildren(explorer.field('head', explorer.select([['', 'all'], ...Array.from({length: heads}, (_, i) => [String(i), String(i)])],
        state.get('head'), set('head')), 'only this one', 'head'));
    }
    const changed = (key) => {
      if (key === 'heads') {
        state.set({head: null});
        draw_head();
      }
      draw();
    };
    function draw_options() {
      draw_head();
      place.replaceChildren(
        explorer.field('Show weights as', explorer.select([['maps', 'maps'], ['lines', 'lines']], state.get('form', 'maps'), set('form', 'maps'))),
        head, ...options.fields(changed), ...explorer.parameter_fields(scheme(), draw));
    }
    return {place, draw: draw_options, options};
  };

  // A sentence in which the reader chooses a word to see its weights, the mean of the heads.
  explorer.weighted_words = () => {
    const place = make('div', {class: 'tinted', role: 'group', 'aria-label': 'Words: choose one to see its weights'});
    const says = make('p', {class: 'reading', role: 'status'});
    let chosen = 0;
    function show(table) {
      if (table === null) return place.replaceChildren();
      const {queries, keys, weights: heads} = table, row = Math.min(chosen, queries.length - 1);
      const mean = keys.map((_, key) => heads.reduce((sum, one) => sum + one[row][key], 0) / heads.length);
      const line = (tokens, label, paint) => make('p', {}, make('span', {class: 'label'}, label), ...tokens.map(paint));
      const choose = (i, focus) => {
        if (chosen === i && !focus) return;
        chosen = i;
        show(table);
        if (focus) place.querySelectorAll('button')[i].focus();
      };
      const largest = mean.indexOf(Math.max(...mean));
      says.textContent = `'${queries[row]}' gives ${(100 * mean[largest]).toFixed(1)} % of its attention to '${keys[largest]}'` +
        (heads.length > 1 ? ` (mean of ${heads.length} heads).` : '.');
      place.replaceChildren(
        line(queries, 'word ', (token, i) => make('button', {type: 'button', 'aria-pressed': String(i === row),
          onclick: () => choose(i, true), onpointerenter: () => choose(i, false)}, token)),
        line(keys, 'attends to ', (token, key) => make('span', {class: 'tint', style: `--weight:${mean[key].toFixed(4)}`, title: mean[key].toFixed(4)}, token)), says);
    }
    return {place, show};
  };
})();
