// The output of a model, token by token: shows the probabilities and the prediction of each layer for a chosen token.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  // Makes spaces and line breaks visible.
  explorer.token_text = (token) => token === ' ' ? '␣' : token.replaceAll('\n', '↵').replaceAll(' ', '␣');
  const shown = explorer.token_text;
  const percent = (value) => value === 0 ? '0 %' : value < 0.0005 ? '< 0.1 %' : (100 * value).toFixed(1) + ' %';
  const exact = (value) => String(value);

  // Says how sure a translator is, in a warning colour if it is not, and what it was trained on: it may be sure and wrong about other texts.
  explorer.sure = ({sure, taught}) => make('span', {class: sure < 0.9 ? 'sure not' : 'sure'},
    `${percent(sure)} sure${taught ? `; it was trained on ${taught}: it may be sure about other texts and get them wrong` : ''}.`);

  // Buttons; a click calls `choose(i)`.
  explorer.token_row = (written, chosen, choose, label = 'Output: choose a token') => make('div', {class: 'tokens', role: 'group', 'aria-label': label},
    ...written.map(({token, is_text}, i) => make('button', {type: 'button', 'aria-pressed': String(i === chosen),
      'aria-label': `${is_text ? 'text' : 'token'} ${i + 1}: ${token === ' ' ? 'space' : token === '\n' ? 'line break' : token}`, onclick: () => choose(i)}, is_text ? token : shown(token))));

  // The most probable next tokens at a place. `take(token)` replaces the token there; null if that is not possible.
  explorer.next_tokens = ({token, alternatives}, take, what = 'next') => {
    const drawn = alternatives.some((one) => one.drawn !== undefined);
    return make('table', {class: 'bars'}, make('caption', {}, drawn ? 'The probability from the model, and the one after temperature and top-k, which the token was drawn with' : `Probability of the ${what} token`),
      drawn ? make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'token'), make('th', {scope: 'col'}, 'the model'), make('th', {scope: 'col'}, 'drawn with'))) : null,
      make('tbody', {}, ...alternatives.map((one) => make('tr', {class: one.token === token ? 'written-here' : null},
        make('th', {scope: 'row'}, take === null ? shown(one.token)
          : make('button', {type: 'button', title: 'continue with this token', 'aria-label': `continue with ${one.token === ' ' ? 'a space' : one.token}`, onclick: () => take(one.token)}, shown(one.token))),
        make('td', {title: exact(one.probability)}, make('span', {class: 'bar', style: `width:${(100 * one.probability).toFixed(2)}%`}), percent(one.probability)),
        drawn ? make('td', {title: exact(one.drawn)}, percent(one.drawn)) : null))));
  };

  // A column for each layer with its predictions below; the written token is marked.
  explorer.logit_lens = (layers, row, token, what = 'next', most = 5) => {
    const names = layers.map(({name}) => name === 'embedding' ? 'before any layer' : 'after ' + name);
    return make('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Predictions of each layer'},
      make('table', {class: 'predictions'}, make('caption', {}, `The ${what} token of each layer, if the model ended after it (logit lens)`),
        make('thead', {}, make('tr', {}, ...names.map((name) => make('th', {scope: 'col'}, name)))),
        make('tbody', {}, ...Array.from({length: most}, (_, rank) => make('tr', {}, ...layers.map(({predictions}) => {
          const guess = predictions[row][rank];
          return guess === undefined ? make('td', {}) : make('td', {class: guess.token === token ? 'written-here' : null, title: exact(guess.probability),
            style: `--weight:${guess.probability.toFixed(3)}`}, make('b', {}, shown(guess.token)), ' ' + percent(guess.probability));
        }))))));
  };
})();
