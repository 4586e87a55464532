// The lesson: ten steps from words to encodings, each with a picture, a question and its answer. Progress is in the address.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer, {steps} = globalThis.sextant_lesson;
  const kIntroduction = 'The lesson has ten steps and takes 15 to 20 minutes. The page computes all numbers: click a number in a table to see how. In steps 1 to 8 the model is small and its matrices are random: they show how attention works, not what words mean.';
  const kEnd = 'This is the end of the lesson. Attention alone cannot tell the order of words. An address that is added, a rotation, or a number per distance tells it. On texts longer than those of the training, the choice between them decides.';
  const kSchemes = ['sinusoidal', 'rotary', 'alibi', 'none'], kWithScheme = ['projections', 'weight', 'output', 'masks_and_heads'];
  const kMore = {order: ['order', 'Swap words in your own sentence'], addresses: ['positions', 'All schemes and their parameters'], output: ['attention', 'Every step with your own sentence'],
    trained: ['model', 'Other trained models, or your own model folder'], length: ['lengths', 'Show your own results']};

  const number = () => Math.min(Math.max(Number.parseInt(state.get('lesson', '1'), 10) || 1, 1), steps.length);
  const answers = () => steps.map((_, i) => /^\d$/.test(state.get('answers').split('.')[i] ?? '') ? Number(state.get('answers').split('.')[i]) : null);

  // Buttons, one of which is chosen; the address holds the choice.
  const choice = (redraw) => (name, options, start) => {
    const saved = Number.parseInt(state.get(name), 10), at = saved >= 0 && saved < options.length ? saved : start;
    return {at, buttons: make('div', {class: 'row choice', role: 'group', 'aria-label': name.replace('_', ' ')}, ...options.map((text, i) => make('button', {type: 'button', 'aria-pressed': String(i === at), onclick: () => {
      state.set({[name]: i === start ? null : i});
      redraw(`[aria-label="${name.replace('_', ' ')}"] button:nth-child(${i + 1})`);
    }}, text)))};
  };

  explorer.views.lesson = {
    title: 'The lesson',
    async show(place) {
      const stage = make('div', {class: 'stage'}), list = await explorer.schemes();
      let all = null;
      const unfolding = explorer.unfolding(() => all);
      let asked = 0;

      function go(to) {
        state.set({lesson: to, box: null, word: null, made: null, mask: null, digit: null, of_head: null});
        draw().then(() => {
          const title = place.querySelector('h3');
          title.focus();
          title.scrollIntoView({block: 'nearest'});
        });
      }

      // `focus` is the selector of the element that gets the focus in the new picture.
      async function draw(focus = '') {
        const mine = ++asked, at = number(), step = steps[at - 1], said = answers()[at - 1];
        const scheme = kSchemes.includes(state.get('scheme')) ? state.get('scheme') : 'sinusoidal';
        let first = null;
        const unfold = {pick: (one) => unfolding.pick(one), of: (steps_of, start) => {
          all = steps_of;
          if (start !== undefined) first = start;
        }};
        stage.setAttribute('aria-busy', 'true');
        const made = await explorer.lesson_pictures[step.name]({shown: said !== null, unfold, scheme, choice: choice(draw)});
        if (mine !== asked) return;
        stage.removeAttribute('aria-busy');
        const question = explorer.question({...step, ...made}, said, (option) => {
          const given = answers();
          given[at - 1] = option;
          state.set({answers: given.map((one) => one ?? '').join('.')});
          draw(`.question button:nth-child(${option + 1})`);
        });
        const positions = kWithScheme.includes(step.name) && explorer.field('Positions', explorer.select(kSchemes.map((name) => [name, list.find((one) => one.name === name).title]), scheme, (value) => {
          const given = answers();
          if (step.asks_again) given[at - 1] = null;  // the answer depends on the positions
          state.set({scheme: value === 'sinusoidal' ? null : value, answers: given.map((one) => one ?? '').join('.')});
          draw('.stage select');
        }));
        const numbers = !['trained', 'length'].includes(step.name), [view, says] = kMore[step.name] ?? [];
        unfolding.clear();
        if (first) unfolding.pick(first);
        stage.replaceChildren(
          make('ol', {class: 'progress-of', 'aria-label': 'Steps of the lesson'}, ...steps.map(({title}, i) => make('li', {}, make('button', {type: 'button', title, 'aria-label': `Step ${i + 1}: ${title}${answers()[i] === null ? '' : ', answered'}`,
            class: answers()[i] === null ? '' : 'done', 'aria-current': i + 1 === at ? 'step' : null, onclick: () => go(i + 1)}, String(i + 1))))),
          make('h3', {tabindex: -1}, `${at}. ${step.title}`), at === 1 ? make('p', {class: 'note'}, kIntroduction) : '', make('p', {class: 'says'}, step.says), positions || '',
          make('div', {class: numbers ? 'two' : ''}, make('div', {class: 'shown'}, ...made.elements.filter(Boolean)), numbers ? unfolding.home : ''), made.below ?? '',
          question, at === steps.length && said !== null ? make('p', {class: 'verdict'}, kEnd) : '',
          make('div', {class: 'row turn', role: 'group', 'aria-label': 'Turn'}, make('button', {type: 'button', class: 'back', disabled: at === 1, onclick: () => go(at - 1)}, 'Back'),
            at < steps.length && make('button', {type: 'button', class: 'next', onclick: () => go(at + 1)}, 'Next'),
            view ? make('a', {href: `#view=${view}`}, says) : ''));
        const pressed = focus && stage.querySelector(focus);
        if (pressed) pressed.focus({preventScroll: true});
      }
      place.replaceChildren(stage);
      await draw();
    },
  };
})();
