// What a model wrote, token by token: one is chosen, and its probabilities and each layer's own guess are shown.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  // Spaces and line breaks that can be seen.
  explorer.token_text = (token) => token === ' ' ? '␣' : token.replaceAll('\n', '↵').replaceAll(' ', '␣');
  const shown = explorer.token_text;
  const percent = (value) => value === 0 ? '0 %' : value < 0.0005 ? '< 0.1 %' : (100 * value).toFixed(1) + ' %';
  const exact = (value) => String(value);

  // How sure a translator is, in a colour of warning where it is not; and what it was taught, beyond which it may be as sure and wrong.
  explorer.sure = ({sure, taught}) => make('span', {class: sure < 0.9 ? 'sure not' : 'sure'},
    `${percent(sure)} sure${taught ? `; it was taught ${taught}: other texts it gets wrong, however sure it is` : ''}.`);

  // Buttons; `choose(i)` is called.
  explorer.token_row = (written, chosen, choose) => make('div', {class: 'tokens', role: 'group', 'aria-label': 'What was written: choose a token'},
    ...written.map(({token}, i) => make('button', {type: 'button', 'aria-pressed': String(i === chosen),
      'aria-label': `token ${i + 1}: ${token === ' ' ? 'space' : token === '\n' ? 'line break' : token}`, onclick: () => choose(i)}, shown(token))));

  // The most probable next tokens at one place. `take(token)` puts another one there; null: nothing can.
  explorer.next_tokens = ({token, alternatives}, take) => {
    const drawn = alternatives.some((one) => one.drawn !== undefined);
    return make('table', {class: 'bars'}, make('caption', {}, drawn ? 'The model\'s probability, and the one it was drawn with after temperature and top-k' : 'Probability of the next token'),
      drawn ? make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'token'), make('th', {scope: 'col'}, 'the model'), make('th', {scope: 'col'}, 'drawn with'))) : null,
      make('tbody', {}, ...alternatives.map((one) => make('tr', {class: one.token === token ? 'written-here' : null},
        make('th', {scope: 'row'}, take === null ? shown(one.token)
          : make('button', {type: 'button', title: 'go on with this one', 'aria-label': `go on with ${one.token === ' ' ? 'a space' : one.token}`, onclick: () => take(one.token)}, shown(one.token))),
        make('td', {title: exact(one.probability)}, make('span', {class: 'bar', style: `width:${(100 * one.probability).toFixed(2)}%`}), percent(one.probability)),
        drawn ? make('td', {title: exact(one.drawn)}, percent(one.drawn)) : null))));
  };

  // A column for each layer, its guesses below: the one that was written is marked.
  explorer.logit_lens = (layers, row, token, most = 5) => {
    const names = layers.map(({name}) => name === 'embedding' ? 'before any layer' : 'after ' + name);
    return make('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Guesses of each layer'},
      make('table', {class: 'guesses'}, make('caption', {}, 'What each layer would write here, if the model ended behind it'),
        make('thead', {}, make('tr', {}, ...names.map((name) => make('th', {scope: 'col'}, name)))),
        make('tbody', {}, ...Array.from({length: most}, (_, rank) => make('tr', {}, ...layers.map(({guesses}) => {
          const guess = guesses[row][rank];
          return guess === undefined ? make('td', {}) : make('td', {class: guess.token === token ? 'written-here' : null, title: exact(guess.probability),
            style: `--weight:${guess.probability.toFixed(3)}`}, make('b', {}, shown(guess.token)), ' ' + percent(guess.probability));
        }))))));
  };
})();
