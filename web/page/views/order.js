// Does order matter? Compares the same words in two orders, with and without positions.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kStart = 'the dog chased the cat and the cat ran away', kMost = 128, kMostBars = 24;

  // A distance divided by a length, in per cent.
  const number = (value) => value < 1e-5 ? `${(100 * value).toExponential(1)} %` : `${(100 * value).toPrecision(2)} %`;
  const is_same = (order) => order.every((from, to) => from === to);

  explorer.views.order = {
    title: 'Does order matter?',
    async show(place) {
      const list = await explorer.schemes();
      let words = [], order = [], asked = 0;

      const verdict = make('p', {class: 'verdict', role: 'status'}), why = make('p', {class: 'why'});
      const effects = make('div', {class: 'columns'}), sums = make('div', {class: 'columns'}), columns = make('div', {class: 'columns'}), exports = make('div', {class: 'exports'});
      const pictures = ['without positions', 'with positions'].map((name) => explorer.picture_place('The sum of the last word, ' + name));
      sums.append(...pictures);
      const chips = explorer.word_chips((changed, done) => {
        order = [...changed];
        if (done) state.set({order: is_same(order) ? null : order.join('.')});
        compare(done);
      });
      const scheme = () => list.find((one) => one.name === state.get('scheme') && one.kind !== 'none') || list.find((one) => one.name === 'sinusoidal');
      const texts = () => [words, order.map((i) => words[i])].map((one) => one.join(' '));
      const args = (name, ...more) => ['compare', '--scheme', name, ...(name === 'none' ? [] : explorer.parameter_args(scheme())), '--split', 'spaces',
        ...more, '--', ...texts()];

      // The verdict follows a dragged word; pictures and bars wait until the word is dropped.
      async function compare(done = true) {
        const mine = ++asked, names = ['none', scheme().name];
        const wanted = ['same', 'last_differs', 'largest_difference', 'distance', 'why', 'first.tokens', 'first.last.weights', 'first.last.output', 'second.tokens',
          'second.last.weights', 'second.last.output'];
        const ask = (name, side) => explorer.engine.run(args(name, '--json'), {pick: wanted, key: 'verdict ' + side});
        const draw = (name, side) => explorer.engine.run(args(name, ...explorer.width_args(pictures[side]), '-o', '/sum.svg'), {read: ['/sum.svg'], key: 'sum ' + side});
        const [without, having] = await Promise.all(names.map(ask));
        if (mine !== asked) return;
        explorer.forget_problems();
        const failed = [without, having].find((answer) => answer.code !== 0);
        verdict.classList.toggle('bad', failed !== undefined);
        if (failed) {
          explorer.show_problem(failed, make('div'));
          [columns, effects].forEach((one) => one.replaceChildren());
          pictures.forEach((one) => one.replaceChildren());
          exports.replaceChildren();
          why.textContent = '';
          return verdict.textContent = explorer.problem(failed);
        }
        tell(without.picked, having.picked);
        if (!done) return;
        columns.replaceChildren(
          make('section', {}, make('h3', {}, 'Without positions'), ...bars(without.picked)),
          make('section', {}, make('h3', {}, `With ${scheme().title}`), ...bars(having.picked)));
        effects.replaceChildren(make('section', {}, make('h3', {}, 'Without positions'), ...outputs(without.picked)),
          make('section', {}, make('h3', {}, `With ${scheme().title}`), ...outputs(having.picked)));
        const drawn = await Promise.all(names.map(draw));
        if (mine !== asked) return;
        drawn.forEach((answer, i) => answer.code === 0 ? explorer.show_svg(pictures[i], answer.files['/sum.svg']) : explorer.show_problem(answer, pictures[i]));
        show_exports();
      }

      function tell(plain, placed) {
        const said = is_same(order) ? 'Both sentences are the same. Move a word.'
          : plain.last_differs ? `Cannot tell: ${plain.why}.`
          : `Without positions: ${plain.same ? 'the same output to 15 digits' : number(plain.distance) + ' of its length apart'}. ` +
            `With ${scheme().title}: ${placed.same ? 'the same output' : number(placed.distance) + ' of its length apart'}.`;
        if (verdict.textContent !== said) verdict.textContent = said;
        verdict.dataset.without = plain.largest_difference;
        verdict.dataset.having = placed.largest_difference;
        why.textContent = placed.last_differs
          ? 'The output of a word depends on the word itself, with or without positions.'
          : 'The output of the last word is the sum of all words, each times its weight. In the pictures each step is a word: the sum ends at the same point ' +
            'in any order of the steps. Positions change the steps themselves: they are added to a word, rotate its vectors or change its score.' +
            (placed.why ? ` Here ${placed.why}.` : '');
      }

      // The output of the last word, channel by channel.
      const outputs = ({first, second, same}) => [explorer.draw_vectors(['first sentence', 'second'], [first.last.output, second.last.output]),
        make('p', {class: 'note'}, `The output of the last word is ${same ? 'identical' : 'different'}; the picture shows 8 of 64 channels.`)];

      // The weights of the last word, a bar per word, the mean of the heads.
      const bars = ({first, second}) => [[first, 'first sentence'], [second, 'second sentence']].map(([side, title]) => {
        const heads = side.last.weights, mean = side.tokens.map((_, key) => heads.reduce((sum, head) => sum + head[key], 0) / heads.length);
        const shown = mean.map((weight, key) => ({weight, key})).sort((a, b) => b.weight - a.weight).slice(0, kMostBars).sort((a, b) => a.key - b.key);
        const caption = title + (shown.length < mean.length ? `, the ${kMostBars} largest of ${mean.length}` : '');
        return make('table', {class: 'bars'}, make('caption', {}, caption), make('tbody', {}, ...shown.map(({weight, key}) => make('tr', {},
          make('th', {scope: 'row'}, side.tokens[key]),
          make('td', {}, make('span', {class: 'bar', style: `width:${(100 * weight).toFixed(2)}%`}), weight.toFixed(3))))));
      });

      function show_exports() {
        explorer.show_exports(exports, {name: 'order', picture: sums,
          csv: async () => (await explorer.engine.run(args(scheme().name, '--format', 'csv'))).out,
          code: {command: explorer.command_text(args(scheme().name)), calls: [args(scheme().name)]}});
      }

      function read(text) {
        words = explorer.sentence_of(text, kMost);
        if (words.length === 0) {
          chips.show([], []);
          [columns, effects].forEach((one) => one.replaceChildren());
          pictures.forEach((one) => one.replaceChildren());
          why.textContent = '';
          verdict.classList.add('bad');
          return verdict.textContent = 'Type a sentence of at least one word.';
        }
        const saved = state.get('order').split('.').map(Number);
        order = [...saved].sort((a, b) => a - b).every((value, i) => value === i) && saved.length === words.length ? saved : explorer.first_swap(words);
        state.set({order: is_same(order) ? null : order.join('.')});
        chips.show(words, order);
        compare();
      }

      const parameters = make('div', {class: 'parameters'});
      const later_compare = explorer.later(() => compare());
      const draw_parameters = () => parameters.replaceChildren(...explorer.parameter_fields(scheme(), later_compare));
      draw_parameters();
      place.replaceChildren(
        make('p', {}, 'Attention without positions cannot tell order. Move the words of the second sentence: click two words to swap them, drag one, or use the arrow keys.'),
        explorer.text_field({name: 'text', label: 'First sentence', start: kStart, most: kMost}, (text) => {
          state.set({order: null});
          read(text);
        }),
        make('h3', {}, 'Second sentence'), chips.chips,
        explorer.field('Positions', explorer.scheme_select(list, ['added', 'rotated', 'distance_bias', 'indexed_bias', 'content'], scheme().name, (value) => {
          state.set({scheme: value === 'sinusoidal' ? null : value});
          explorer.forget_parameters();
          draw_parameters();
          compare();
        }), '', 'scheme'),
        make('details', {}, make('summary', {}, 'Parameters'), parameters),
        verdict, effects, why, sums, columns,
        make('p', {class: 'note'}, 'The weights are random (seed 7): they show what positions do, not what words mean. A bar is the mean of four heads for the last token; the walks show two of its 64 channels. The distance of two outputs is the length of their difference divided by the length of the longer one.'),
        exports, explorer.toy_model(scheme));
      read(state.get('text', kStart));
    },
  };
})();
