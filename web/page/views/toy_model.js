// Shows the toy model of the teaching documents with every digit: six words, width 3.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kWords = ['the', 'zebra', 'chased', 'lion', '.'];
  const kTexts = {toy1: 'the zebra chased the lion .', toy2: 'the lion chased the zebra .'};

  explorer.toy_model = () => {
    const digits = make('pre', {tabindex: 0, id: 'toy', 'aria-label': 'Digits of the toy model'}), command = make('pre', {tabindex: 0, 'aria-label': 'Command'});
    const positions = explorer.select([['none', 'none, as in the documents'], ['sinusoidal', 'sinusoidal'], ['rotary', 'rotary'], ['alibi', 'ALiBi']], state.get('toy', 'none'), (value) => {
      state.set({toy: value === 'none' ? null : value});
      draw();
    });
    const args = () => ['compare', '--lab', ...(positions.value === 'none' ? [] : ['--scheme', positions.value, '--width', '12']), '--', ...Object.keys(kTexts).map((name) => state.get(name, kTexts[name]))];
    const fields = Object.entries({toy1: 'First', toy2: 'Second'}).map(([name, label]) => {
      const input = make('input', {value: state.get(name, kTexts[name]), maxlength: 400, spellcheck: 'false', oninput: explorer.later(() => {
        state.set({[name]: input.value === kTexts[name] ? null : input.value});
        draw();
      }, 200)});
      return explorer.field(label, input, '');
    });

    async function draw() {
      fields.forEach((field) => explorer.say_beside(field, ''));
      const texts = Object.keys(kTexts).map((name) => state.get(name, kTexts[name]));
      const unknown = texts.map((text) => text.split(/\s+/).find((word) => word !== '' && !kWords.includes(word)));
      unknown.forEach((word, i) => word !== undefined && explorer.say_beside(fields[i], `The toy model knows ${kWords.join(' ')}, but not '${word}'.`));
      const answer = await explorer.engine.run(args(), {key: 'toy'});
      if (answer.stale) return;
      digits.textContent = answer.code === 0 ? answer.out : explorer.problem(answer);
      command.textContent = explorer.command_text(args());
    }

    const names = ['toy', 'toy1', 'toy2'];
    const details = make('details', {ontoggle: () => details.open && draw()}, make('summary', {}, 'The toy model of the documents: every digit'),
      make('p', {class: 'note'}, `Words ${kWords.join(' ')}, width 3 (12 with positions), seed 2311. Without positions both sentences have the same weights in a different order, and the same output.`),
      make('div', {class: 'parameters'}, ...fields, explorer.field('Positions', positions)), digits, command);
    details.open = names.some(state.has);
    return details;
  };
})();
