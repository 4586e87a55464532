// Shows the attention of a trained model: the map of a part, a layer and a head, with the buttons and code below it.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state, models} = explorer;
  const kParts = {cross: 'cross: from the output to the input', copy: 'copy: the source tokens that may be copied',
    encoder: 'encoder: within the input', decoder: 'decoder: within the output', self: 'self: within the text'};

  const parts_of = ({config}) => config.kind !== 'translator' ? ['self'] : ['cross', ...config.pointer ? ['copy'] : [], 'encoder', 'decoder'];

  // `shown()` returns the state of the view: {name, off, info, found, at, text, options}. The map of a language model
  // is for the text up to the chosen token.
  explorer.model_looks = (shown) => {
    const {field, select} = explorer;
    const controls = make('div', {class: 'parameters'}), picture = explorer.picture_place('Attention; arrow keys read its cells');
    const reading = make('p', {class: 'reading', role: 'status'}), exports = make('div', {class: 'exports'}), place = make('div');
    let asked = 0, numbers = null, ask_numbers = null;

    const set = (key, fallback) => (value) => {
      state.set({[key]: value === fallback ? null : value});
      draw();
    };
    const counted = (n) => Array.from({length: n}, (_, i) => [String(i), String(i)]);

    function choice(info) {
      const all = parts_of(info), {config} = info, part = all.includes(state.get('part')) ? state.get('part') : all[0];
      const depth = part === 'encoder' ? config.encoder_layers || config.layers : config.layers;
      const layer = String(Math.min(Number(state.get('layer', String(depth - 1))) || 0, depth - 1));
      const head = counted(config.heads).some(([one]) => one === state.get('head')) ? state.get('head') : '';
      controls.replaceChildren(
        field('Attention', select(all.map((one) => [one, kParts[one]]), part, set('part', all[0]))),
        ...part === 'copy' ? [] : [field('Layer', select(counted(depth), layer, set('layer', ''))), field('Head', select([['', 'all'], ...counted(config.heads)], head, set('head', '')))]);
      return ['--part', part, ...part === 'copy' ? [] : ['--layer', layer, ...head === '' ? [] : ['--head', head]]];
    }

    const maps = explorer.read_maps(picture, reading, async (cell) => {
      numbers ??= ask_numbers().then((answer) => answer.code === 0 ? JSON.parse(answer.out) : null);
      const table = await numbers;
      const value = table === null ? undefined : explorer.number_at(table.weights, cell);
      return value === undefined ? '' : `${table.heads > 1 ? `head ${cell.panel}, ` : ''}'${table.queries[cell.row]}' → '${table.keys[cell.column]}': ${value}`;
    });

    const draw = explorer.later(async () => {
      const mine = ++asked, {name, off, info, found, at, text, options} = shown();
      if (found === null) return;
      place.replaceChildren(make('h3', {}, 'Where it looks'), controls, picture, reading, exports);
      const rest = [...choice(info), ...off ? ['--without-positions'] : []];
      const texts = found.attend || found.attend_to(at);
      const args = (folder, ...more) => ['attend', '--model', folder, ...rest, ...more, '--', ...texts];
      numbers = null;
      ask_numbers = () => models.run(name, args(models.folder(name), '--json'));
      picture.setAttribute('aria-busy', 'true');
      const answer = await models.run(name, args(models.folder(name), ...explorer.width_args(picture), '-o', '/picture.svg'), {read: ['/picture.svg'], key: 'look'});
      if (mine !== asked || answer.stale) return;
      picture.removeAttribute('aria-busy');
      if (answer.code !== 0) {
        explorer.show_problem(answer, picture);
        return exports.replaceChildren();
      }
      explorer.show_svg(picture, answer.files['/picture.svg']);
      maps.again();
      const csv = async () => {
        if (found.lens_command) return (await models.run(name, ['logit-lens', '--model', models.folder(name), '--format', 'csv', ...found.lens_command.slice(3)])).out;
        return JSON.parse((await found.similarities()).out).similarities.map((row) => row.join(',') + '\n').join('');
      };
      explorer.show_exports(exports, {name: 'model', picture, csv,
        code: {command: [found.command, found.lens_command, args(models.shown(name), '-o', 'attention.svg')].filter((one) => one).map(explorer.command_text).join('\n'),
          ...explorer.model_code(name, info, text, options, off)}});
    }, 60);
    return {place, draw};
  };
})();
