// Does order matter? The same words in two orders, with and without positions.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kStart = 'the dog chased the cat and the cat ran away';

  // A full stop at the end, so that the last word, whose output is compared, may stay where it is.
  const sentence_of = (text) => {
    const words = explorer.words_of(text).slice(0, 40);
    if (words.length > 0 && /[\p{L}\p{N}]$/u.test(words.at(-1))) words.push('.');
    return words;
  };

  // Two words that read naturally when swapped: behind articles, else two long ones, else any two.
  function first_swap(words) {
    const movable = words.slice(0, -1), order = words.map((_, i) => i);
    const rules = [(_, i) => /^(the|a|an)$/.test(words[i - 1]), (word) => word.length > 3, () => true];
    for (const rule of rules) {
      const fit = movable.map((_, i) => i).filter((i) => rule(words[i], i));
      const other = fit.find((i) => words[i] !== words[fit[0]]);
      if (other === undefined) continue;
      [order[fit[0]], order[other]] = [order[other], order[fit[0]]];
      break;
    }
    return order;
  }

  // What the last word looks at, a bar per word; the mean of the heads.
  function bars(side, title) {
    const tokens = side.tokens, heads = side.weights, last = tokens.length - 1;
    const mean = tokens.map((_, key) => heads.reduce((sum, head) => sum + head[last][key], 0) / heads.length);
    return make('table', {class: 'bars'}, make('caption', {}, title),
      make('tbody', {}, ...tokens.map((token, key) => make('tr', {},
        make('th', {scope: 'row'}, token),
        make('td', {}, make('span', {class: 'bar', style: `width:${(100 * mean[key]).toFixed(2)}%`}), mean[key].toFixed(3))))));
  }

  const number = (value) => value === 0 ? '0' : value < 1e-3 ? value.toExponential(1) : value.toPrecision(2);

  explorer.views.order = {
    title: 'Does order matter?',
    async show(place) {
      const list = await explorer.schemes();
      let words = [], order = [], chosen = null;

      const chips = make('ol', {class: 'chips', 'aria-label': 'The words of the second sentence, in its order'});
      const verdict = make('p', {class: 'verdict', role: 'status'});
      const why = make('p', {class: 'why'});
      const columns = make('div', {class: 'columns'});
      const toy = make('div');
      const exports = make('div', {class: 'exports'});

      const save = () => state.set({order: order.every((from, to) => from === to) ? null : order.join('.')});
      const text_of = (indices) => indices.map((i) => words[i]).join(' ');

      function move(from, to) {
        if (to < 0 || to >= words.length) return;
        order.splice(to, 0, ...order.splice(from, 1));
        save();
        draw_chips(to);
        compare();
      }

      function draw_chips(focus = -1) {
        chips.replaceChildren(...order.map((word, place_of) => {
          const chip = make('button', {type: 'button', draggable: 'true', class: word === place_of ? '' : 'moved',
            'aria-label': `${words[word]}, place ${place_of + 1} of ${words.length}; arrow keys move it`,
            'aria-pressed': chosen === place_of ? 'true' : 'false',
            onclick: () => {
              if (chosen === null) { chosen = place_of; return draw_chips(place_of); }
              const other = chosen;
              chosen = null;
              [order[other], order[place_of]] = [order[place_of], order[other]];
              save();
              draw_chips(place_of);
              compare();
            },
            onkeydown: (event) => {
              const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
              if (step === undefined) return;
              event.preventDefault();
              move(place_of, place_of + step);
            },
            ondragstart: (event) => event.dataTransfer.setData('text/plain', String(place_of)),
            ondragover: (event) => event.preventDefault(),
            ondrop: (event) => {
              event.preventDefault();
              move(Number(event.dataTransfer.getData('text/plain')), place_of);
            }}, words[word]);
          return make('li', {}, chip);
        }));
        if (focus >= 0) chips.children[focus].firstChild.focus();
      }

      const compare = explorer.later(async () => {
        const scheme = state.get('scheme', 'sinusoidal');
        const described = list.find((one) => one.name === scheme) || list[0];
        const parameters = explorer.parameter_args(described);
        const sentences = ['--split', 'spaces', '--json', '--', text_of(words.map((_, i) => i)), text_of(order)];
        const [without, having] = await Promise.all([
          explorer.engine.run(['compare', '--scheme', 'none', ...sentences]),
          explorer.engine.run(['compare', '--scheme', scheme, ...parameters, ...sentences])]);
        const failed = [without, having].find((answer) => answer.code !== 0);
        verdict.classList.toggle('bad', failed !== undefined);
        if (failed) {
          columns.replaceChildren();
          why.textContent = '';
          return verdict.textContent = explorer.problem(failed);
        }
        const plain = JSON.parse(without.out), placed = JSON.parse(having.out);
        const same_order = order.every((from, to) => from === to);
        verdict.textContent = same_order ? 'Both sentences are the same. Move a word.'
          : `Without positions: ${plain.same ? 'the same output to 15 digits' : number(plain.largest_difference) + ' apart'}. ` +
            `With ${described.title}: ${placed.same ? 'the same output' : number(placed.largest_difference) + ' apart'}.`;
        verdict.dataset.without = plain.largest_difference;
        verdict.dataset.having = placed.largest_difference;
        const after = placed.verdict.split('); ')[1];
        why.textContent = order.at(-1) !== words.length - 1
          ? 'The last word itself has changed, so its output changes with or without positions.'
          : 'Attention adds up the words, each by its weight, and a sum does not care in which order it is made. Only what depends on ' +
            'the place, added to a word, turned into it or put onto its score, can make the two orders differ.' +
            (after ? ` Here ${after}.` : '');
        columns.replaceChildren(
          make('section', {}, make('h3', {}, 'Without positions'), bars(plain.first, 'first sentence'), bars(plain.second, 'second sentence')),
          make('section', {}, make('h3', {}, `With ${described.title}`), bars(placed.first, 'first sentence'), bars(placed.second, 'second sentence')));
        const command = explorer.command_text(['compare', '--scheme', scheme, ...parameters, '--split', 'spaces', '--', ...sentences.slice(4)]);
        exports.replaceChildren(make('details', {}, make('summary', {}, 'The command that computes this'), make('pre', {tabindex: 0}, command)));
      });

      function read(text) {
        words = sentence_of(text);
        if (words.length === 0) {
          chips.replaceChildren();
          columns.replaceChildren();
          why.textContent = '';
          verdict.classList.add('bad');
          return verdict.textContent = 'Type a sentence: it must have at least one word.';
        }
        const saved = state.get('order').split('.').map(Number);
        order = [...saved].sort((a, b) => a - b).every((value, i) => value === i) && saved.length === words.length ? saved : first_swap(words);
        chosen = null;
        save();
        draw_chips();
        compare();
      }

      const input = make('textarea', {rows: 2, maxlength: 2000, spellcheck: 'false', oninput: explorer.later(() => {
        state.set({text: input.value === kStart ? null : input.value, order: null});
        read(input.value);
      }, 200)});
      input.value = state.get('text', kStart);
      const parameters = make('div', {class: 'parameters'});
      const draw_parameters = () => {
        const scheme = list.find((one) => one.name === state.get('scheme', 'sinusoidal')) || list[0];
        parameters.replaceChildren(...explorer.parameter_fields(scheme, compare));
      };
      draw_parameters();

      place.replaceChildren(
        make('p', {}, 'Attention without positions cannot tell order. Move the words of the second sentence: click two words to swap them, drag one, or use the arrow keys.'),
        explorer.field('First sentence', input),
        make('h3', {}, 'Second sentence'), chips,
        explorer.field('Positions', explorer.scheme_select(list, ['added', 'rotated', 'distance_bias', 'indexed_bias', 'content'],
          state.get('scheme', 'sinusoidal'), (value) => {
            state.set({scheme: value === 'sinusoidal' ? null : value});
            explorer.forget_parameters();
            draw_parameters();
            compare();
          })),
        make('details', {}, make('summary', {}, 'Parameters'), parameters),
        verdict, why, columns,
        make('p', {class: 'note'}, 'Random weights, seed 7: the weights show what positions do, not what words mean. A bar is the mean of four heads for the last token.'),
        exports,
        make('details', {ontoggle: async (event) => {
          if (!event.target.open || toy.childElementCount > 0) return;
          const answer = await explorer.engine.run(['compare', '--lab', 'the zebra chased the lion .', 'the lion chased the zebra .']);
          toy.replaceChildren(make('pre', {tabindex: 0, id: 'toy'}, answer.out));
        }}, make('summary', {}, 'The toy model of the laboratory: every digit'), toy));
      read(input.value);
    },
  };
})();
