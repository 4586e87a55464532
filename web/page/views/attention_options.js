// The choices of the attention view, the words with their weights, and the lines of code that do the same.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;

  explorer.attention_options = (scheme, draw) => {
    const place = make('div', {class: 'parameters'});
    const set = (name, fallback = '') => (value) => {
      state.set({[name]: value === fallback ? null : value});
      draw();
    };
    // Any text is passed on: the program says what is wrong with it.
    const typed = (name, label, placeholder, help) => explorer.field(label, make('input', {value: state.get(name), placeholder, spellcheck: 'false',
      autocomplete: 'off', oninput: explorer.later((event) => set(name)(event.target.value.trim()))}), help, name === 'hide' ? 'hidden' : name);
    function draw_options() {
      const {field, number, select} = explorer, heads = Math.min(Math.max(Number(state.get('heads', '4')) || 4, 1), 64);
      place.replaceChildren(
        field('Show weights as', select([['maps', 'maps'], ['lines', 'lines']], state.get('form', 'maps'), set('form', 'maps'))),
        field('Mask', select([['', 'none: every word sees all'], ['yes', 'causal: no word sees later ones']], state.get('causal'), set('causal')), '', 'causal'),
        field('Heads', select([1, 2, 4, 8].map((n) => [String(n), String(n)]), state.get('heads', '4'), (value) => {
          state.set({heads: value === '4' ? null : value, head: null});
          draw_options();
          draw();
        }), '', 'heads'),
        field('Head', select([['', 'all'], ...Array.from({length: heads}, (_, i) => [String(i), String(i)])], state.get('head'), set('head')), '', 'head'),
        typed('hide', 'Hidden pairs', '3:1,*:0', 'Query and key, counted from 0; * is all of them. Clicks in a map fill this in.'),
        typed('window', 'Window', '-1,-1', 'How many words to the left and right of its own place a word sees; -1: no limit.'),
        typed('temperature', 'Temperature', '1', 'Divides the scores: small gives one word all, large makes all equal.'),
        typed('softcap', 'Softcap', '0', 'C replaces a score s by C tanh(s / C); 0: off.'),
        typed('sinks', 'Sinks', 'none', 'A score that takes part in the softmax but has no word: one number, or one per head.'),
        field('Seed', number(state.get('seed', '7'), {min: 0, max: 4294967295}, (value) => set('seed', '7')(value || '7')), 'Of the random weights.', 'seed'),
        ...explorer.parameter_fields(scheme(), draw));
    }
    return {place, draw: draw_options};
  };

  // A sentence whose words are chosen to see their weights; the mean of the heads.
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
        line(keys, 'looks at ', (token, key) => make('span', {class: 'tint', style: `--weight:${mean[key].toFixed(4)}`, title: mean[key].toFixed(4)}, token)), says);
    }
    return {place, show};
  };

  const list_of = (words, open, close) => open + words.map((word) => JSON.stringify(word)).join(', ') + close;

  // The lines of C++ that compute what is shown, and of Python where its function has the options.
  explorer.sentence_code = (scheme, words, second, step) => {
    const given = explorer.given_parameters(scheme), causal = state.get('causal') === 'yes', heads = state.get('heads', '4'), seed = state.get('seed', '7');
    const more = ['window', 'temperature', 'softcap', 'sinks', 'hide'].filter((name) => state.get(name) !== '');
    const cpp = ['sextant::SentenceAttentionOptions options;', `options.heads = ${heads};`, `options.seed = ${seed};`];
    if (scheme.kind !== 'none') cpp.push(`options.positions = {{"${scheme.name}", ${list_of_pairs(given)}}};`);
    if (causal) cpp.push('options.causal = true;');
    const forms = {window: (text) => `{${text}}`, sinks: (text) => `{${text}}`,
      hide: (text) => '{' + text.split(',').map((pair) => '{' + pair.replaceAll('*', '-1').replace(':', ', ') + '}').join(', ') + '}'};
    for (const name of more) cpp.push(`options.${name === 'hide' ? 'hidden' : name} = ${(forms[name] || String)(state.get(name))};`);
    const texts = `${list_of(words, '{', '}')}, ${list_of(second, '{', '}')}`;
    cpp.push(`const sextant::AttentionSteps steps = sextant::attention_steps(${texts}, options);`);
    if (step !== 'tokens') cpp.push(`const sextant::Tensor<double>& ${step} = steps[sextant::AttentionStep::${step}];`);
    const positions = scheme.kind === 'none' ? 'None' : given.length === 0 ? `"${scheme.name}"`
      : `{"${scheme.name}": {${given.map(([one, value]) => `"${one.name}": ${explorer.python_value(one, value)}`).join(', ')}}}`;
    const python = step !== 'weights' || more.length > 0 ? undefined
      : `import sextant\nattention = sextant.attend(${list_of(words, '[', ']')}, ${second.length === 0 ? 'None' : list_of(second, '[', ']')},\n` +
        `                           positions=${positions}, causal=${causal ? 'True' : 'False'}, heads=${heads}, seed=${seed})\nattention.weights`;
    return {cpp: cpp.join('\n'), python};
  };
  const list_of_pairs = (given) => '{' + given.map(([one, value]) => `{"${one.name}", ${JSON.stringify(value)}}`).join(', ') + '}';
})();
