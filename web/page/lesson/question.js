// A question that the reader answers before the picture shows the answer.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  // `said` is the option that was chosen before, or null; a choice calls tell(option). `more` follows the reason.
  explorer.question = ({question, options, right, reason, more = ''}, said, tell) => {
    const answer = make('p', {class: 'answer', role: 'status'});
    const buttons = options.map((text, i) => make('button', {type: 'button', 'aria-pressed': 'false', onclick: () => {
      show(i);
      tell(i);
    }}, text));
    function show(chosen) {
      buttons.forEach((button, i) => {
        button.setAttribute('aria-pressed', String(i === chosen));
        button.classList.toggle('right', i === right);
      });
      answer.classList.toggle('wrong', chosen !== right);
      answer.replaceChildren(make('strong', {}, chosen === right ? 'Yes. ' : `Not quite. The answer is: ${options[right]}. `), reason, more && ' ' + more);
    }
    if (said !== null) show(said);
    return make('fieldset', {class: 'question'}, make('legend', {}, 'What do you think?'), make('p', {}, question), make('div', {class: 'row'}, ...buttons), answer);
  };
})();
