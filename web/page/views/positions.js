// Positions: draws the tables of up to four schemes side by side.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kKinds = {heatmap: 'Heatmap', sinusoids: 'Columns', rows: 'Rows', similarity: 'Similarity', distance: 'By distance',
    difference: 'Difference of two schemes', 'offset-matrix': 'Offset matrix', 'at-work': 'Offset matrix at work'};
  const kOfAdded = ['sinusoids', 'rows', 'similarity'], kOfSinusoidal = ['offset-matrix', 'at-work'], kTogether = ['distance', 'difference'];
  const kDefaults = {length: 64, width: 64, first: 0, heads: 8, shift: 1, position: 10};
  const kSlots = [0, 1, 2, 3], kMostLength = 4096;

  const prefix_of = (slot) => slot === 0 ? 'p.' : `p${slot}.`, name_of = (slot) => slot === 0 ? 'scheme' : 'beside' + slot;

  explorer.views.positions = {
    title: 'Positions',
    async show(place) {
      const list = await explorer.schemes();
      const find = (name) => list.find((one) => one.name === name && one.kind !== 'none' && one.kind !== 'content');
      const pictures = kSlots.map((slot) => explorer.picture_place(`Picture ${slot + 1}; arrow keys read its cells`));
      const grid = make('div', {class: 'beside'}, ...pictures), reading = make('p', {class: 'reading', role: 'status'});
      const exports = make('div', {class: 'exports'}), about = make('p', {class: 'note'}), says = make('p', {class: 'meaning', role: 'status'});
      let asked = 0, numbers = [];

      const first = () => find(state.get('scheme', 'sinusoidal')) || find('sinusoidal');
      const scheme_at = (slot) => slot === 0 ? first() : find(state.get(name_of(slot)));
      const slots = () => kSlots.filter((slot) => scheme_at(slot) !== undefined);
      const kinds = () => Object.keys(kKinds).filter((kind) => kOfSinusoidal.includes(kind) ? first().name === 'sinusoidal' : !kOfAdded.includes(kind) || first().kind === 'added');
      const kind = () => kinds().includes(state.get('plot')) ? state.get('plot') : 'heatmap';
      const size = (name) => state.get(name, String(kDefaults[name]));

      const word_of = (slot) => [scheme_at(slot).name, ...explorer.given_parameters(scheme_at(slot), prefix_of(slot)).map(([one, value]) => `${one.name}=${value}`)].join(':');

      function sizes_of(does) {
        if (kOfSinusoidal.includes(kind())) return ['--shift', size('shift'), ...(kind() === 'at-work' ? ['--position', size('position')] : []), '--width', size('width')];
        const result = ['--length', size('length'), '--first', size('first')];
        if (kind() === 'sinusoids') result.push('--columns', explorer.some_columns(Number(size('width'))).join(','));
        if (kind() === 'rows') result.push('--rows', explorer.some_rows(Number(size('length'))).join(','));
        if (does.includes('added')) result.push('--width', size('width'));
        if (does.includes('rotated')) result.push('--head-dim', size('width'));
        if (does.some((one) => one.endsWith('_bias'))) result.push('--heads', size('heads'));
        return result;
      }
      // The command of a slot; kinds that draw all schemes together have one command.
      function args(slot) {
        const plot = ['plot', kind() === 'at-work' ? 'offset-matrix' : kind()];
        if (kTogether.includes(kind())) {
          const drawn = kind() === 'difference' ? slots().slice(0, 2) : slots();
          return [...plot, '--schemes', drawn.map(word_of).join(','), ...sizes_of(drawn.map((one) => scheme_at(one).kind))];
        }
        return [...plot, '--scheme', scheme_at(slot).name, ...explorer.parameter_args(scheme_at(slot), prefix_of(slot)), ...sizes_of([scheme_at(slot).kind])];
      }
      // Schemes after the first that have no such picture are omitted.
      const drawn_slots = () => kTogether.includes(kind()) ? [0] : slots().filter((slot) =>
        kOfSinusoidal.includes(kind()) ? scheme_at(slot).name === 'sinusoidal' : !kOfAdded.includes(kind()) || scheme_at(slot).kind === 'added');

      const draw = explorer.later(async () => {
        const mine = ++asked, drawn = drawn_slots();
        explorer.forget_problems();
        pictures.forEach((picture, slot) => picture.hidden = !drawn.includes(slot));
        grid.dataset.count = drawn.length;
        numbers = [];
        reading.textContent = says.textContent = '';
        if (kind() === 'difference' && slots().length < 2) {
          pictures[0].replaceChildren(make('p', {class: 'verdict bad', role: 'alert'}, 'Choose a second scheme next to the first.'));
          return exports.replaceChildren();
        }
        await Promise.all(drawn.map(async (slot) => {
          const picture = pictures[slot];
          picture.setAttribute('aria-busy', 'true');
          const answer = await explorer.engine.run([...args(slot), ...explorer.width_args(picture), '-o', `/picture${slot}.svg`], {read: [`/picture${slot}.svg`], key: 'positions ' + slot});
          if (mine !== asked) return;  // a newer call has replaced this one
          picture.removeAttribute('aria-busy');
          if (answer.code !== 0) explorer.show_problem(answer, picture);
          else explorer.show_svg(picture, answer.files[`/picture${slot}.svg`]);
        }));
        if (mine !== asked) return;
        show_exports(drawn);
        if (kind() === 'difference') explorer.tell_difference({args: args(0), first: Number(size('first')), says, is_new: () => mine === asked, most: kMostLength});
      });

      pictures.forEach((picture, slot) => explorer.read_maps(picture, reading, async (cell) => {
        numbers[slot] ??= explorer.engine.run([...args(slot), '--json']).then((answer) => answer.code === 0 ? JSON.parse(answer.out).values : []);
        const value = explorer.number_at(await numbers[slot], cell);
        if (value === undefined) return '';
        const row = cell.row + (['heatmap', 'difference'].includes(kind()) && !scheme_at(slot).kind.endsWith('_bias') ? Number(size('first')) : 0);
        return `row ${row}, column ${cell.column}: ${value === null ? 'hidden' : value}`;
      }));

      function show_exports(drawn) {
        explorer.show_exports(exports, {name: first().name, picture: grid, csv: async () => (await Promise.all(drawn.map(async (slot) => (await explorer.engine.run([...args(slot), '--format', 'csv'])).out))).join('\n'),
          code: {command: drawn.map((slot) => explorer.command_text([...args(slot), '-o', slot === 0 ? 'positions.svg' : `positions-${slot + 1}.svg`])).join('\n'), calls: drawn.map(args)}});
      }

      const options = make('div', {class: 'parameters'}), schemes = make('div', {class: 'slots'});
      function draw_options() {
        const {field, select} = explorer, does = slots().map((slot) => scheme_at(slot).kind), matrix = kOfSinusoidal.includes(kind());
        const sized = (name, label, range, help = '', slider = 0) => explorer.size_field({name, label, value: size(name), range, help, slider}, (value) => {
          state.set({[name]: value === '' || value === String(kDefaults[name]) ? null : value});
          draw();
        });
        options.replaceChildren(...[
          field('Picture', select(kinds().map((name) => [name, kKinds[name]]), kind(), (value) => {
            state.set({plot: value === 'heatmap' ? null : value});
            draw_options();
            draw();
          })),
          matrix ? sized('shift', 'Shift', {min: -1000000, max: 1000000}, 'M PE(p) = PE(p + shift), for every p') : sized('length', 'Length', {min: 1, max: kMostLength}, 'positions', 512),
          kind() === 'at-work' ? sized('position', 'Position p', {min: 0, max: 9007199254740992}, 'try 1000000') : null,
          matrix ? null : sized('first', 'First position', {min: -9007199254740992, max: 9007199254740992}, 'try 1000000'),
          matrix || does.includes('added') || does.includes('rotated') ? sized('width', does.includes('added') ? 'Width' : 'Head dim', {min: 2, max: 1024, step: 2}) : null,
          does.some((one) => one.endsWith('_bias')) ? sized('heads', 'Heads', {min: 1, max: 32}) : null,
        ].filter((one) => one !== null));
        about.textContent = `${first().idea} ${first().paper}.`;
      }
      const draw_schemes = () => schemes.replaceChildren(...kSlots.filter((slot) => slot <= slots().length).map((slot) =>
        explorer.scheme_slot({list, slot, scheme: scheme_at(slot), name: name_of(slot), prefix: prefix_of(slot)}, draw, () => {
          draw_schemes();
          draw_options();
          draw();
        })));

      place.replaceChildren(explorer.position_examples(), schemes, about, options, says, grid, reading, exports);
      draw_schemes();
      draw_options();
      draw();
    },
  };
})();
