// Attention: weights of a sentence, as maps or lines, and word by word.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kStart = 'the black cat sat on the couch and the brown dog slept on the rug .';

  explorer.views.attention = {
    title: 'Attention',
    async show(place) {
      const list = await explorer.schemes();
      const picture = explorer.picture_place(), exports = make('div', {class: 'exports'});
      const options = make('div', {class: 'parameters'}), words = make('div', {class: 'tinted', role: 'group', 'aria-label': 'Words: choose one to see its weights'});
      const says = make('p', {class: 'reading', role: 'status'});
      let asked = 0, weights = null, chosen = -1;

      const scheme = () => list.find((one) => one.name === state.get('scheme', 'sinusoidal')) || list[0];
      const head = () => state.get('head');

      function args() {
        const text = (name, fallback) => explorer.words_of(state.get(name, fallback)).slice(0, 512).join(' ');
        const result = ['attend', '--scheme', scheme().name, ...explorer.parameter_args(scheme()), '--split', 'spaces',
          '--heads', state.get('heads', '4'), '--seed', state.get('seed', '7')];
        if (state.get('causal') === 'yes') result.push('--causal');
        if (head() !== '') result.push('--head', head());
        if (explorer.words_of(state.get('second')).length > 0) result.push('--second', text('second', ''));
        return [...result, '--', text('text', kStart)];
      }
      const with_options = (...more) => {
        const line = args();
        line.splice(1, 0, ...more);
        return line;
      };

      // The mean over the heads that are shown of the chosen word's weights.
      function tint() {
        if (weights === null) return;
        const {queries, keys, weights: heads} = weights, row = Math.min(Math.max(chosen, 0), queries.length - 1);
        const mean = keys.map((_, key) => heads.reduce((sum, one) => sum + one[row][key], 0) / heads.length);
        const line = (tokens, label, paint) => make('p', {}, make('span', {class: 'label'}, label), ...tokens.map(paint));
        const query = (token, i) => make('button', {type: 'button', 'aria-pressed': String(i === row),
          onclick: () => { chosen = i; tint(); words.querySelectorAll('button')[i].focus(); }, onpointerenter: () => { if (chosen !== i) { chosen = i; tint(); } }}, token);
        words.replaceChildren(line(queries, 'word ', query),
          line(keys, 'looks at ', (token, key) => make('span', {class: 'tint', style: `--weight:${mean[key].toFixed(4)}`, title: mean[key].toFixed(4)}, token)));
        const largest = mean.indexOf(Math.max(...mean));
        says.textContent = `'${queries[row]}' gives ${(100 * mean[largest]).toFixed(1)} % of its attention to '${keys[largest]}'` +
          (heads.length > 1 ? ` (mean of ${heads.length} heads).` : '.');
      }

      const draw = explorer.later(async () => {
        const mine = ++asked, form = state.get('form') === 'lines' ? ['--lines'] : [];
        picture.setAttribute('aria-busy', 'true');
        const [answer, numbers] = await Promise.all([
          explorer.engine.run(with_options(...form, '-o', '/picture.svg'), {read: ['/picture.svg']}), explorer.engine.run(with_options('--json'))]);
        if (mine !== asked) return;
        picture.removeAttribute('aria-busy');
        if (answer.code !== 0) {
          picture.replaceChildren(make('p', {class: 'verdict bad', role: 'alert'}, explorer.problem(answer)));
          weights = null;
          words.replaceChildren();
          says.textContent = '';
          return exports.replaceChildren();
        }
        explorer.show_svg(picture, answer.files['/picture.svg']);
        weights = JSON.parse(numbers.out);
        tint();
        explorer.show_exports(exports, {name: 'attention', picture, csv: async () => csv_of(weights),
          code: {command: explorer.command_text(with_options(...form, '-o', 'attention.svg'))}});
      });

      const csv_of = ({queries, keys, weights: heads}) => 'head,query,key,weight\n' + heads.flatMap((one, h) => one.flatMap((row, i) =>
        row.map((weight, j) => [h, JSON.stringify(queries[i]), JSON.stringify(keys[j]), weight].join(',')))).join('\n') + '\n';

      function draw_options() {
        const {field, number, select} = explorer;
        const set = (name, fallback) => (value) => {
          state.set({[name]: value === fallback ? null : value});
          draw();
        };
        const heads = Number(state.get('heads', '4'));
        options.replaceChildren(
          field('Show', select([['maps', 'maps'], ['lines', 'lines']], state.get('form', 'maps'), set('form', 'maps'))),
          field('Mask', select([['', 'none: every word sees all'], ['yes', 'causal: no word sees later ones']], state.get('causal'), set('causal', ''))),
          field('Heads', select([1, 2, 4, 8].map((n) => [String(n), String(n)]), state.get('heads', '4'), (value) => {
            state.set({heads: value === '4' ? null : value, head: null});
            draw_options();
            draw();
          })),
          field('Head', select([['', 'all'], ...Array.from({length: heads}, (_, i) => [String(i), String(i)])], head(), set('head', ''))),
          field('Seed', number(state.get('seed', '7'), {min: 0, max: 4294967295}, (value) => set('seed', '7')(value || '7')), 'of the random weights'),
          ...explorer.parameter_fields(scheme(), draw));
      }

      const text_field = (name, label, fallback, help) => {
        const input = make('textarea', {rows: 2, spellcheck: 'false', oninput: explorer.later(() => {
          state.set({[name]: input.value === fallback ? null : input.value});
          chosen = -1;
          draw();
        }, 200)});
        input.value = state.get(name, fallback);
        return explorer.field(label, input, help);
      };

      place.replaceChildren(
        text_field('text', 'Text', kStart, ''),
        text_field('second', 'Second text', '', 'empty: the text attends to itself'),
        explorer.field('Positions', explorer.scheme_select(list, ['none', 'added', 'rotated', 'distance_bias', 'indexed_bias', 'content'], scheme().name, (value) => {
          state.set({scheme: value === 'sinusoidal' ? null : value});
          explorer.forget_parameters();
          draw_options();
          draw();
        })),
        make('details', {}, make('summary', {}, 'Options'), options), words, says, picture,
        make('p', {class: 'note'}, 'Random weights: the pattern shows what positions do, not what words mean. Every row sums to one.'), exports);
      draw_options();
      draw();
    },
  };
})();
