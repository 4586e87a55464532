// A trained model: the translator of dates that is part of the program, and one trained in the page.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kStart = 'the third of march nineteen ninety-nine';
  const kParts = {cross: 'cross: what was written looks at what was read', encoder: 'encoder: what is read looks at itself',
    decoder: 'decoder: what is written looks at what was written'};

  explorer.views.model = {
    title: 'A trained model',
    async show(place) {
      const list = await explorer.schemes();
      const written = make('output', {class: 'written'}), picture = explorer.picture_place(), exports = make('div', {class: 'exports'});
      const log = make('pre', {class: 'log', tabindex: 0, 'aria-label': 'What training says'}), losses = explorer.picture_place('Losses');
      let asked = 0, runs = 0, trained = '';

      const model = () => trained !== '' && state.get('model') === 'trained' ? trained : 'shipped';
      const text = () => state.get('date', kStart);

      const draw = explorer.later(async () => {
        const mine = ++asked, part = state.get('part', 'cross');
        const line = ['attend', '--model', model(), '--part', part, '-o', '/picture.svg', '--', text()];
        const [said, answer] = await Promise.all([explorer.engine.run(['translate', '--model', model(), '--', text()]),
          explorer.engine.run(line, {read: ['/picture.svg']})]);
        if (mine !== asked) return;
        written.textContent = said.code === 0 ? said.out.trim() : '';
        if (said.code !== 0 || answer.code !== 0) {
          picture.replaceChildren(make('p', {class: 'verdict bad', role: 'alert'}, explorer.problem(said.code !== 0 ? said : answer)));
          return exports.replaceChildren();
        }
        explorer.show_svg(picture, answer.files['/picture.svg']);
        explorer.show_exports(exports, {name: 'dates', picture,
          code: {command: explorer.command_text(['attend', '--model', model(), '--part', part, '-o', 'dates.svg', '--', text()]),
            python: `import sextant\nmodel = sextant.shipped()\nprint(model.translate(${JSON.stringify(text())}))`}});
      });

      const steps = make('input', {type: 'number', min: 1, max: 2000, value: 60});
      const scheme = explorer.scheme_select(list, ['none', 'added', 'rotated', 'distance_bias'], 'rotary', () => {});
      const stop = make('button', {type: 'button', disabled: true, onclick: () => { explorer.engine.stop(); }}, 'Stop');
      const start = make('button', {type: 'button', onclick: async () => {
        start.disabled = true;
        stop.disabled = false;
        log.textContent = '';
        const folder = '/trained' + ++runs, curve = folder + '/loss.svg';
        const answer = await explorer.engine.run(['train', 'dates', '-o', folder, '--scheme', scheme.value, '--steps', steps.value,
          '--width', '32', '--heads', '4', '--layers', '1'], {read: [curve], progress: (said) => {
          log.textContent = said + '\n' + log.textContent.slice(0, 4000);
        }});
        start.disabled = false;
        stop.disabled = true;
        log.textContent = (answer.code === 0 ? answer.out : answer.err) + log.textContent;
        if (answer.files[curve]) explorer.show_svg(losses, answer.files[curve]);
        if (answer.code !== 0) return;
        trained = folder;
        state.set({model: 'trained'});
        which.disabled = false;
        which.value = 'trained';
        draw();
      }}, 'Train');

      const which = explorer.select([['', 'the one that ships with the program'], ['trained', 'the one trained below']], '', (value) => {
        state.set({model: value === '' ? null : value});
        draw();
      });
      which.disabled = true;
      const input = make('input', {value: text(), maxlength: 200, spellcheck: 'false', oninput: explorer.later(() => {
        state.set({date: input.value === kStart ? null : input.value});
        draw();
      }, 200)});

      place.replaceChildren(
        make('p', {}, 'These weights are not random: a small translator was taught dates, letter by letter. Type a date in words and see which letters it looked at for each digit.'),
        explorer.field('Date in words', input), make('p', {class: 'translation'}, 'It writes ', written),
        explorer.field('Model', which),
        explorer.field('Attention', explorer.select(Object.entries(kParts), state.get('part', 'cross'), (value) => {
          state.set({part: value === 'cross' ? null : value});
          draw();
        })), picture, exports,
        make('h3', {}, 'Train one here'),
        make('p', {}, 'It learns in this page, in a worker; nothing leaves your computer. With no positions it has a harder time.'),
        make('div', {class: 'parameters'}, explorer.field('Positions', scheme), explorer.field('Steps', steps)),
        make('div', {class: 'row'}, start, stop), losses, log);
      draw();
    },
  };
})();
