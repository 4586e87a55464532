// Positions: the table of any scheme, as pictures.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const kKinds = {heatmap: 'Heatmap', sinusoids: 'Columns', rows: 'Rows', similarity: 'Similarity', distance: 'By distance',
    'offset-matrix': 'Offset matrix'};
  const kRows = ['sinusoids', 'rows', 'similarity'];  // of tables that are added
  const kDefaults = {length: 64, width: 64, first: 0, heads: 8};

  const kinds_for = (scheme) => Object.keys(kKinds).filter((kind) =>
    kind === 'offset-matrix' ? scheme.name === 'sinusoidal' : !kRows.includes(kind) || scheme.kind === 'added');

  // What hovering reads: the cell below the pointer of a map, from the numbers of the same command.
  function cell_at(event) {
    const map = event.target.closest('[data-rows]');
    if (!map) return null;
    const data = map.dataset, svg = map.ownerSVGElement;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const column = Math.floor((point.x - data.x) / data.width * data.columns), row = Math.floor((point.y - data.y) / data.height * data.rows);
    const inside = row >= 0 && column >= 0 && row < data.rows && column < data.columns;
    return inside ? {panel: Number(data.panel || 0), rows: Number(data.rows), columns: Number(data.columns), row, column} : null;
  }

  explorer.views.positions = {
    title: 'Positions',
    async show(place) {
      const list = await explorer.schemes();
      const picture = explorer.picture_place(), reading = make('p', {class: 'reading', role: 'status'});
      const exports = make('div', {class: 'exports'}), about = make('p', {class: 'note'});
      const options = make('div', {class: 'parameters'}), parameters = make('div', {class: 'parameters'});
      const more = make('details', {open: state.names().some((name) => name.startsWith('p.'))}, make('summary', {}, 'Parameters of the scheme'), parameters);
      let asked = 0, numbers = null;

      const scheme = () => list.find((one) => one.name === state.get('scheme', 'sinusoidal')) || list.find((one) => one.name === 'sinusoidal');
      const kind = () => kinds_for(scheme()).includes(state.get('plot', 'heatmap')) ? state.get('plot', 'heatmap') : 'heatmap';
      const size = (name) => state.get(name, String(kDefaults[name]));

      function args() {
        const {kind: does} = scheme(), result = ['plot', kind()];
        const beside = ['beside1', 'beside2', 'beside3'].map((name) => state.get(name)).filter((name) => name !== '');
        if (kind() === 'distance' && beside.length > 0) result.push('--schemes', [scheme().name, ...beside].join(','));
        else result.push('--scheme', scheme().name, ...explorer.parameter_args(scheme()));
        if (kind() !== 'offset-matrix') result.push('--length', size('length'), '--first', size('first'));
        else result.push('--shift', state.get('shift', '1'));
        if (does === 'added' || kind() === 'offset-matrix') result.push('--width', size('width'));
        if (does === 'rotated') result.push('--head-dim', size('width'));
        if (does.endsWith('_bias')) result.push('--heads', size('heads'));
        return result;
      }

      function code() {
        const {name, kind: does} = scheme(), given = scheme().parameters.filter((one) => state.has('p.' + one.name));
        const value = (one) => {
          const text = state.get('p.' + one.name);
          return one.values.type === 'integer' || one.values.type === 'number' ? text : one.values.type === 'flag' ? (text === 'yes' ? 'True' : 'False') : `"${text}"`;
        };
        const sizes = {added: `${size('length')}, ${size('width')}`, rotated: `${size('length')}, ${size('width')}`}[does] || `${size('length')}, heads=${size('heads')}`;
        const member = {added: 'width', rotated: 'head_dim'}[does] || 'heads';
        return {
          command: explorer.command_text([...args(), '-o', 'positions.svg']),
          python: `import sextant\ntable = sextant.${name}(${[sizes, ...given.map((one) => `${one.name}=${value(one)}`)].join(', ')})`,
          cpp: `std::vector<std::int64_t> ids(${size('length')});\nstd::iota(ids.begin(), ids.end(), ${size('first')});\nsextant::SchemeRequest request;\n` +
            `request.positions = ids;\nrequest.${member} = ${size(member === 'heads' ? 'heads' : 'width')};\n` +
            given.map((one) => `request.parameters["${one.name}"] = "${state.get('p.' + one.name)}";\n`).join('') +
            `const sextant::SchemeTable table = sextant::find_scheme("${name}").make(request);`,
        };
      }

      const draw = explorer.later(async () => {
        const mine = ++asked, line = args();
        picture.setAttribute('aria-busy', 'true');
        const answer = await explorer.engine.run([...line, '-o', '/picture.svg'], {read: ['/picture.svg']});
        if (mine !== asked) return;  // something newer was asked for
        picture.removeAttribute('aria-busy');
        numbers = null;
        reading.textContent = '';
        if (answer.code !== 0) {
          picture.replaceChildren(make('p', {class: 'verdict bad', role: 'alert'}, explorer.problem(answer)));
          return exports.replaceChildren();
        }
        explorer.show_svg(picture, answer.files['/picture.svg']);
        explorer.show_exports(exports, {name: scheme().name, picture, code: code(),
          csv: async () => (await explorer.engine.run([...line, '--format', 'csv'])).out});
      });

      picture.addEventListener('pointermove', explorer.later(async (event) => {
        const cell = cell_at(event);
        if (cell === null) return reading.textContent = '';
        const mine = asked;
        if (numbers === null) numbers = explorer.engine.run([...args(), '--json']).then((answer) => JSON.parse(answer.out));
        const {values} = await numbers;
        if (mine !== asked) return;
        const flat = values.flat(Infinity), at = (cell.panel * cell.rows + cell.row) * cell.columns + cell.column;
        if (flat.length % (cell.rows * cell.columns) !== 0) return;  // a picture of means has no cell of its own
        const value = flat[at];
        reading.textContent = `row ${cell.row + Number(kind() === 'offset-matrix' ? 0 : size('first'))}, column ${cell.column}: ${value === null ? 'hidden' : value}`;
      }, 30));

      function draw_options() {
        const {kind: does} = scheme(), {field, number, select} = explorer;
        const sized = (name, label, range, help = '') => field(label, number(size(name), range, (value) => {
          state.set({[name]: value === '' || value === String(kDefaults[name]) ? null : value});
          draw();
        }), help);
        const others = [['', 'none'], ...list.filter((one) => one.kind !== 'none' && one.kind !== 'content').map((one) => [one.name, one.title])];
        options.replaceChildren(...[
          field('Picture', select(kinds_for(scheme()).map((name) => [name, kKinds[name]]), kind(), (value) => {
            state.set({plot: value === 'heatmap' ? null : value});
            draw_options();
            draw();
          })),
          kind() === 'offset-matrix' ? field('Shift', number(state.get('shift', '1'), {min: -1000000, max: 1000000}, (value) => {
            state.set({shift: value === '1' ? null : value});
            draw();
          }), 'M PE(p) = PE(p + shift), for every p') : sized('length', 'Length', {min: 1, max: 2048}, 'positions'),
          kind() === 'offset-matrix' ? null : sized('first', 'First position', {min: -9007199254740992, max: 9007199254740992}, 'try 1000000'),
          does === 'added' || does === 'rotated' ? sized('width', does === 'added' ? 'Width' : 'Head dim', {min: 2, max: 1024, step: 2}) : null,
          does.endsWith('_bias') ? sized('heads', 'Heads', {min: 1, max: 32}) : null,
          ...(kind() !== 'distance' ? [] : [1, 2, 3].map((n) => field('Beside it', select(others, state.get('beside' + n), (value) => {
            state.set({['beside' + n]: value === '' ? null : value});
            draw();
          })))),
        ].filter((one) => one !== null));
        const fields = kind() === 'distance' && state.get('beside1') !== '' ? [] : explorer.parameter_fields(scheme(), draw);
        parameters.replaceChildren(...fields);
        more.hidden = fields.length === 0;
        about.textContent = `${scheme().idea} ${scheme().paper}.`;
      }

      place.replaceChildren(
        explorer.field('Scheme', explorer.scheme_select(list, ['added', 'rotated', 'distance_bias', 'indexed_bias'], scheme().name, (value) => {
          state.set({scheme: value === 'sinusoidal' ? null : value});
          explorer.forget_parameters();
          draw_options();
          draw();
        })), about, options, more, picture, reading, exports);
      draw_options();
      draw();
    },
  };
})();
