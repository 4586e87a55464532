// The arithmetic of a number of `attend --step all --json`: the numbers of the steps before it, down to the weights.
'use strict';

(() => {
  const explorer = globalThis.explorer;

  // The place of a number in the steps; in a table without heads `head` is null.
  const value_of = ({steps}, {step, head, row, column}) => (head === null ? steps[step] : steps[step][head])[row][column];
  explorer.value_of = value_of;

  const word = (list, row) => `'${list[row]}'`;
  const kOfKeys = /^(k|v|rotated_k)$/;

  // The name of the number: "q of 'cat', head 0, channel 2".
  explorer.name_of_number = ({queries, keys}, {step, head, row, column}) => {
    const of_head = head === null ? '' : `, head ${head}`;
    if (step.startsWith('w_')) return `W_${step.slice(2)}, row ${row}, column ${column}`;
    if (/^(scores|biased|weights)$/.test(step)) {
      return `${{scores: 'score', biased: 'score after mask and bias', weights: 'weight'}[step]} of ${word(queries, row)} (place ${row}) for ${word(keys, column)} (place ${column})${of_head}`;
    }
    const names = {embeddings: 'vector', positions: 'address', inputs: 'input', rotated_q: 'q, rotated', rotated_k: 'k, rotated', mixed: 'sum', output: 'output'};
    return `${names[step] ?? step} of ${word(kOfKeys.test(step) ? keys : queries, row)}, place ${row}${of_head}, channel ${column}`;
  };

  // A sum of products of two numbers of the steps.
  const products = (all, pairs) => {
    const values = pairs.map(([a, b]) => value_of(all, a) * value_of(all, b));
    return {lines: pairs.map(([a, b], at) => [a, '×', b, '=', values[at]]), sum: values.reduce((total, one) => total + one, 0)};
  };

  const ref = (step, head, row, column) => ({step, head, row, column});
  const range = (count, make) => Array.from({length: count}, (_, i) => make(i));

  // Returns {formula, of_key, says, lines}: a line is a list of texts, numbers, and places of other numbers.
  explorer.terms_of = (all, {step, head, row, column}) => {
    const {steps} = all, width = steps.inputs?.[0].length, from_words = all.leaf ?? '';
    const heads = steps.q?.length ?? 1, dim = steps.v[0][0].length;
    const mapped = (matrix, out, inputs) => {
      const {lines, sum} = products(all, inputs.map((one, i) => [ref(matrix, null, out, i), one])), bias = ref(matrix, null, out, inputs.length);
      return {formula: step, lines: [...lines, ['bias', bias], ['sum of the products and the bias', '=', sum + value_of(all, bias)]]};
    };
    const projected = (matrix) => mapped(matrix, head * dim + column, range(width, (i) => ref('inputs', null, row, i)));
    const turned = (from, side) => {
      const half = dim / 2, pair = column % half, [cosine, sine] = all.rotation[row][pair];
      const first = ref(from, head, row, pair), second = ref(from, head, row, pair + half), is_first = column < half;
      const angle = `Place ${row} rotates this pair by ${explorer.digits(row * all.frequencies[pair])} radians. The cosine of this angle is ${explorer.digits(cosine)}, its sine ${explorer.digits(sine)}.`;
      const [a, b] = [value_of(all, first), value_of(all, second)];
      return {formula: is_first ? 'rotated_first' : 'rotated_second', of_key: side === 'k', says: angle, lines: is_first
        ? [[first, '×', cosine, '=', a * cosine], [second, '×', sine, '=', b * sine, ', subtracted'], ['difference', '=', a * cosine - b * sine]]
        : [[second, '×', cosine, '=', b * cosine], [first, '×', sine, '=', a * sine], ['sum', '=', b * cosine + a * sine]]};
    };
    const is_turned = all.kind === 'rotated';

    switch (step) {
      case 'embeddings': return {formula: step, says: 'This is a number of the table of words. Here it is drawn from the word and the seed; in a trained model, training determines it.', lines: []};
      case 'w_q': case 'w_k': case 'w_v': case 'w_out':
        return {says: 'This is a parameter of the model. Here it is drawn at random from the seed; in a trained model, training determines it.', lines: []};
      case 'positions': {
        if (all.kind !== 'added') return {formula: step, says: 'This scheme adds nothing to the vectors of words.', lines: []};
        const pair = Math.floor(column / 2), name = column % 2 === 0 ? 'sin' : 'cos', angle = row * all.frequencies[pair];
        return {formula: 'positions_' + name, lines: [[`place ${row} × frequency`, all.frequencies[pair], '=', angle], [`${name} of it`, '=', value_of(all, ref(step, null, row, column))]]};
      }
      case 'inputs': return {formula: step, lines: [[ref('embeddings', null, row, column), '+', ref('positions', null, row, column)]]};
      case 'q': return projected('w_q');
      case 'k': return projected('w_k');
      case 'v': return from_words ? {says: from_words, lines: []} : projected('w_v');
      case 'rotated_q': return turned('q', 'q');
      case 'rotated_k': return turned('k', 'k');
      case 'scores': {
        if (from_words) return {says: from_words, lines: []};
        const [q, k] = is_turned ? ['rotated_q', 'rotated_k'] : ['q', 'k'];
        const {lines, sum} = products(all, range(dim, (c) => [ref(q, head, row, c), ref(k, head, column, c)]));
        return {formula: step, lines: [...lines, ['sum of the products', '=', sum], [`divided by √${dim}`, '=', value_of(all, ref(step, head, row, column))]]};
      }
      case 'biased': {
        const score = ref('scores', head, row, column), before = value_of(all, score), after = value_of(all, ref(step, head, row, column));
        if (after === null) return {formula: step, says: 'The mask hides this pair: its score counts as minus infinity.', lines: [[score, '→', null]]};
        return {formula: step, lines: [[score, '+', after - before, ' from the distance']]};
      }
      case 'weights': {
        const row_of = range(steps.weights[head][row].length, (j) => ref(steps.biased ? 'biased' : 'scores', head, row, j));
        const powers = row_of.map((one) => value_of(all, one) === null ? 0 : Math.exp(value_of(all, one))), sum = powers.reduce((total, one) => total + one, 0);
        return {formula: step, lines: [...row_of.map((one, j) => [`${word(all.keys, j)}: e to`, one, '=', powers[j]]), ['sum of the row', '=', sum],
          [powers[column], '/', sum, '=', value_of(all, ref(step, head, row, column))]]};
      }
      case 'mixed': {
        const {lines, sum} = products(all, range(steps.v[head].length, (j) => [ref('weights', head, row, j), ref('v', head, j, column)]));
        return {formula: step, lines: [...lines.map((line, j) => [`${word(all.keys, j)}:`, ...line]), ['sum', '=', sum]]};
      }
      case 'output': return mapped('w_out', column, range(heads * dim, (c) => ref('mixed', Math.floor(c / dim), row, c % dim)));
      default: return {says: '', lines: []};
    }
  };
})();
