// Attention, step by step: shows words, vectors, q k v, scores, masks, softmax and output as the program computes them.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kStart = 'the black cat sat on the couch and the brown dog slept on the rug .';
  const kMost = 2048, kMostSmall = 32, kMostNumbers = 512;  // words; with small pictures; with exact numbers

  explorer.views.attention = {
    title: 'Attention, step by step',
    async show(place) {
      const list = await explorer.schemes();
      const picture = explorer.picture_place('Picture of the step; arrow keys read its cells'), exports = make('div', {class: 'exports'});
      const says = make('p', {class: 'meaning'}), reading = make('p', {class: 'reading', role: 'status'});
      const words = explorer.weighted_words();
      let asked = 0, numbers = null, small = null;

      const scheme = () => list.find((one) => one.name === state.get('scheme', 'sinusoidal')) || list[0];
      const tokens = (name, fallback) => explorer.words_of(state.get(name, fallback), kMost);
      const two_texts = () => tokens('second', '').length > 0;
      const step = () => {
        const name = state.get('step', 'weights');
        return explorer.step_names(two_texts()).includes(name) ? name : 'weights';
      };

      // The command that makes the shown picture; `more` is inserted before the text.
      function args(...more) {
        const result = ['attend', '--scheme', scheme().name, ...explorer.parameter_args(scheme()), '--split', 'spaces', ...controls.options.args()];
        if (state.get('head') !== '') result.push('--head', state.get('head'));
        if (two_texts()) result.push('--second', tokens('second', '').join(' '));
        return [...result, ...more, '--', tokens('text', kStart).join(' ')];
      }
      const drawn = () => step() === 'weights' ? (state.get('form') === 'lines' ? ['--lines'] : []) : ['--step', step()];

      const about = () => ({kind: scheme().kind, softcap: Number(controls.options.value('softcap')) > 0,
        masks: controls.options.given().some(([{name}]) => ['causal', 'window', 'hidden'].includes(name))});

      async function numbers_of_step() {
        const longest = Math.max(tokens('text', kStart).length, tokens('second', '').length);
        if (longest > kMostNumbers) return null;
        if (small !== null) return {queries: small.queries, keys: small.keys, values: small.steps[step()]};
        numbers ??= explorer.engine.run(args('--step', step(), '--json')).then((answer) => answer.code === 0 ? JSON.parse(answer.out) : null);
        return numbers;
      }

      async function describe(cell) {
        const table = await numbers_of_step();
        if (table === null) return `row ${cell.row}, column ${cell.column}: exact numbers are shown for at most ${kMostNumbers} words`;
        const of_keys = /^key_|^[kv]$|^rotated_k$/.test(step()), pairs = table.values.length > 0 && /scores|from_positions|capped|biased|weights/.test(step());
        const head = state.get('head') === '' && Array.isArray(table.values[0][0]) ? `head ${cell.panel}, ` : '';
        const value = explorer.number_at(table.values, cell);
        const to = pairs ? `'${table.keys[cell.column]}'` : `channel ${cell.column}`;
        if (value === undefined) return '';
        return `${head}'${(of_keys ? table.keys : table.queries)[cell.row]}' → ${to}: ${value === null ? 'hidden' : value}`;
      }

      // A click on a pair of words hides it, or shows it again.
      function paint({row, column}) {
        if (!/scores|capped|biased|weights/.test(step())) return;
        const pairs = state.get('hide') === '' ? [] : state.get('hide').split(','), pair = `${row}:${column}`;
        const left = pairs.filter((one) => one !== pair);
        state.set({hide: [...left, ...(left.length === pairs.length ? [pair] : [])].join(',') || null});
        controls.draw();
        draw();
      }
      const maps = explorer.read_maps(picture, reading, describe, paint);

      const row = explorer.step_row((name) => {
        state.set({step: name === 'weights' ? null : name});
        draw();
      });

      function show_exports() {
        const code = step() === 'tokens' ? {command: explorer.command_text(['tokenize', tokens('text', kStart).join(' ')])}
          : {command: explorer.command_text(args(...drawn(), '-o', 'attention.svg')), calls: [args('--step', step())]};
        explorer.show_exports(exports, {name: 'attention-' + step(), picture, code, csv: async () => step() === 'tokens'
          ? tokens('text', kStart).map((word, i) => `${i},${JSON.stringify(word)}\n`).join('')
          : (await explorer.engine.run(args(...(step() === 'weights' ? [] : ['--step', step()]), '--format', 'csv'))).out});
      }

      function show_words() {
        picture.replaceChildren(make('ol', {class: 'tokens', start: 0, 'aria-label': 'Tokens, counted from 0'},
          ...tokens('text', kStart).slice(0, 512).map((word, i) => make('li', {}, make('span', {class: 'place'}, String(i)), word))));
      }

      const draw = explorer.later(async () => {
        const mine = ++asked, count = tokens('text', kStart).length, longest = Math.max(count, tokens('second', '').length);
        picture.setAttribute('aria-busy', 'true');
        explorer.forget_problems();
        const wants_small = longest <= kMostSmall;
        const [answer, all] = await Promise.all([
          step() === 'tokens' ? {code: 0, files: {}} : explorer.engine.run(args(...drawn(), ...explorer.width_args(picture), '-o', '/picture.svg'), {read: ['/picture.svg'], key: 'attention picture'}),
          wants_small ? explorer.engine.run(args('--step', 'all', '--json'), {key: 'attention numbers'}) : null]);
        if (mine !== asked) return;  // a newer call has replaced this one
        picture.removeAttribute('aria-busy');
        numbers = null;
        small = all?.code === 0 ? JSON.parse(all.out) : null;
        if (answer.code !== 0) {
          explorer.show_problem(answer, picture);
          words.show(null);
          says.textContent = reading.textContent = '';
          return exports.replaceChildren();
        }
        if (step() === 'tokens') show_words();
        else explorer.show_svg(picture, answer.files['/picture.svg']);
        row.show({chosen: step(), two_texts: two_texts(), about: about(), all: small, tokens: count});
        says.textContent = step() === 'tokens' ? `${count} tokens, counted from 0. Attention itself does not see these numbers.`
          : small === null ? '' : small.meanings[step()].replace(/^[a-z](?=[a-z]| )/, (letter) => step().length === 1 || step().startsWith('rotated') ? letter : letter.toUpperCase()) + '.';
        words.show(step() === 'weights' && small !== null ? {queries: small.queries, keys: small.keys, weights: small.steps.weights} : null);
        maps.again();
        show_exports();
      });

      const controls = explorer.attention_options(scheme, draw);
      const text_change = () => { state.set({hide: null}); controls.draw(); draw(); };
      place.replaceChildren(
        explorer.text_field({name: 'text', label: 'Text', start: kStart, most: kMost}, text_change),
        explorer.text_field({name: 'second', label: 'Second text', start: '', most: kMost, help: 'If it is empty, the text attends to itself. Otherwise its words are the keys.'}, text_change),
        explorer.field('Positions', explorer.scheme_select(list, ['none', 'added', 'rotated', 'distance_bias', 'indexed_bias', 'content'], scheme().name, (value) => {
          state.set({scheme: value === 'sinusoidal' ? null : value});
          explorer.forget_parameters();
          controls.draw();
          draw();
        }), '', 'scheme'),
        make('details', {open: controls.options.given().length > 0}, make('summary', {}, 'Options: mask, window, temperature, softcap, sinks, heads'), controls.place),
        row.row, says, words.place, picture, reading,
        make('p', {class: 'note'}, 'The weights are random: the pattern shows what positions do, not what words mean. Click a pair of words in scores, mask or weights to hide it (with keys: arrows, then Enter).'), exports);
      controls.draw();
      draw();
    },
  };
})();
