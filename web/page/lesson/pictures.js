// Makes the pictures of the first five steps: words, order, addresses, adding and rotating, the three matrices.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer, {sentence, before, toy} = globalThis.sextant_lesson;
  const words = sentence.split(' ');
  explorer.lesson_pictures = {};
  const numbered = (list) => list.map((word, place) => `${place} ${word}`);

  // Each function gets {shown: whether the question was answered, unfold, redraw} and returns elements, and `right` and `more` for its question.
  Object.assign(explorer.lesson_pictures, {
    async numbers({shown, unfold}) {
      const all = await explorer.lesson_steps('none', sentence);
      unfold.of(all);
      return {elements: [explorer.grid({label: 'The vector of each word, 8 channels', name: 'embeddings', rows: words, columns: explorer.channels(8), values: all.steps.embeddings,
        hides: (row) => row === 3 && !shown, pick: unfold.pick})]};
    },

    async order({shown, unfold}) {
      const verdict = await explorer.ask('compare', '--lab', '--json', '--', ...toy), sides = [verdict.first, verdict.second].map(explorer.toy_steps);
      let chosen = 0;
      unfold.of(sides[0]);
      const column = ({weights}) => [weights.at(-1)];
      const tables = [verdict.first, verdict.second].map((side, i) => explorer.grid({label: `${i === 0 ? 'As written' : 'Swapped'}: weights of the full stop`, name: 'weights', rows: ['.'], columns: side.tokens,
        values: column(side), of_weights: true, hides: () => i === 1 && !shown, where: (_, j) => ({step: 'weights', head: 0, row: side.tokens.length - 1, column: j}),
        pick: (at) => {
          if (chosen !== i) unfold.of(sides[chosen = i]);
          unfold.pick(at);
        }}));
      const said = shown ? `The distance of the two sums is ${explorer.digits(verdict.distance)} of their length: they are equal except for rounding.` : '';
      return {elements: [...tables, make('h4', {}, 'The weighted sum of the full stop'), explorer.draw_vectors(['as written', 'swapped'], [verdict.first.last.output, verdict.second.last.output], {hides: !shown}),
        make('p', {class: 'distance', 'data-distance': verdict.distance}, said)]};
    },

    async addresses({shown, unfold}) {
      const all = await explorer.lesson_steps('sinusoidal', sentence), hides = (row) => row === 4 && !shown;
      const table = await explorer.ask('encode', '--scheme', 'sinusoidal', '--dtype', 'float64', '--length', '10', '--width', '8', '--json');
      unfold.of(all);
      return {elements: [make('div', {class: 'drawings'}, explorer.draw_clocks(words, all.steps.positions, hides), explorer.draw_curves(words, table.values, [0, 2, 4], hides)),
        explorer.grid({label: 'The address of each place: the sine and cosine of each clock', name: 'positions', rows: numbered(words), columns: explorer.channels(8), values: all.steps.positions, hides, pick: unfold.pick})]};
    },

    async add_or_rotate({shown, unfold}) {
      const longer = `${before} ${sentence}`, shift = before.split(' ').length;
      const [added, turned, added_later, turned_later] = await Promise.all([['sinusoidal', sentence], ['rotary', sentence], ['sinusoidal', longer], ['rotary', longer]].map((one) => explorer.lesson_steps(...one)));
      const place = 4, score = ({steps}, by) => steps.scores[0][place + by][1 + by], q = turned.steps.q[0][place], after = turned.steps.rotated_q[0][place];
      const parts = ['embeddings', 'positions', 'inputs'], of = (all) => (at) => [unfold.of(all), unfold.pick(at)];
      unfold.of(added);
      const scores = [[added, added_later], [turned, turned_later]].map(([here, there]) => [score(here, 0), score(there, shift)]);
      return {elements: [
        explorer.grid({label: 'Added: the vector of \'cat\', the address of place 4, and their sum', name: 'inputs', rows: ['vector', 'address', 'sum'], columns: explorer.channels(8),
          values: parts.map((part) => added.steps[part][place]), where: (row, column) => ({step: parts[row], head: null, row: place, column}), pick: of(added)}),
        make('h4', {}, 'Rotated: the query of \'cat\' at place 4, before (thin) and after'),
        explorer.draw_turns([0, 1].map((c) => ({before: [q[c], q[c + 2]], after: [after[c], after[c + 2]], titles: [`channels ${c} and ${c + 2}`, `by ${explorer.short(place * turned.frequencies[c])} radians`]}))),
        explorer.grid({label: 'The query of \'cat\' in head 0, before and after', name: 'rotated_q', rows: ['q', 'rotated'], columns: explorer.channels(4), values: [q, after],
          where: (row, column) => ({step: row === 0 ? 'q' : 'rotated_q', head: 0, row: place, column}), pick: of(turned)}),
        explorer.grid({label: `The score of 'cat' for 'dog', head 0: in the sentence alone, and after '${before}'`, name: 'scores', rows: ['added', 'rotated'], columns: ['alone', 'moved 5 places'], values: scores, digits: 4,
          hides: (_, column) => column === 1 && !shown, where: (_, column) => ({step: 'scores', head: 0, row: place + column * shift, column: 1 + column * shift}),
          pick: (at) => {
            const later = at.row !== place, line = document.querySelector('.numbers [aria-selected]').parentNode.rowIndex;
            of(line === 1 ? (later ? added_later : added) : (later ? turned_later : turned))(at);
          }})]};
    },

    async projections({shown, unfold, scheme, choice}) {
      const all = await explorer.lesson_steps(scheme, sentence), word = choice('word', words, 4), made = choice('made', ['q', 'k', 'v'], 0), name = ['q', 'k', 'v'][made.at];
      unfold.of(all);
      return {elements: [word.buttons, explorer.grid({label: `The input of '${words[word.at]}', x`, name: 'inputs', rows: ['x'], columns: explorer.channels(8), values: [all.steps.inputs[word.at]],
        where: (_, column) => ({step: 'inputs', head: null, row: word.at, column}), pick: unfold.pick}),
      made.buttons, explorer.grid({label: `The matrix of ${name}: a row per channel of ${name}; column b, the bias, is added at the end`, name: `w_${name}`, rows: explorer.channels(8).map((c) => `${name} ${c}`),
        columns: [...explorer.channels(8), 'b'], values: all.steps[`w_${name}`], pick: unfold.pick}),
      explorer.grid({label: `${name} of '${words[word.at]}': 4 channels for head 0, 4 for head 1`, name, rows: [name], columns: explorer.channels(8), values: [all.steps[name].map((head) => head[word.at]).flat()],
        hides: () => !shown, where: (_, column) => ({step: name, head: Math.floor(column / 4), row: word.at, column: column % 4}), pick: unfold.pick})]};
    },
  });
})();
