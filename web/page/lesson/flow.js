// The flow of data in the lesson: a box shows its array, whose numbers unfold.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kOfWords = /^(embeddings|positions|inputs|output)$/, kOfPairs = /^(scores|from_positions|capped|biased|weights)$/, kUnfolds = /^(embeddings|positions|inputs|q|k|v|rotated_[qk]|scores|biased|weights|mixed|output)$/;

  // The array of a step; of head 0 if the step has heads.
  function array_of(all, step, unfold) {
    const table = all.steps[step], head = kOfWords.test(step) ? null : 0, values = head === null ? table : table[head];
    return explorer.grid({label: `${step.replace('_', ' ')}${head === null ? '' : ', head 0'}: ${all.meanings[step]}`, name: step, head, rows: all.queries, columns: kOfPairs.test(step) ? all.keys : explorer.channels(values[0].length),
      values, of_weights: step === 'weights', pick: (at) => kUnfolds.test(step) && unfold.pick(at)});
  }

  explorer.lesson_flow = (all, unfold) => {
    const place = make('div', {class: 'array'}), about = {kind: all.kind, softcap: false, masks: all.causal};
    const flow = explorer.step_row((name) => show(name), {whole: true});
    function show(name) {
      state.set({box: name});
      flow.show({chosen: name, two_texts: false, about, all, tokens: all.queries.length});
      place.replaceChildren(name === 'tokens' ? make('p', {}, all.queries.join(' · '))
        : name === 'residual' ? make('p', {}, 'A layer adds the output to its input (a residual connection) and normalises the sum. A feed-forward network and the next layer follow. This small model is attention only and does not have them.')
          : array_of(all, name, unfold));
    }
    const chosen = state.get('box');
    show(chosen === 'tokens' || chosen === 'residual' || all.steps[chosen] && !chosen.startsWith('w_') && !chosen.startsWith('key_') ? chosen : 'weights');
    return make('section', {class: 'flow'}, make('h4', {}, 'All steps, from words to output'), make('p', {class: 'note'}, 'Choose a box to see its array. The positions act in the green box.'), flow.row, place);
  };
})();
