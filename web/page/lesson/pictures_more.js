// Makes the pictures of the last five steps: one weight, the output, masks and heads, a trained model, lengths.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer, {sentence, date} = globalThis.sextant_lesson;
  const words = sentence.split(' '), kQuery = 4, kHead = 0;  // of 'cat'
  const row_of = (step, table, label, unfold, row = kQuery) => explorer.grid({label, name: step, head: kHead, rows: [words[row]], columns: explorer.channels(table[row].length), values: [table[row]],
    where: (_, column) => ({step, head: kHead, row, column}), pick: unfold.pick});

  Object.assign(explorer.lesson_pictures, {
    async weight({shown, unfold, scheme}) {
      const all = await explorer.lesson_steps(scheme, sentence), [q, k] = all.kind === 'rotated' ? ['rotated_q', 'rotated_k'] : ['q', 'k'];
      const {[q]: queries, [k]: keys, biased, weights} = Object.fromEntries(Object.entries(all.steps).map(([name, table]) => [name, table[kHead]]));
      const scores = biased[kQuery], has_bias = all.kind.endsWith('_bias'), step = has_bias ? 'biased' : 'scores', right = scores.indexOf(Math.max(...scores));
      unfold.of(all, shown ? {step: 'weights', head: kHead, row: kQuery, column: right} : {step, head: kHead, row: kQuery, column: 1});
      return {options: words.map((word, place) => `${place} ${word}`), right, elements: [explorer.formula(has_bias ? 'whole_biased' : 'whole'), has_bias && make('p', {class: 'note'}, 'ALiBi then subtracts a number that grows with the distance of the two words.'), row_of(q, queries, 'The query of \'cat\', q', unfold),
        explorer.grid({label: 'The keys k, the scores of \'cat\' and its weights', name: k, rows: words, columns: ['k 0', 'k 1', 'k 2', 'k 3', 'score', 'weight'],
          values: keys.map((key, row) => [...key, scores[row], weights[kQuery][row]]), hides: (_, column) => column === 5 && !shown,
          where: (row, column) => column < 4 ? {step: k, head: kHead, row, column} : {step: column === 5 ? 'weights' : step, head: kHead, row: kQuery, column: row}, pick: unfold.pick})]};
    },

    async output({shown, unfold, scheme}) {
      const all = await explorer.lesson_steps(scheme, sentence), {weights, v, mixed} = Object.fromEntries(Object.entries(all.steps).map(([name, table]) => [name, table[kHead]]));
      unfold.of(all, shown ? {step: 'mixed', head: kHead, row: kQuery, column: 0} : null);
      return {elements: [
        explorer.grid({label: 'The weights of \'cat\' in head 0, and the values v', name: 'v', rows: words, columns: ['weight', 'v 0', 'v 1', 'v 2', 'v 3'], values: v.map((value, row) => [weights[kQuery][row], ...value]),
          where: (row, column) => column === 0 ? {step: 'weights', head: kHead, row: kQuery, column: row} : {step: 'v', head: kHead, row, column: column - 1}, pick: unfold.pick}),
        explorer.grid({label: 'Weights times values, added up', name: 'mixed', head: kHead, rows: ['sum'], columns: explorer.channels(4), values: [mixed[kQuery]], hides: () => !shown,
          where: (_, column) => ({step: 'mixed', head: kHead, row: kQuery, column}), pick: unfold.pick}),
        explorer.grid({label: 'The output of \'cat\': the last matrix times the sums of both heads', name: 'output', rows: ['cat'], columns: explorer.channels(8), values: [all.steps.output[kQuery]], hides: () => !shown,
          where: (_, column) => ({step: 'output', head: null, row: kQuery, column}), pick: unfold.pick})], below: explorer.lesson_flow(all, unfold)};
    },

    async masks_and_heads({shown, unfold, scheme, choice}) {
      const mask = choice('mask', ['no mask', 'causal mask'], shown ? 1 : 0), all = await explorer.lesson_steps(scheme, sentence, shown && mask.at === 1);
      unfold.of(all, shown ? {step: 'weights', head: 0, row: 0, column: 0} : null);
      return {elements: [shown && mask.buttons, ...[0, 1].map((head) => explorer.grid({label: `Weights of head ${head}: a row per query, a column per key`, name: 'weights', head, rows: words, columns: words,
        values: all.steps.weights[head], of_weights: true, pick: unfold.pick}))]};
    },

    async trained({shown, choice}) {
      const [maps, written, without] = await Promise.all([explorer.ask('attend', '--model', 'shipped', '--json', '--', date), explorer.ask('translate', '--model', 'shipped', '--json', '--', date),
        explorer.ask('translate', '--model', 'shipped', '--without-positions', '--json', '--', date)]);
      const digit = choice('digit', maps.queries.map((token) => token === '<eos>' ? 'end' : token), 6), head = choice('of_head', maps.weights.map((_, i) => `head ${i}`), 3);
      const weights = maps.weights[head.at][digit.at];
      return {elements: [make('p', {class: 'written'}, `${date} → ${written.translations[0].text}`), make('p', {class: 'note'}, 'The output of the model; choose a character:'), digit.buttons,
        shown && head.buttons, make('p', {class: 'letters', 'aria-label': 'The input of the model, tinted by weight'}, ...maps.keys.map((token, i) => make('span', {class: 'tint', title: shown ? `${token}: ${weights[i]}` : 'not shown yet',
          'data-value': shown ? weights[i] : null, style: `--weight:${shown ? weights[i].toFixed(4) : 0}`}, token))),
        make('p', {class: 'note'}, shown ? `The darker a letter, the larger its weight for '${maps.queries[digit.at]}'. Without its positions the same model writes '${without.translations[0].text}': it was trained with them, so removing them breaks it. Step 10 has a model that was trained without positions.`
          : 'The answer shows the weights of the letters.')]};
    },

    async length({shown}) {
      const results = await explorer.lengths_data(), titles = Object.fromEntries((await explorer.schemes()).map(({name, title}) => [name, title]));
      const series = results.rows.map(({label, segments}) => ({title: label === 'none' ? 'none' : titles[label] ?? label, values: segments.map(({perplexity}) => perplexity)}));
      const guide = [['The text is as long as in training', 'rotary, as most current models'], ['Longer texts than in training', 'ALiBi, or rotary scaled by YaRN or NTK'],
        ['Inputs of a fixed size, such as images', 'learned, or rotary with two axes'], ['A model of sets, in which the order has no meaning', 'none']];
      return {elements: [explorer.draw_lines(results.lengths, series, shown ? 4 : 1), shown && make('table', {class: 'guide'}, make('caption', {}, 'Which encoding?'),
        make('tbody', {}, ...guide.map(([when, what]) => make('tr', {}, make('th', {scope: 'row'}, when), make('td', {}, what)))))]};
    },
  });
})();
