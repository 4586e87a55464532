// Training in the page: a small translator learns a task with one scheme, or two schemes race, each in its own worker. The view
// shows the losses, the output and the attention during the training.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kTasks = {copy: ['copy: write the same letters', 'dbcaf'], reverse: ['reverse: write them backwards', 'dbcaf'],
    sort: ['sort: write them in order', 'dbcaf'], dates: ['dates: "3 March 1999" is 1999-03-03', '3 March 1999']};
  const kParts = {cross: 'cross: from the output to the input', encoder: 'encoder: within the input', decoder: 'decoder: within the output'};
  const kStart = {task: 'reverse', a: 'none', b: 'rotary', steps: '1200', 'batch-size': '24', rate: '0.01', width: '32', layers: '1', seed: '0', part: 'cross'};
  const settings = explorer.command_options('train', ['steps', 'batch-size', 'width', 'layers', 'rate', 'seed'], kStart);
  const kOften = 50;  // steps between two checkpoints, whose maps are shown

  const value = (name) => state.get(name, kStart[name]);
  const schemes = () => [...new Set([value('a'), value('b')].filter((name) => name !== ''))];
  const command = (scheme, folder) => ['train', value('task'), '--scheme', scheme, ...settings.args(), '--validate-every', String(kOften), '--checkpoint-every', String(kOften), '--json-lines', '-o', folder];

  explorer.views.train = {
    title: 'Train in the page',
    async show(place) {
      const {field, select} = explorer, list = await explorer.schemes();
      const controls = make('div', {class: 'parameters'}), race = make('div', {class: 'columns'}), losses = explorer.picture_place('Losses'), exports = make('div', {class: 'exports'});
      const verdict = make('p', {class: 'verdict', role: 'status', hidden: true});
      let runs = [], sample = kTasks[value('task')][1];
      const title = (name) => list.find((one) => one.name === name)?.title || name;

      const draw_losses = explorer.later(async () => {
        const begun = runs.filter((run) => run.lines.length > 0), folders = begun.map((run) => '/race/' + run.scheme);
        if (begun.length === 0) return;
        const files = Object.fromEntries(begun.map((run) => [`/race/${run.scheme}/metrics.jsonl`, run.lines.join('\n') + '\n']));
        const answer = await explorer.engine.run(['plot', 'losses', ...folders, ...explorer.width_args(losses), '-o', '/losses.svg'], {read: ['/losses.svg'], files, key: 'losses'});
        if (answer.stale || answer.code !== 0) return;
        explorer.show_svg(losses, answer.files['/losses.svg']);
        explorer.show_exports(exports, {name: 'losses', picture: losses, csv: async () => explorer.losses_csv(begun),
          code: {command: [...begun.map((run) => explorer.command_text(command(run.scheme, 'race/' + run.scheme))),
            explorer.command_text(['plot', 'losses', ...begun.map((run) => 'race/' + run.scheme), '-o', 'losses.svg'])].join('\n'), calls: begun.map((run) => command(run.scheme, 'race/' + run.scheme))}});
      }, 250);

      // Shows the output and the attention of the model of the last checkpoint.
      async function look(run) {
        if (run.files === null) return;
        const name = 'trained-' + run.scheme;
        const [wrote, map] = await Promise.all([
          explorer.models.run(name, ['translate', '--model', explorer.models.folder(name), '--', sample], {key: 'wrote' + name}),
          explorer.models.run(name, ['attend', '--model', explorer.models.folder(name), '--part', value('part'), ...explorer.width_args(run.picture), '-o', `/${name}.svg`, '--', sample], {read: [`/${name}.svg`], key: 'map' + name})]);
        if (wrote.code === 0) run.wrote.textContent = wrote.out.trim();
        else if (!wrote.stale) run.wrote.textContent = explorer.problem(wrote);
        if (map.code === 0) explorer.show_svg(run.picture, map.files[`/${name}.svg`]);
      }

      function start_one(scheme) {
        const says = make('p', {class: 'reading', role: 'status'}, 'starting …'), wrote = make('output', {class: 'written'}), picture = explorer.picture_place(`Attention with ${title(scheme)}`);
        const run = {scheme, lines: [], files: null, engine: explorer.new_engine(), wrote, picture, exact: null, over: false};
        race.append(make('section', {'data-scheme': scheme}, make('h3', {}, title(scheme)), says, make('p', {class: 'translation'}, 'It writes ', wrote), picture));
        const line = (text) => {
          const now = JSON.parse(text);
          if (now.loss === undefined) return run.exact = now.exact_match;
          run.lines.push(text);
          if (now.validation_loss !== undefined) run.held_out = now.validation_loss;
          says.textContent = `step ${now.step} of ${value('steps')}: loss ${now.mean_loss.toFixed(3)}` + (run.held_out === undefined ? '' : `, held out ${run.held_out.toFixed(3)}`);
          says.dataset.step = now.step;
          draw_losses();
        };
        const folder = (files) => {
          run.files = files;
          explorer.models.add('trained-' + scheme, {title: `trained here: ${value('task')}, ${title(scheme)}`, shown: 'race/' + scheme, files});
          look(run);
        };
        run.done = run.engine.run(command(scheme, '/run'), {line, folder, watch: '/run/last'}).then((answer) => {
          run.over = true;
          if (answer.code === 130) says.textContent += ' (stopped)';
          else if (answer.code !== 0) {
            says.textContent = explorer.problem(answer);
            says.classList.add('bad');
          } else says.textContent = `${value('steps')} steps: ${(100 * run.exact).toFixed(1)} % of 1000 held-out texts are exactly right.`;
          run.engine.stop();
        });
        return run;
      }

      const start = make('button', {type: 'button', class: 'start', onclick: async () => {
        end();
        race.replaceChildren();
        verdict.hidden = true;
        start.disabled = true;
        stop.disabled = false;
        runs = schemes().map(start_one);
        const mine = runs;
        await Promise.all(mine.map((run) => run.done));
        if (mine !== runs) return;
        start.disabled = false;
        stop.disabled = true;
        const finished = runs.filter((run) => run.exact !== null);
        if (finished.length < 2) return;
        verdict.hidden = false;
        verdict.textContent = finished.map((run) => `${title(run.scheme)}: ${(100 * run.exact).toFixed(1)} % right`).join('; ') + '. ' + explorer.why_positions(value('task'));
      }}, 'Train');
      const end = () => runs.forEach((run) => { if (!run.over) run.engine.stop(); });
      const stop = make('button', {type: 'button', disabled: true, onclick: end}, 'Stop');

      const input = make('input', {value: sample, maxlength: 60, spellcheck: 'false', oninput: explorer.later(() => {
        sample = input.value || kTasks[value('task')][1];
        runs.forEach(look);
      }, 200)});
      const set = (name, then = () => {}) => (text) => {
        state.set({[name]: text === kStart[name] ? null : text});
        then();
      };
      const kinds = ['none', 'added', 'rotated', 'distance_bias', 'indexed_bias', 'content'];
      const learns = list.filter((one) => !one.weights_of_tokens);
      const rival = explorer.scheme_select(learns, kinds, value('b'), set('b'));
      rival.prepend(make('option', {value: '', selected: value('b') === ''}, 'none: train one scheme'));
      if (value('b') === '') rival.value = '';
      controls.append(
        field('Task', select(Object.entries(kTasks).map(([name, [text]]) => [name, text]), value('task'), set('task', () => {
          sample = input.value = kTasks[value('task')][1];
        }))),
        field('Positions', explorer.scheme_select(learns, kinds, value('a'), set('a')), '', 'scheme'), field('Race against', rival), ...settings.fields(() => {}));

      place.replaceChildren(
        make('p', {}, 'A small encoder and decoder learn a task in workers of this page; no data leaves your computer. Copying and reversing need the places of the letters; sorting does not.'),
        controls, make('div', {class: 'row'}, start, stop), verdict, losses,
        make('div', {class: 'parameters'}, field('Try it on', input, 'the last checkpoint translates it'),
          field('Attention', select(Object.entries(kParts), value('part'), set('part', () => runs.forEach(look))))), race, exports);
      // The workers end with the view, because a hidden training would go on until the next start.
      new MutationObserver((_, observer) => {
        if (place.isConnected || !start.disabled) return;
        observer.disconnect();
        end();
      }).observe(document.getElementById('view'), {childList: true});
    },
  };
})();
