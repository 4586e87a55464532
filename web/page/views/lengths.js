// Train short, test long: shows the curves of `sextant extrapolate`, of the included results or of the reader's file.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kShipped = 'extrapolation/results.json', kMostBytes = 1e7;
  const kTokens = ['character', 'sub-word', 'word', 'token'];

  explorer.views.lengths = {
    title: 'Train short, test long',
    async show(place) {
      const picture = explorer.picture_place('Perplexity by length'), exports = make('div', {class: 'exports'}), table = make('pre', {class: 'table', tabindex: 0, 'aria-label': 'The numbers'});
      const which = make('p', {class: 'note', role: 'status'});
      let asked = 0, own = null;  // {name, text} of the reader's file

      const token = () => kTokens.includes(state.get('token')) ? state.get('token') : 'character';
      const line = (file, ...more) => ['plot', 'extrapolation', file, '--token', token(), ...more];
      const given = () => own === null ? {packed: {'/results.json': globalThis.sextant_data[kShipped]}} : {files: {'/results.json': own.text}};
      const ask = (more, options = {}) => explorer.engine.run(line('/results.json', ...more), {...given(), ...options});

      async function draw() {
        const mine = ++asked, shown = own === null ? 'web/data/' + kShipped : own.name;
        picture.setAttribute('aria-busy', 'true');
        const [drawn, numbers] = await Promise.all([ask([...explorer.width_args(picture), '-o', '/lengths.svg'], {read: ['/lengths.svg']}), ask(['--format', 'text'])]);
        if (mine !== asked) return '';
        picture.removeAttribute('aria-busy');
        if (drawn.code !== 0) return explorer.problem(drawn).replace('/results.json', shown);
        which.textContent = own === null ? 'The results included in this page: characters of Shakespeare\'s plays.' : `The results of ${own.name}.`;
        explorer.show_svg(picture, drawn.files['/lengths.svg']);
        table.textContent = numbers.out;
        explorer.show_exports(exports, {name: 'extrapolation', picture, csv: async () => (await ask(['--format', 'csv'])).out,
          code: {command: explorer.command_text(line(shown, '-o', 'extrapolation.svg')),
            cpp: `const std::string path = ${JSON.stringify(shown)};\nconst auto table = sextant::parse_extrapolation(sextant::read_file(path), path);\n` +
              `std::ofstream("extrapolation.svg") << sextant::figures::extrapolation_chart(table, ${JSON.stringify(token())}).svg;`}});
        return '';
      }

      const load = explorer.drop_place({label: 'Your own results', accept: '.json,application/json',
        help: 'Drop the results.json that `sextant extrapolate` wrote, or choose it.',
        take: async ([[name, file]]) => {
          if (file.size > kMostBytes) return `It must be at most ${kMostBytes / 1e6} MB, got ${(file.size / 1e6).toFixed(0)} MB.`;
          const before = own;
          own = {name, text: await file.text()};
          const problem = await draw();
          if (problem !== '') own = before;
          return problem;
        }});

      place.replaceChildren(
        make('p', {}, 'Small language models, one per scheme, were trained on texts of one length and tested on longer ones. A scheme that depends on the positions of its training fails beyond them; one that adds a number per distance still works.'),
        make('p', {class: 'note'}, 'Lower is better. Longer segments have more context. In sliding windows every token has about the full context: a flat line means that nothing is lost, and a falling line means that the model uses more context.'),
        which, picture,
        explorer.field('A token is a', explorer.select(kTokens.map((name) => [name, name]), token(), (value) => {
          state.set({token: value === 'character' ? null : value});
          draw();
        })), table, exports, load);
      const problem = await draw();
      if (problem !== '') picture.replaceChildren(make('p', {class: 'verdict bad', role: 'alert'}, problem));
    },
  };
})();
